"""`quintet search --explain`: where a score comes from, in every contract, in 80 columns."""

from pathlib import Path

import pytest

from interfaces.conftest import Quintet
from quintet.interfaces.render import BAR, explained
from quintet.interfaces.views import Measure


def explanation(out: str, name: str) -> str:
    """The first line that explains `name`."""
    return next(line for line in out.splitlines() if line.startswith(f"    {name} "))


def test_the_house_shows_rank_raw_weight_and_contribution_of_each_signal_and_their_sum(
    indexed: Path, quintet: Quintet
) -> None:
    out = quintet("search", "five minutes cache", "--explain").out
    lexical = explanation(out, "lexical")
    assert "rank 1, raw " in lexical
    assert "weight 1" in lexical
    assert f"{1 / 61:.4g}" in lexical
    assert "rank 1, raw " in explanation(out, "semantic")
    assert explanation(out, "sum").split() == ["sum", f"{2 / 61:.4g}"]


@pytest.mark.parametrize(
    ("contract", "arguments", "names"),
    [
        ("rifflux", (), ("rrf", "lexical_rank", "semantic_rank")),
        ("rifflux", ("--mode", "lexical"), ("bm25",)),
        ("rifflux", ("--mode", "semantic"), ("cosine",)),
        ("harness", (), ("doc_score",)),
        ("mcb", (), ("bm25_rank", "semantic_rank", "graph_rank", "freshness", "matched_fields")),
        ("knowledge", (), ("relevance", "score")),
        ("knowledge", ("--mode", "keyword"), ("relevance", "score")),
        ("knowledge", ("--mode", "hybrid"), ("semantic_score", "keyword_score", "relevance")),
        ("cfs", (), ("score",)),
    ],
)
def test_other_contracts_show_what_their_body_has(
    indexed: Path, quintet: Quintet, contract: str, arguments: tuple[str, ...], names: tuple[str, ...]
) -> None:
    done = quintet("search", "five minutes cache", "--contract", contract, *arguments, "--explain")
    assert done.code == 0
    for name in names:
        assert explanation(done.out, name)
    explained_lines = [line for line in done.out.splitlines() if line.startswith(f"    {names[0]} ")]
    assert all(len(line) <= 80 for line in explained_lines)


def test_the_largest_contribution_fills_the_bar_and_the_rest_are_in_proportion() -> None:
    assert explained(Measure("a", 0.4, 0.4), 0.4).count("█") == BAR
    assert explained(Measure("a", 0.1, 0.1), 0.4).count("█") == round(BAR / 4)


def test_what_gave_anything_has_a_bar_and_what_gave_nothing_has_none() -> None:
    assert explained(Measure("a", 1e-9, 1e-9), 1.0).count("█") == 1
    assert explained(Measure("a", 0.0, 0.0), 1.0).count("█") == 0
    assert explained(Measure("a", -0.5, -0.5), 1.0).count("█") == 0
    assert explained(Measure("a", 0.0, 0.0), 0.0).count("█") == 0


def test_a_long_explanation_fits_into_80_columns() -> None:
    remark = "rank 1000, score 123.4, weight 0.25"
    assert len("    " + explained(Measure("semantic", 1.234e-05, 1.0, remark), 1.0)) == 80


def test_explain_changes_nothing_in_json(indexed: Path, quintet: Quintet) -> None:
    plain = quintet("search", "cache", "--json")
    assert quintet("search", "cache", "--json", "--explain").out == plain.out
