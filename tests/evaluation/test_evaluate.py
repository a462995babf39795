"""`quintet eval` from end to end, on collections small enough to be checked by hand."""

import json
from collections.abc import Callable
from math import log2
from pathlib import Path
from typing import Any

import pytest

import quintet
from evaluation.drinks import QUERIES, write_collection
from quintet.cli.main import run

Eval = Callable[..., tuple[int, str, str]]
TEXT = ("--embedder", "none")


@pytest.fixture
def evaluated(collection: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Eval:
    """Runs `quintet eval drinks` in the folder that holds the collection: exit code, output, messages."""
    monkeypatch.chdir(collection.parent)

    def call(*arguments: str, folder: str = "drinks") -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(["eval", folder, *arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return call


def told(answer: tuple[int, str, str]) -> dict[str, Any]:
    code, out, err = answer
    assert code == 0, err
    shown: dict[str, Any] = json.loads(out)
    return shown


def test_the_figures_are_those_counted_by_hand(evaluated: Eval) -> None:
    """Words find one document for each query; q1 has a second one that they do not find."""
    shown = told(evaluated(*TEXT, "--json"))
    (found,) = shown["runs"]
    assert shown["dataset"] == "drinks"
    assert found["metrics"] == pytest.approx(
        {
            "ndcg@10": (3 + 2 / (2 + 1 / log2(3))) / 4,
            "p@10": 1 / 10,
            "r@10": (3 + 1 / 2) / 4,
            "r@100": (3 + 1 / 2) / 4,
            "mrr@10": 1.0,
            "map@100": (3 + 1 / 2) / 4,
        }
    )


def test_json_has_just_the_shape_that_is_promised(evaluated: Eval) -> None:
    shown = told(evaluated(*TEXT, "--json", "--contract", "all"))
    assert list(shown) == ["dataset", "runs"]
    assert [(one["contract"], one["mode"]) for one in shown["runs"]] == [
        ("quintet", "lexical"),
        ("rifflux", "lexical"),
        ("harness", "keyword"),
        ("mcb", None),
        ("knowledge", "keyword"),
        ("cfs", "lexical"),
    ]
    for one in shown["runs"]:
        assert list(one) == ["contract", "mode", "metrics", "intervals", "seconds"]
        assert one["intervals"].keys() == one["metrics"].keys()
        for name, (low, high) in one["intervals"].items():
            assert low <= one["metrics"][name] <= high
        assert one["seconds"] >= 0


def untimed(shown: dict[str, Any]) -> dict[str, Any]:
    for one in shown["runs"]:
        del one["seconds"]
    return shown


def test_the_same_evaluation_gives_the_same_digits(evaluated: Eval) -> None:
    arguments = ("--embedder", "hashing", "--json", "--contract", "all", "--compare", "--per-query")
    assert untimed(told(evaluated(*arguments))) == untimed(told(evaluated(*arguments)))


def test_a_kept_corpus_is_not_embedded_again_and_remembers_its_embedder(
    evaluated: Eval, monkeypatch: pytest.MonkeyPatch
) -> None:
    from quintet.embed.hashing import HashingEmbedder

    arguments = ("--embedder", "hashing", "--db", "kept", "--json", "--contract", "all")
    first = untimed(told(evaluated(*arguments)))
    monkeypatch.setattr(HashingEmbedder, "embed_documents", None)
    assert untimed(told(evaluated(*arguments))) == first
    assert untimed(told(evaluated("--db", "kept", "--json", "--contract", "all"))) == first


def test_a_corpus_that_changed_is_brought_up_to_date(evaluated: Eval, collection: Path) -> None:
    arguments = (*TEXT, "--db", "kept", "--json", "--metrics", "r@10", "--per-query")
    evaluated(*arguments)
    records = [{"_id": "tea", "text": "a cup"}, {"_id": "cocoa.pdf", "text": "cocoa"}]
    (collection / "corpus.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
    queries = told(evaluated(*arguments))["runs"][0]["queries"]
    assert queries == {"q1": {"r@10": 0.0}, "q2": {"r@10": 0.0}, "q3": {"r@10": 1.0}, "q4": {"r@10": 0.0}}


def test_a_folder_keeps_one_corpus_and_one_embedder(evaluated: Eval, tmp_path: Path) -> None:
    write_collection(tmp_path / "others")
    assert evaluated("--embedder", "hashing", "--db", "kept")[0] == 0
    code, _, err = evaluated(*TEXT, "--db", "kept", folder="others")
    assert code == 4
    assert "kept holds the corpus 'drinks'; give 'others' another --db" in err
    assert evaluated(*TEXT, "--db", "kept")[0] == 0
    code, _, err = evaluated("--embedder", "granite", "--db", "kept")
    assert code == 4
    assert "use a separate --db for each embedder" in err


def test_a_run_that_is_written_is_measured_the_same_when_read(evaluated: Eval, collection: Path) -> None:
    lines = (collection / "corpus.jsonl").read_text().replace("a/b <i>", "a/b")
    (collection / "corpus.jsonl").write_text(lines)
    qrels = collection / "qrels" / "test.tsv"
    qrels.write_text(qrels.read_text().replace("a/b <i>", "a/b"))
    (ours,) = told(evaluated(*TEXT, "--json", "--run-out", "run.txt"))["runs"]
    (theirs,) = told(evaluated("--run-in", "run.txt", "--json"))["runs"]
    assert (theirs["contract"], theirs["mode"], theirs["seconds"]) == ("quintet-lexical", None, None)
    assert (theirs["metrics"], theirs["intervals"]) == (ours["metrics"], ours["intervals"])
    both = told(evaluated(*TEXT, "--contract", "quintet", "--run-in", "run.txt", "--json", "--compare"))
    (comparison,) = both["comparisons"]
    assert (comparison["run"], comparison["with"]) == (1, 0)
    assert comparison["metrics"]["ndcg@10"] == {"difference": 0.0, "interval": [0.0, 0.0], "p": 1.0}


def test_a_query_that_a_run_does_not_answer_counts_with_nothing(evaluated: Eval, tmp_path: Path) -> None:
    (tmp_path / "half.txt").write_text(
        "q3 Q0 cocoa.pdf 1 1.0 half\nq4 Q0 long 1 1.0 half\nq9 Q0 tea 1 1.0 half\n"
    )
    (half,) = told(evaluated("--run-in", "half.txt", "--json", "--metrics", "mrr"))["runs"]
    assert half["metrics"] == {"mrr": 2 / 4}


def test_a_grid_makes_a_run_of_each_value_and_says_which(evaluated: Eval) -> None:
    shown = told(evaluated("--embedder", "hashing", "--contract", "cfs", "--param", "rrf_k=10,60", "--json"))
    assert [one["params"] for one in shown["runs"]] == [{"rrf_k": 10}, {"rrf_k": 60}]


def test_the_table_tells_runs_gains_and_queries(evaluated: Eval) -> None:
    code, out, _ = evaluated(*TEXT, "--contract", "quintet", "--contract", "cfs", "--compare", "--per-query")
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "drinks: 4 queries"
    assert " ".join(lines[1].split()) == "run ndcg@10 p@10 r@10 r@100 mrr@10 map@100 s 95 % of ndcg@10"
    assert lines[2].startswith("quintet lexical")
    assert "cfs lexical against quintet lexical" in lines
    assert sum(line.startswith("q1 ") for line in lines) == 2


def test_a_run_alone_is_not_compared_and_that_is_told(evaluated: Eval) -> None:
    answer = evaluated(*TEXT, "--compare", "--json")
    assert "comparisons" not in told(answer)
    assert "nothing_to_compare" in answer[2]


def test_judged_documents_that_the_corpus_lacks_are_told(evaluated: Eval, collection: Path) -> None:
    qrels = collection / "qrels" / "test.tsv"
    _, _, err = evaluated(*TEXT)
    assert "[not_in_index]" not in err
    qrels.write_text("".join(f"{query}\tnowhere-{query}\t1\n" for query in ("q1", "q2")), "utf-8")
    code, out, err = evaluated(*TEXT)
    assert code == 0
    assert "note: 2 of 2 judged items are not in the corpus, such as ['nowhere-" in err
    assert "0.0000" in out


def test_what_searches_remark_is_told_once(evaluated: Eval) -> None:
    _, _, err = evaluated(*TEXT, "--contract", "mcb")
    assert err.count("embedder_missing") == 1
    assert "mcb, 4 of 4 queries:" in err


def test_the_page_needs_nothing_else_and_obeys_no_text(evaluated: Eval, tmp_path: Path) -> None:
    grid = ("--contract", "cfs", "--param", "rrf_k=1,60")
    assert evaluated("--embedder", "hashing", "--compare", *grid, "--html", "report.html")[0] == 0
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "a/b &lt;i&gt;" in page
    for forbidden in ("<script", "<i>", "http:", "https:", "<link", "src=", "url("):
        assert forbidden not in page
    assert page.count("<svg") == page.count("</svg>") == 2 * 6
    assert "Worst queries" in page
    assert "lexical rank 1 of" in page
    assert "against cfs hybrid rrf_k=1" in page


def test_a_long_document_stands_where_its_best_chunk_does(evaluated: Eval) -> None:
    arguments = (*TEXT, "--json", "--per-query", "--metrics", "p@1,map", "--contract", "all")
    for one in told(evaluated(*arguments))["runs"]:
        assert one["queries"]["q4"] == {"p@1": 1.0, "map": 1.0}, one["contract"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--metrics", "bleu"), "there is no metric 'bleu'"),
        (("--contract", "bm42"), "there is no contract 'bm42'"),
        (("--mode", "psychic"), "mode is 'psychic'"),
        (("--param", "rrf_k"), "it must be name=value"),
        (("--param", "alpha=1"), "contract quintet has no parameter 'alpha'"),
        (("--split", "dev"), "the splits there are: test"),
        (("--embedder", "oracle"), "there is no embedder 'oracle'"),
        (("--contract", "all", "--run-out", "run.txt"), "a run file holds one run, and this would make 6"),
        (("--run-out", "run.txt"), "holds white space, which a TREC run cannot"),
        (("--run-in", "a.txt", "--run-out", "b.txt"), "--run-in alone searches nothing"),
        (("--run-in", "nowhere.txt"), "nowhere.txt cannot be read"),
        (("--html", "nowhere/page.html"), "nowhere/page.html cannot be written"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(
    evaluated: Eval, arguments: tuple[str, ...], complaint: str
) -> None:
    chosen = arguments if "--embedder" in arguments else (*TEXT, *arguments)
    code, out, err = evaluated(*chosen)
    assert code in (2, 3, 6)
    assert complaint in err
    assert out == ""


def test_a_wrong_name_leaves_no_folder_behind(evaluated: Eval, tmp_path: Path) -> None:
    evaluated("--embedder", "oracle", "--db", "kept")
    assert not (tmp_path / "kept").exists()


@pytest.fixture
def larder(tmp_path: Path) -> Path:
    """An index of two files, and questions about them."""
    folder = tmp_path / "larder"
    (folder / "docs").mkdir(parents=True)
    (folder / "docs" / "tea.md").write_text("# Tea\n\nSteep the leaves.\n\n# Water\n\nBoil it.\n")
    (folder / "coffee.md").write_text("# Coffee\n\nGrind the beans.\n")
    with quintet.open(folder / ".quintet", embedder=None) as index:
        index.sync([folder])
    return folder


def asked_about(larder: Path, *qrels: str) -> str:
    write_collection(larder.parent / "asked", corpus=None, queries=QUERIES, qrels=qrels)
    return "asked"


def test_judgements_may_be_about_the_files_of_an_index(evaluated: Eval, larder: Path) -> None:
    folder = asked_about(larder, "q1\tdocs/tea.md\t1", "q2\tcoffee.md\t1")
    (found,) = told(evaluated("--db", "larder/.quintet", "--metrics", "mrr,r@10", "--json", folder=folder))[
        "runs"
    ]
    assert (found["contract"], found["mode"]) == ("quintet", "lexical")
    assert found["metrics"] == {"mrr": 1.0, "r@10": 1.0}


def test_judgements_may_be_about_chunks(evaluated: Eval, larder: Path) -> None:
    with quintet.open(larder / ".quintet", create=False) as index:
        steep, boil = index.get("docs/tea.md")
    folder = asked_about(larder, f"q1\t{steep.chunk.id}\t1", f"q4\t{boil.chunk.id}\t1")
    shown = told(
        evaluated("--db", "larder/.quintet", "--json", "--per-query", "--metrics", "r@10", folder=folder)
    )
    assert shown["runs"][0]["queries"] == {"q1": {"r@10": 1.0}, "q4": {"r@10": 0.0}}


def test_what_is_judged_and_not_indexed_is_told_and_counts_as_missed(evaluated: Eval, larder: Path) -> None:
    folder = asked_about(larder, "q1\tdocs/tea.md\t1", "q1\tgone.md\t1")
    answer = evaluated("--db", "larder/.quintet", "--json", "--metrics", "r@10", folder=folder)
    assert told(answer)["runs"][0]["metrics"] == {"r@10": 0.5}
    assert "1 of 2 judged items are not in the index, such as ['gone.md']" in answer[2]


def test_chunks_and_documents_are_not_judged_together(evaluated: Eval, larder: Path) -> None:
    with quintet.open(larder / ".quintet", create=False) as index:
        chunk = index.get("coffee.md")[0].chunk.id
    code, _, err = evaluated(
        "--db", "larder/.quintet", folder=asked_about(larder, "q1\tdocs/tea.md\t1", f"q2\t{chunk}\t1")
    )
    assert code == 2
    assert "judge chunks or documents, not both" in err


def test_of_several_roots_paths_begin_with_the_name_of_theirs(evaluated: Eval, larder: Path) -> None:
    (larder.parent / "cellar").mkdir()
    (larder.parent / "cellar" / "coffee.md").write_text("Ground long ago.\n")
    with quintet.open(larder / ".quintet", create=False) as index:
        index.sync([larder.parent / "cellar"])
    folder = asked_about(larder, "q1\tdocs/tea.md\t1", "q2\tlarder/coffee.md\t1")
    shown = told(evaluated("--db", "larder/.quintet", "--json", "--metrics", "r@10", folder=folder))
    assert shown["runs"][0]["metrics"]["r@10"] >= 0.5


def test_without_a_corpus_and_without_an_index_it_says_what_is_missing(
    evaluated: Eval, tmp_path: Path
) -> None:
    write_collection(tmp_path / "asked", corpus=None)
    code, _, err = evaluated(folder="asked")
    assert code == 3
    assert "there is no index" in err
