"""What bench/peers.py makes of its measurements. The peers themselves are not needed here."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"


@pytest.fixture(autouse=True)
def _bench_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCH))


def turn(seconds: list[float], answers: list[list[int]]) -> dict[str, Any]:
    from peer_engines.child import Answered

    answered = {mode: Answered(answers, seconds, sum(seconds)) for mode in ("dense", "hybrid")}
    return {
        "first": 0,
        "note": "",
        "modes": answered,
        "probes": {"dense": answers, "hybrid": answers},
        "qps_8": 1.0,
        "rss_mb": 1.0,
        "import_s": 0.1,
        "open_s": 0.2,
        "first_s": 0.3,
    }


def small(*modes: str) -> dict[str, Any]:
    return {
        "answers": {mode: [[0]] for mode in modes},
        "shuffled": {mode: [[0]] for mode in modes},
        "again_s": 1.0,
    }


BUILT = {"seconds": 2.0, "cpu_s": 2.0, "phases": {}, "rss_mb": 1.0, "given_rss_mb": 1.0, "disk_mb": 1.0}


@pytest.fixture
def result() -> dict[str, Any]:
    """Ours, a peer that is twice as quick, an engine without an index, and one that only indexes."""
    from peer_engines.figures import Judge, engine_figures
    from peer_engines.material import Query, tenth_best

    vectors = np.eye(20, dtype=np.int16)
    judge = Judge(
        [Query("five terms", "a b c d e")], vectors, vectors[:1], tenth_best(vectors, vectors[:1], 10)
    )
    best = [list(range(10))]
    ours = [turn([0.002 * nth], best) for nth in (1, 5, 3, 4, 2)]
    quick = [turn([0.001 * nth], best) for nth in (1, 5, 3, 4, 2)]
    both = small("dense", "hybrid")
    thrice = [{**BUILT, "seconds": seconds} for seconds in (1.0, 9.0, 2.0)]
    return {
        "passages": 100, "corpus": "made-up text", "vectors": "synthetic", "turns": 5, "k": 10, "small": 10,
        "queries": {"five terms": 1}, "versions": {}, "commit": "0", "python": "3", "machine": "m",
        "load_at_start": 0.0, "embedding_s": 0.0, "too_slow_ms": 50.0, "build_patience_s": 1.0,
        "engines": {
            "quintet": engine_figures([BUILT], both, ours, ours, judge),
            "quintet, rifflux": engine_figures([], both, ours, ours, judge),
            "quintet, packed": engine_figures([BUILT], small(), [], ours, judge),
            "quick": engine_figures(thrice, both, quick, ours, judge),
        },
        "slow": {"snail": {"build_s": 9.0, "p50_ms": {"hybrid": 99.0}, "again_s": None}},
        "failed": {"broken": "index: ImportError: no such module"},
    }  # fmt: skip


def section(page: str, heading: str) -> str:
    return page.split(f"### {heading}\n")[1].split("### ")[0]


def test_a_ratio_is_the_median_of_the_ratios_of_each_turn(result: dict[str, Any]) -> None:
    hybrid = result["engines"]["quick"]["modes"]["hybrid"]
    assert [hybrid[name] for name in ("times_p50", "times_p95", "times_cpu")] == pytest.approx([0.5] * 3)


def test_an_index_that_was_made_several_times_is_shown_by_its_median(result: dict[str, Any]) -> None:
    from peer_engines.report import tables

    assert "| quick | dense, hybrid | 3 | 2.0 |" in section(tables(result), "Index, memory, start")


def test_the_quickest_peer_with_enough_recall_is_named(result: dict[str, Any]) -> None:
    from peer_engines.report import tables

    assert "is quick: its p50 and p95 are 0.50 and 0.50 times Quintet's." in tables(result)
    result["engines"]["quick"]["modes"]["dense"]["recall"] = 0.98
    assert "quickest peer" not in tables(result)


def test_an_engine_stands_only_where_it_was_measured(result: dict[str, Any]) -> None:
    from peer_engines.report import tables

    page = tables(result)
    assert "| quintet, rifflux |" in section(page, "Hybrid")
    assert "| quintet, rifflux |" not in section(page, "Index, memory, start")
    assert "| quintet, packed |" in section(page, "Index, memory, start")
    assert "| quintet, packed |" not in section(page, "Hybrid") + section(page, "The same order again")
    assert "| snail | 9.0 | - | - | 99.0 |" in section(page, "Too slow for this size")
    assert "| broken | index: ImportError: no such module |" in section(page, "Did not run")


def test_only_what_is_between_the_marks_of_the_page_is_written_anew(
    result: dict[str, Any], tmp_path: Path
) -> None:
    import peers

    page = tmp_path / "page.md"
    page.write_text(f"before\n{peers.BEGIN}\nfigures of yesterday\n{peers.END}\nafter\n", "utf-8")
    peers.write(result, tmp_path / "results", page)
    written = page.read_text("utf-8")
    assert written.startswith(f"before\n{peers.BEGIN}\n") and written.endswith(f"{peers.END}\nafter\n")
    assert "yesterday" not in written
    assert [file.name for file in (tmp_path / "results").iterdir()] == ["peers-0.json"]
    for name in ("peers.svg", "peers-recall.svg"):
        drawn = "".join(ElementTree.parse(tmp_path / name).getroot().itertext())
        assert "quick" in drawn and "packed" not in drawn
