"""The recorded figures stay within the bounds of the specifications.

A test that measured would depend on the load of its machine. These tests fail if figures beyond the bounds,
or no figures at all, are recorded.
"""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

RESULTS = Path(__file__).resolve().parents[2] / "bench" / "results"
KINDS = ("lexical", "semantic", "hybrid")
MAX_MS = 100
MILLION = 1_000_000


def _growth() -> list[dict[int, Any]]:
    """Searches by number of chunks, a record each."""
    files = sorted(RESULTS.glob("growth-*.json"))
    assert files, f"bench/growth.py has left no figures in {RESULTS}"
    return [
        {int(size): figures["search"] for size, figures in json.loads(file.read_text("utf-8"))["at"].items()}
        for file in files
    ]


@pytest.mark.requirement("000-COVER-PERF")
def test_recorded_growth_has_each_leg_and_the_fusion_of_both_at_sizes_that_grow_tenfold() -> None:
    for record in _growth():
        sizes = sorted(record)
        assert len(sizes) >= 3 and all(10 * smaller == larger for smaller, larger in pairwise(sizes))
        for searches in record.values():
            assert all(searches[kind]["p50_ms"] > 0 for kind in KINDS)
    assert any("hybrid, rifflux" in searches for record in _growth() for searches in record.values())


@pytest.mark.requirement("004-P4-EFFICIENCY")
def test_recorded_searches_over_up_to_a_million_vectors_end_within_a_tenth_of_a_second() -> None:
    """All but the slowest twentieth, by a process that has searched before."""
    for record in _growth():
        assert max(record) == MILLION
        for size, searches in record.items():
            assert all(searches[kind]["p95_ms"] < MAX_MS for kind in KINDS), size


@pytest.mark.parametrize(
    ("page", "mark"),
    [
        ("relevance.md", "figures: "),
        ("peers.md", "peers:"),
        ("startup.md", "startup:"),
        ("growth.md", "growth:"),
        ("growth.md", "growth-tantivy:"),
    ],
)
def test_a_record_has_the_marks_between_which_its_benchmark_writes(page: str, mark: str) -> None:
    text = (RESULTS / page).read_text("utf-8")
    assert text.count(f"<!-- {mark}begin -->") == text.count(f"<!-- {mark}end -->") == 1
