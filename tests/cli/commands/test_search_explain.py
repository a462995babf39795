"""`quintet search --explain`: where a score comes from, in every contract, in 80 columns."""

import re
from pathlib import Path

import pytest

import quintet as library_of_quintet
from cli.conftest import Quintet
from quintet.cli.arguments import search_parameters
from quintet.cli.render import BAR, measure_line
from quintet.contracts import Answer
from quintet.model.documents import Chunk, Document, Json, Passage
from quintet.model.results import Evidence, Ranked
from quintet.query.search import Response
from quintet.serving.views import Measure, views_with_evidence


def explanation(out: str, name: str) -> str:
    """The first line that explains `name`."""
    return next(line for line in out.splitlines() if line.startswith(f"    {name} "))


def test_the_house_shows_rank_raw_weight_and_contribution_of_each_signal_and_their_sum(
    indexed: Path, quintet: Quintet
) -> None:
    out = quintet("search", "five minutes cache", "--explain").out
    lexical = explanation(out, "lexical")
    assert "rank 1, raw " in lexical
    assert "weight 0.3" in lexical
    semantic = explanation(out, "semantic")
    assert "rank 1, raw " in semantic and "weight 0.7" in semantic
    parts = [float(re.findall(r"0\.\d+", line)[0]) for line in (lexical, semantic)]
    assert float(explanation(out, "sum").split()[1]) == pytest.approx(sum(parts), abs=1e-3)


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
def test_other_contracts_show_what_their_body_has_as_well(
    indexed: Path, quintet: Quintet, contract: str, arguments: tuple[str, ...], names: tuple[str, ...]
) -> None:
    done = quintet("search", "five minutes cache", "--contract", contract, *arguments, "--explain")
    assert done.code == 0
    for name in names:
        assert explanation(done.out, name)
    explained_lines = [line for line in done.out.splitlines() if line.startswith(f"    {names[0]} ")]
    assert all(len(line) <= 80 for line in explained_lines)


@pytest.mark.parametrize(
    ("contract", "arguments"),
    [
        ("quintet", ()),
        ("rifflux", ()),
        ("harness", ("--param", "hybrid_alpha=0.25")),
        ("mcb", ()),
        ("knowledge", ("--mode", "hybrid")),
        ("cfs", ("--mode", "hybrid")),
    ],
)
def test_every_contract_draws_each_signal_as_the_engine_weighed_it_and_their_sum(
    indexed: Path, quintet: Quintet, contract: str, arguments: tuple[str, ...]
) -> None:
    given = search_parameters(arguments[1::2] if "--param" in arguments else (), ())
    if "--mode" in arguments:
        given["mode"] = arguments[1]
    with library_of_quintet.open(indexed / ".quintet", create=False) as index:
        answer = index.search("five minutes cache", contract=contract, **given).answer
    assert answer is not None
    first = answer.ranked[0].evidence
    assert {"lexical", "semantic"} <= set(first)
    done = quintet("search", "five minutes cache", "--contract", contract, *arguments, "--explain")
    for signal, seen in first.items():
        row = explanation(done.out, signal)
        assert f"rank {seen.rank}, raw {seen.raw:.4g}, weight {seen.weight:.4g}" in row
        assert f"{seen.contribution:.4g}" in row.split()
        assert ("█" in row) == (seen.contribution > 0)
    total = sum(seen.contribution for seen in first.values())
    assert explanation(done.out, "sum").split() == ["sum", f"{total:.4g}"]
    assert all(len(line) <= 80 for line in done.out.splitlines() if ", weight " in line)


def test_bars_compare_contributions_and_not_a_contracts_own_figures(indexed: Path, quintet: Quintet) -> None:
    out = quintet("search", "five minutes", "--contract", "rifflux", "--mode", "lexical", "--explain").out
    assert explanation(out, "lexical").count("█") == BAR
    assert "█" not in explanation(out, "bm25")


@pytest.mark.parametrize(("factor", "shown"), [(1.0, []), (0.75, ["0.75"])])
def test_a_freshness_factor_is_shown_behind_the_sum_where_it_changes_the_score(
    factor: float, shown: list[str]
) -> None:
    evidence = Evidence(rank=1, of=1, score=2.0, raw=-2.0, normalised=1.0, weight=0.5, contribution=0.5)
    chunk = Chunk("c", "d", 0, "text", "Heading", 3, 4)
    document = Document("root", "a.md", "A", "text/markdown", None, 4, 0, "hash")
    ranked = Ranked("c", 0.5 * factor, "c", {"lexical": evidence}, factor)
    answer = Answer([ranked], {"c": Passage(chunk, document)}, {}, {}, "none")
    item: Json = {
        "chunk": {"id": "c", "text": "text"},
        "document": {"path": "a.md"},
        "score": ranked.score,
    }
    [view] = views_with_evidence("cfs", Response({"results": [item]}, "ok", [], answer))
    names = [measure.name for measure in view.measures]
    assert names == ["lexical", "sum", *(["factor"] if shown else []), "score"]
    assert [f"{one.value}" for one in view.measures if one.name == "factor"] == shown
    assert (view.where(False), view.heading, view.root) == ("a.md:3-4", "Heading", "root")


def test_the_largest_contribution_fills_the_bar_and_the_rest_are_in_proportion() -> None:
    assert measure_line(Measure("a", 0.4, 0.4), 0.4).count("█") == BAR
    assert measure_line(Measure("a", 0.1, 0.1), 0.4).count("█") == round(BAR / 4)


def test_what_gave_anything_has_a_bar_and_what_gave_nothing_has_none() -> None:
    assert measure_line(Measure("a", 1e-9, 1e-9), 1.0).count("█") == 1
    assert measure_line(Measure("a", 0.0, 0.0), 1.0).count("█") == 0
    assert measure_line(Measure("a", -0.5, -0.5), 1.0).count("█") == 0
    assert measure_line(Measure("a", 0.0, 0.0), 0.0).count("█") == 0


def test_a_long_explanation_fits_into_80_columns() -> None:
    remark = "rank 1000, score 123.4, weight 0.25"
    assert len("    " + measure_line(Measure("semantic", 1.234e-05, 1.0, remark), 1.0)) == 80


def test_explain_changes_nothing_in_json(indexed: Path, quintet: Quintet) -> None:
    plain = quintet("search", "cache", "--json")
    assert quintet("search", "cache", "--json", "--explain").out == plain.out
