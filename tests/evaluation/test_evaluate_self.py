"""`quintet eval --self` from end to end, over a project of five files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluation.larder import write_project
from quintet.cli.main import run
from quintet.evaluation.tuning.tuned_numbers import TunedNumbers, TunedStep

Eval = Callable[..., tuple[int, str, str]]


@pytest.fixture
def evaluated(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Eval:
    """Runs `quintet eval` in the project: exit code, output, messages."""
    project = write_project(tmp_path / "larder")
    monkeypatch.chdir(project)
    assert run(["index", ".", "--embedder", "hashing"]) == 0

    def call(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(["eval", *arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def told(answer: tuple[int, str, str]) -> dict[str, Any]:
    code, out, err = answer
    assert code == 0, err
    shown: dict[str, Any] = json.loads(out)
    for one in shown["runs"]:
        one["seconds"] = None
    return shown


def test_json_is_that_of_a_collection_with_the_kinds_as_groups(evaluated: Eval) -> None:
    shown = told(evaluated("--self", "--json"))
    assert list(shown) == ["dataset", "runs"] and shown["dataset"] == "larder"
    (found,) = shown["runs"]
    assert list(found) == ["contract", "mode", "metrics", "intervals", "seconds", "groups"]
    assert (found["contract"], found["mode"]) == ("quintet", "hybrid")
    assert {name: (one["queries"], one["possible"]) for name, one in found["groups"].items()} == {
        "docstring": (4, 4),
        "heading": (4, 5),
    }
    for name, mean in found["metrics"].items():
        parts = [one["metrics"][name] for one in found["groups"].values()]
        assert mean == pytest.approx(sum(parts) / 2)
        for one in (found, *found["groups"].values()):
            low, high = one["intervals"][name]
            assert low <= one["metrics"][name] <= high


def test_the_table_shows_each_kind_below_its_run_and_says_what_it_means(evaluated: Eval) -> None:
    code, out, err = evaluated("--self", "--metrics", "mrr@10")
    assert code == 0
    first, _, *rows = out.splitlines()
    assert first == "larder: 8 queries of 9 that could be made (docstring 4, heading 5)"
    assert [row.split("  0.")[0].rstrip() for row in rows] == [
        "quintet hybrid",
        "  docstring (4)",
        "  heading (4)",
    ]
    assert "they do not say how well it answers people's questions [own_questions]" in err
    assert "there is no memory beside this index [no_memory_questions]" in err


def test_the_answer_in_other_words_is_found_and_its_own_words_are_no_help(evaluated: Eval) -> None:
    """Words alone find `seal`, whose body names the jar, but not the section that says nothing of keeping."""
    shown = told(evaluated("--self", "--mode", "lexical", "--per-query", "--json"))
    (found,) = shown["runs"]
    values = [one["mrr@10"] for one in found["queries"].values()]
    assert 0.0 in values and max(values) > 0


def test_all_contracts_modes_and_grids_can_be_compared(evaluated: Eval) -> None:
    everything = told(evaluated("--self", "--contract", "all", "--mode", "all", "--json"))
    assert len(everything["runs"]) == 16
    shown = told(evaluated("--self", "--param", "limit=1,10", "--compare", "--json"))
    (comparison,) = shown["comparisons"]
    assert list(comparison["groups"]) == ["docstring", "heading"]
    gain = comparison["groups"]["heading"]["metrics"]["mrr@10"]
    one, ten = (run["groups"]["heading"]["metrics"]["mrr@10"] for run in shown["runs"])
    assert gain["difference"] == pytest.approx(ten - one) and 0 < gain["p"] <= 1


def test_a_run_that_was_written_is_worth_the_same_when_it_is_read(evaluated: Eval) -> None:
    written = told(evaluated("--self", "--run-out", "own.run", "--json"))
    read = told(evaluated("--self", "--run-in", "own.run", "--json"))
    assert read["runs"][0]["metrics"] == written["runs"][0]["metrics"]
    assert read["runs"][0]["groups"] == written["runs"][0]["groups"]
    both = told(evaluated("--self", "--contract", "cfs", "--run-in", "own.run", "--compare", "--json"))
    assert both["runs"][0]["contract"] == "cfs" and len(both["comparisons"]) == 1


def test_the_page_shows_kinds_and_what_they_mean(evaluated: Eval) -> None:
    code, _, _ = evaluated("--self", "--mode", "all", "--compare", "--html", "report.html")
    page = Path("report.html").read_text("utf-8")
    assert code == 0
    assert "docstring (4 of 4)" in page and "heading (4 of 5)" in page
    assert "the questions were made from what is indexed" in page


def test_fewer_questions_can_be_asked_and_the_same_ones_each_time(evaluated: Eval) -> None:
    first, second = (told(evaluated("--self", "--queries", "3", "--per-query", "--json")) for _ in range(2))
    assert first == second and len(first["runs"][0]["queries"]) == 3


def test_every_question_can_be_read_with_what_it_should_find(evaluated: Eval) -> None:
    shown = told(evaluated("--self", "--per-query", "--json"))
    assert {"text": "Making jam", "targets": ["docs/jam.md:1-3#0"]} in shown["questions"].values()
    assert shown["questions"].keys() == shown["runs"][0]["queries"].keys()
    code, out, _ = evaluated("--self", "--per-query", "--metrics", "mrr")
    assert code == 0 and any(line.endswith("  Making jam") for line in out.splitlines())


def test_another_embedder_or_none_can_be_measured_on_the_same_index(evaluated: Eval) -> None:
    (words,) = told(evaluated("--self", "--embedder", "none", "--json"))["runs"]
    assert words["mode"] == "lexical"
    assert run(["index", "--db", "text", "--embedder", "none", "docs", "src"]) == 0
    (by_hash,) = told(evaluated("--self", "--db", "text", "--embedder", "hashing", "--json"))["runs"]
    assert by_hash["mode"] == "hybrid"


def test_a_ranking_of_documents_says_that_one_passage_of_each_counts(evaluated: Eval) -> None:
    _, _, err = evaluated("--self", "--contract", "harness", "--json")
    assert "[documents_only]" in err
    _, _, err = evaluated("--self", "--contract", "harness", "--param", "group_by=chunk", "--json")
    assert "[documents_only]" not in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name the folder of a collection, or use --self to make questions from the index"),
        (("drinks", "--self"), "--self makes questions from the index, and 'drinks' is a collection"),
        (("--self", "--split", "dev"), "--split chooses the judgements of a collection"),
        (("drinks", "--queries", "5"), "--queries limits the questions that --self makes"),
        (("--self", "--queries", "0"), "--queries is 0; it must be a whole number from 1 to 10000"),
        (("--self", "--param", "nonsense=1"), "nonsense"),
    ],
)
def test_what_makes_no_sense_is_refused(evaluated: Eval, arguments: tuple[str, ...], message: str) -> None:
    code, out, err = evaluated(*arguments)
    assert (code, out) == (2, "") and message in err


def test_without_an_index_there_is_nothing_to_ask(
    evaluated: Eval, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = evaluated("--self")
    assert (code, out) == (3, "") and "there is no index" in err


def test_tuned_numbers_are_used_and_told_where_they_are_for_the_vectors(evaluated: Eval) -> None:
    TunedNumbers(Path(".quintet")).add(
        TunedStep({"feedback": 0.0}, "asked", 60, "hash-384", 0.1, (0.05, 0.15)), ()
    )
    _, _, err = evaluated("--self")
    assert "with numbers tuned by 60 queries of asked: feedback 0 [tuned]" in err
    Path(".quintet/tuned.json").write_text("{}", "utf-8")
    assert evaluated("--self", "--contract", "cfs")[0] == 0
    assert evaluated("--self")[0] == 4
