"""What takes a place in a ranking: files or chunks, with or without the query's own document."""

import json
from collections.abc import Callable
from dataclasses import replace
from math import log2
from pathlib import Path
from typing import Any

import pytest

import quintet
from evaluation.drinks import write_collection
from evaluation.larder import write_project
from quintet.cli.main import run
from quintet.evaluation.counting import Counting
from quintet.evaluation.evaluate import evaluate
from quintet.evaluation.request import Request
from quintet.index import BACKENDS
from quintet.indexing.run import no_progress

Eval = Callable[..., tuple[int, str, str]]
FIRST, SECOND = (1 / log2(place + 1) for place in (1, 2))

ARGUMENTS = (
    {"_id": "pro", "text": "Tea wakes the mind, tea wakes the body, tea wakes all."},
    {"_id": "con", "text": "Tea wakes nobody who sleeps well."},
    {"_id": "aside", "text": "Tea is a plant."},
)
COUNTERS = (
    {"_id": "pro", "text": "tea wakes the mind, tea wakes the body, tea wakes all"},
    {"_id": "asked", "text": "plant"},
)
COUNTERED = ("pro\tcon\t1", "asked\taside\t1")

CORK = "The cork is drawn.\n\n"
FILES = {
    "long.md": f"# Cork\n\n{CORK * 3}\n# Again\n\n{CORK * 3}\n# Once more\n\n{CORK * 3}",
    "short.md": "# Bottle\n\nA cork, once drawn, does not go back into the bottle it was drawn from.\n",
}


