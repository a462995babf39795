"""Run files: what is written is read back in the same order, here and by other tools."""

from pathlib import Path

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintet.errors import UsageError
from quintet.evaluation.trec import read_run, run_lines

SCORES = st.lists(st.sampled_from([0.0, 1e-9, 0.5, 0.5 + 1e-12, 1.0, -3.25, 1e30]), max_size=8)


def written(file: Path, results: dict[str, list[tuple[str, float]]], tag: str = "ours") -> Path:
    file.write_text("".join(f"{line}\n" for line in run_lines(results, tag)), "utf-8")
    return file


def test_a_line_holds_query_item_rank_score_and_tag() -> None:
    assert list(run_lines({"q": [("b", 1.5), ("a", 0.25)]}, "ours")) == [
        "q Q0 b 1 1.5 ours",
        "q Q0 a 2 0.25 ours",
    ]


@given(SCORES)
def test_other_tools_read_our_order_whatever_the_scores(
    tmp_path_factory: pytest.TempPathFactory, scores: list[float]
) -> None:
    """Ties, scores equal but for the last bits, even scores that rise: the order is what counts."""
    items = [f"d{number}" for number in range(len(scores))]
    file = written(tmp_path_factory.mktemp("run") / "run", {"q": list(zip(items, scores, strict=True))})
    rows = list(ir_measures.read_trec_run(str(file)))
    assert [row.doc_id for row in sorted(rows, key=lambda row: (-row.score, row.doc_id))] == items
    if items:
        assert read_run(file).rankings == {"q": items}


def test_a_run_is_read_by_score_then_by_rank_then_as_it_stands(tmp_path: Path) -> None:
    lines = ("q Q0 low 1 0.1 t", "q Q0 b 3 0.9 t", "q Q0 a 2 0.9 t", "q Q0 c 3 0.9 t", "p 0 x 1 7 t")
    (tmp_path / "run").write_text("\n".join(lines))
    found = read_run(tmp_path / "run")
    assert found.rankings == {"q": ["a", "b", "c", "low"], "p": ["x"]}
    assert found.tag == "t"


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("q Q0 a 1 0.5", "has 5 cells"),
        ("q Q0 two words 1 0.5 t", "has 7 cells"),
        ("q Q0 a first 0.5 t", "both must be numbers"),
        ("q Q0 a 1 high t", "both must be numbers"),
        ("q Q0 a 1 nan t", "must be finite"),
        ("q Q0 a 1 1e999 t", "must be finite"),
    ],
)
def test_a_broken_line_is_refused_by_number(tmp_path: Path, line: str, complaint: str) -> None:
    (tmp_path / "run").write_text(f"q Q0 x 1 1 t\n{line}\n")
    with pytest.raises(UsageError, match=f"line 2 of .*run .*{complaint}"):
        read_run(tmp_path / "run")


def test_a_result_may_be_there_once(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("q Q0 a 1 2 t\nq Q0 a 2 1 t\n")
    with pytest.raises(UsageError, match="names 'a' twice for query 'q'"):
        read_run(tmp_path / "run")


def test_a_file_without_results_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("\n")
    with pytest.raises(UsageError, match="holds no results"):
        read_run(tmp_path / "run")


def test_an_id_with_white_space_cannot_be_written() -> None:
    with pytest.raises(UsageError, match="'two words' holds white space"):
        list(run_lines({"q": [("two words", 1.0)]}, "t"))
