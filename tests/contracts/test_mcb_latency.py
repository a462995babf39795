"""Spec 002's bound on time, held against what `bench/graph.py` measured and what was kept of it.

A test that measured would fail by what else its machine does; this one fails when figures beyond the bound
are recorded.
"""

import json
from pathlib import Path

import pytest

RESULTS = Path(__file__).resolve().parents[2] / "bench" / "results"
RECORDED = sorted(RESULTS.glob("graph-*.json"))
MOST_MS = 500
NODES = 100_000


@pytest.mark.requirement("002-S-LATENCY")
def test_recorded_searches_over_a_hundred_thousand_nodes_end_within_half_a_second() -> None:
    assert RECORDED, f"bench/graph.py has left no figures in {RESULTS}"
    for file in RECORDED:
        measured = json.loads(file.read_text("utf-8"))["synthetic"]
        searches = measured["mcb_related_2"]
        assert measured["nodes"] >= NODES, file.name
        assert searches["searches"] >= 100 and searches["notes"] == [], file.name
        assert searches["results"] == 20 * searches["searches"], file.name
        assert searches["max_ms"] < MOST_MS, file.name