@pytest.fixture
def evaluated(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Eval:
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(["eval", *arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def shown(answer: tuple[int, str, str]) -> dict[str, Any]:
    code, out, err = answer
    assert code == 0, err
    report: dict[str, Any] = json.loads(out)
    return report


def by_query(report: dict[str, Any], metric: str) -> dict[str, float]:
    return {query: values[metric] for query, values in report["runs"][0]["queries"].items()}


@pytest.fixture
def arguments(tmp_path: Path) -> Path:
    """Queries of which one is a document of the corpus."""
    return write_collection(tmp_path / "arguments", ARGUMENTS, COUNTERS, COUNTERED)


ASK_ARGUMENTS = ("arguments", "--embedder", "none", "--contract", "cfs", "--metrics", "ndcg@10", "--json")


@pytest.mark.usefixtures("arguments")
def test_the_document_that_is_the_query_takes_no_place_if_it_is_dropped(evaluated: Eval) -> None:
    kept = shown(evaluated(*ASK_ARGUMENTS, "--per-query"))
    dropped = shown(evaluated(*ASK_ARGUMENTS, "--per-query", "--drop-own"))
    assert by_query(kept, "ndcg@10") == {"pro": SECOND, "asked": FIRST}
    assert by_query(dropped, "ndcg@10") == {"pro": FIRST, "asked": FIRST}
    assert "drop_own" not in kept and dropped["drop_own"] is True


@pytest.mark.parametrize("unit", [None, "file", "chunk"])
def test_the_place_of_the_dropped_document_is_filled(arguments: Path, unit: Any) -> None:
    request = Request(arguments, contracts=("cfs",), embedder="none", depth=1)
    found = {
        drop_own: evaluate(replace(request, counting=Counting(unit, drop_own)), BACKENDS, no_progress)[1][
            0
        ].rankings()["pro"]
        for drop_own in (False, True)
    }
    assert found == {False: ["pro"], True: ["con"]}


@pytest.mark.usefixtures("arguments")
def test_a_run_of_another_tool_loses_the_query_itself_too(evaluated: Eval) -> None:
    Path("other.run").write_text("pro Q0 pro 1 2.0 other\npro Q0 con 2 1.0 other\n")
    ask = ("arguments", "--run-in", "other.run", "--metrics", "mrr", "--json", "--per-query")
    assert by_query(shown(evaluated(*ask)), "mrr") == {"asked": 0.0, "pro": 1 / 2}
    assert by_query(shown(evaluated(*ask, "--drop-own")), "mrr") == {"asked": 0.0, "pro": 1.0}


@pytest.mark.usefixtures("arguments")
def test_table_and_page_say_what_counted(evaluated: Eval) -> None:
    plain, counted = ASK_ARGUMENTS[:-1], ("--unit", "file", "--drop-own", "--html", "report.html")
    said = "2 queries, ranked by file, without the document that has the id of the query"
    assert evaluated(*plain)[1].splitlines()[0] == "arguments: 2 queries"
    assert evaluated(*plain, *counted)[1].splitlines()[0] == f"arguments: {said}"
    assert f"<p>{said}. Below" in Path("report.html").read_text("utf-8")


@pytest.fixture
def cellar(tmp_path: Path) -> Path:
    """An index of a file with three chunks that match best, and one with a single chunk."""
    for name, text in FILES.items():
        (tmp_path / "cellar" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "cellar" / name).write_text(text, "utf-8")
    with quintet.open(tmp_path / "cellar" / ".quintet", embedder=None) as index:
        index.sync([tmp_path / "cellar"])
        assert [len(index.get(name)) for name in FILES] == [3, 1]
    return tmp_path / "cellar"


def ask_cellar(cellar: Path, *qrels: str, query: str = "q") -> tuple[str, ...]:
    queries = [{"_id": query, "text": "cork drawn"}]
    write_collection(cellar.parent / "asked", None, queries, [f"{query}\t{line}" for line in qrels])
    about = ("asked", "--db", "cellar/.quintet", "--contract", "cfs")
    return (*about, "--metrics", "ndcg@10", "--per-query", "--json")


def test_further_chunks_of_a_file_take_places_only_where_chunks_are_counted(
    evaluated: Eval, cellar: Path
) -> None:
    ask = ask_cellar(cellar, "short.md\t1")
    by_file, by_chunk = (shown(evaluated(*ask, "--unit", unit)) for unit in ("file", "chunk"))
    assert by_query(by_file, "ndcg@10") == {"q": SECOND}
    assert by_query(by_chunk, "ndcg@10") == {"q": 1 / log2(4 + 1)}
    assert (by_file["unit"], by_chunk["unit"]) == ("file", "chunk")
    judged = shown(evaluated(*ask))
    assert by_query(judged, "ndcg@10") == {"q": SECOND} and "unit" not in judged


def test_a_file_counts_once_though_every_chunk_takes_a_place(evaluated: Eval, cellar: Path) -> None:
    ask = ask_cellar(cellar, "long.md\t1", "short.md\t1")
    report = shown(evaluated(*ask, "--unit", "chunk"))
    assert by_query(report, "ndcg@10") == {"q": (FIRST + 1 / log2(4 + 1)) / (FIRST + SECOND)}


def test_judged_chunks_make_their_files_relevant_by_their_highest_grade(
    evaluated: Eval, cellar: Path
) -> None:
    with quintet.open(cellar / ".quintet", create=False) as index:
        one, other, _ = (passage.chunk.id for passage in index.get("long.md"))
        bottle = index.get("short.md")[0].chunk.id
    ask = ask_cellar(cellar, f"{one}\t1", f"{other}\t3", f"{bottle}\t1")
    report = shown(evaluated(*ask, "--unit", "file"))
    assert by_query(report, "ndcg@10") == {"q": 1.0}  # long.md has grade 3, short.md grade 1
    assert by_query(shown(evaluated(*ask)), "ndcg@10") == by_query(
        shown(evaluated(*ask, "--unit", "chunk")), "ndcg@10"
    )


def test_chunks_and_files_may_be_judged_together_where_files_are_counted(
    evaluated: Eval, cellar: Path
) -> None:
    with quintet.open(cellar / ".quintet", create=False) as index:
        chunk = index.get("long.md")[0].chunk.id
    ask = ask_cellar(cellar, f"{chunk}\t1", "short.md\t1")
    assert "or rank by file" in evaluated(*ask[:-1])[2]
    assert by_query(shown(evaluated(*ask, "--unit", "file")), "ndcg@10") == {"q": 1.0}


@pytest.mark.parametrize("unit", ["file", "chunk"])
def test_a_query_about_an_index_may_be_one_of_its_files(evaluated: Eval, cellar: Path, unit: str) -> None:
    ask = ask_cellar(cellar, "short.md\t1", query="long.md")
    report = shown(evaluated(*ask, "--unit", unit, "--drop-own"))
    assert by_query(report, "ndcg@10") == {"long.md": FIRST}


def test_no_chunk_of_the_dropped_file_takes_a_place_where_chunks_are_judged(
    evaluated: Eval, cellar: Path
) -> None:
    with quintet.open(cellar / ".quintet", create=False) as index:
        bottle = index.get("short.md")[0].chunk.id
    report = shown(evaluated(*ask_cellar(cellar, f"{bottle}\t1", query="long.md"), "--drop-own"))
    assert by_query(report, "ndcg@10") == {"long.md": FIRST}


def test_a_ranking_of_documents_is_noted_where_chunks_are_judged(evaluated: Eval, cellar: Path) -> None:
    with quintet.open(cellar / ".quintet", create=False) as index:
        chunk = index.get("long.md")[0].chunk.id
    ask = (*ask_cellar(cellar, f"{chunk}\t1"), "--contract", "harness")
    assert "[documents_only]" in evaluated(*ask)[2]
    assert "[documents_only]" not in evaluated(*ask, "--unit", "file")[2]


def test_questions_of_an_index_can_ask_for_files(
    evaluated: Eval, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(write_project(tmp_path / "larder"))
    assert run(["index", ".", "--embedder", "hashing"]) == 0
    ask = ("--self", "--metrics", "mrr", "--per-query", "--json")
    chunks, files = shown(evaluated(*ask)), shown(evaluated(*ask, "--unit", "file"))
    assert files["unit"] == "file"
    targets = {question["text"]: question["targets"] for question in files["questions"].values()}
    assert targets["Making jam"] == ["docs/jam.md"]
    assert chunks["questions"].keys() == files["questions"].keys()
    assert files["runs"][0]["metrics"]["mrr"] > chunks["runs"][0]["metrics"]["mrr"]


@pytest.mark.usefixtures("arguments")
@pytest.mark.parametrize(
    ("asked", "complaint"),
    [
        (("arguments", "--unit", "page"), "unit is 'page'; it must be one of: file, chunk"),
        (("--self", "--drop-own"), "no document has that of a question of --self"),
        (("arguments", "--run-in", "x.run", "--unit", "file"), "--run-in alone searches nothing"),
    ],
)
def test_what_cannot_be_counted_is_said(evaluated: Eval, asked: tuple[str, ...], complaint: str) -> None:
    code, out, err = evaluated(*asked)
    assert (code, out) == (2, "")
    assert complaint in err
