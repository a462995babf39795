"""What `bench/growth.py` measured and what was kept of it, held against the specifications' bounds.

A test that measured would fail by what else its machine does; these fail when figures beyond the bounds are
recorded, or none at all.
"""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

RESULTS = Path(__file__).resolve().parents[2] / "bench" / "results"
KINDS = ("lexical", "semantic", "hybrid")
MOST_MS = 100
MILLION = 1_000_000


def _growth() -> list[dict[int, Any]]:
    """Searches by number of chunks, a record each."""
    files = sorted(RESULTS.glob("growth-*.json"))
    assert files, f"bench/growth.py has left no figures in {RESULTS}"
    return [
        {int(size): found["search"] for size, found in json.loads(file.read_text("utf-8"))["at"].items()}
        for file in files
    ]


@pytest.mark.requirement("000-COVER-PERF")
def test_recorded_growth_has_each_leg_and_the_fusion_of_both_at_sizes_that_grow_tenfold() -> None:
    for record in _growth():
        sizes = sorted(record)
        assert len(sizes) >= 3 and all(10 * one == other for one, other in pairwise(sizes))
        for searches in record.values():
            assert all(searches[kind]["p50_ms"] > 0 for kind in KINDS)
    assert any("hybrid, rifflux" in searches for record in _growth() for searches in record.values())


@pytest.mark.requirement("004-P4-EFFICIENCY")
def test_recorded_searches_over_up_to_a_million_vectors_end_within_a_tenth_of_a_second() -> None:
    """All but the slowest twentieth, by a process that has searched before."""
    for record in _growth():
        assert max(record) == MILLION
        for size, searches in record.items():
            assert all(searches[kind]["p95_ms"] < MOST_MS for kind in KINDS), size
