"""Where one signal leads: the extremes of the harness's alpha, and what they make of documents."""

from typing import Any

import pytest
from hypothesis import assume, given

from quintet.contracts import harness
from quintet.model.results import Facts, Ranked, Signal
from quintet.ranking import rank
from ranking.material import SITUATIONS, Hits, fact, facts_of, ids, scored, scores

Situation = tuple[Hits, dict[str, Facts]]


def ranked(situation: Situation, **params: Any) -> list[Ranked]:
    hits, facts = situation
    return rank(harness.profile(harness.Params(**params)), hits, facts, 12)


@pytest.mark.requirement("001-V2")
def test_at_alpha_one_the_vector_order_stands_and_the_rest_follows() -> None:
    hits = {"semantic": scored(v1=0.9, v2=0.5, v3=-0.2), "lexical": scored(k1=9.0, v3=2.0, v2=1.0)}
    facts = facts_of("v1", "v2", "v3", "k1")
    facts["k1"] = facts["k1"]._replace(modified_ms=10**12)
    hybrid = ranked((hits, facts), hybrid_alpha=1.0)
    semantic = ranked((hits, facts), mode="semantic")
    assert ids(hybrid) == [*ids(semantic), "k1"] == ["v1", "v2", "v3", "k1"]


@pytest.mark.requirement("001-V3")
def test_at_alpha_zero_the_keyword_order_stands_and_the_rest_follows() -> None:
    hits = {"lexical": scored(k1=9.0, k2=5.0, k3=1.0), "semantic": scored(v1=0.9, k3=0.5)}
    facts = facts_of("k1", "k2", "k3", "v1")
    facts["v1"] = facts["v1"]._replace(modified_ms=10**12)
    hybrid = ranked((hits, facts), hybrid_alpha=0.0)
    keyword = ranked((hits, facts), mode="keyword")
    assert ids(hybrid) == [*ids(keyword), "v1"] == ["k1", "k2", "k3", "v1"]


EXTREMES = [(1.0, "semantic", "semantic"), (0.0, "keyword", "lexical")]


@pytest.mark.requirement("001-V2", "001-V3")
@pytest.mark.parametrize("doc_agg", ("max", "avg"))
@pytest.mark.parametrize(("alpha", "mode", "signal"), EXTREMES)
@given(SITUATIONS)
def test_an_extreme_alpha_begins_with_the_order_of_its_leg(
    alpha: float, mode: str, signal: Signal, doc_agg: str, situation: Situation
) -> None:
    assume(situation[0][signal])
    hybrid = ranked(situation, hybrid_alpha=alpha, doc_agg=doc_agg)
    alone = ranked(situation, mode=mode, doc_agg=doc_agg)
    begins = hybrid[: len(alone)]
    assert [(item.item_id, item.score) for item in begins] == [(item.item_id, item.score) for item in alone]


@pytest.mark.requirement("001-EDGE-NO-KEYWORD", "001-EDGE-NO-VECTOR")
@pytest.mark.parametrize("doc_agg", ("max", "avg"))
@pytest.mark.parametrize(("alpha", "mode", "signal"), EXTREMES)
@given(SITUATIONS)
def test_where_the_leg_of_an_extreme_alpha_is_empty_the_order_is_that_of_the_other(
    alpha: float, mode: str, signal: Signal, doc_agg: str, situation: Situation
) -> None:
    hits, facts = situation
    other = {found: hits[found] for found in hits if found != signal}
    hybrid = ranked((other, facts), hybrid_alpha=alpha, doc_agg=doc_agg)
    the_other = "keyword" if mode == "semantic" else "semantic"
    alone = ranked((other, facts), mode=the_other, doc_agg=doc_agg)
    assert ids(hybrid) == ids(alone) and all(item.score == 0.0 for item in hybrid)


@pytest.mark.requirement("001-V3")
def test_an_average_leaves_out_what_only_the_other_leg_brought() -> None:
    """Its chunks weigh nothing there, so they must not count as matches of worth 0.0 either."""
    facts = {"hit": fact("d", 0), "far": fact("d", 1), "rival": fact("e", 0), "last": fact("f", 0)}
    hits = {"lexical": scored(hit=9.0, rival=6.0, last=1.0), "semantic": scored(hit=0.9, far=0.8)}
    found = rank(harness.profile(harness.Params(hybrid_alpha=0.0, doc_agg="avg")), hits, facts, 12)
    assert scores(found) == {"d": 1.0, "e": (6 - 1) / (9 - 1), "f": 0.0}
    assert ids(found) == ["d", "e", "f"]


@pytest.mark.requirement("001-TIE-NEWER")
@pytest.mark.parametrize("params", ({"mode": "semantic"}, {"hybrid_alpha": 1.0}, {"hybrid_alpha": 0.5}))
def test_of_equal_averages_the_newer_document_comes_first_whatever_its_best_chunk(params: Any) -> None:
    facts = {
        "best": fact("old", 0, modified_ms=1),
        "worst": fact("old", 1, modified_ms=1),
        "middle": fact("new", 0, modified_ms=2),
    }
    hits = {"semantic": scored(best=1.0, middle=0.0, worst=-1.0)}
    found = rank(harness.profile(harness.Params(**params, doc_agg="avg")), hits, facts, 12)
    assert found[0].score == found[1].score and ids(found) == ["new", "old"]
