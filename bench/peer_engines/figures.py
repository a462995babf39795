"""From what was measured to figures."""

from collections.abc import Sequence
from statistics import fmean, median
from typing import Any

import numpy as np

from .child import Answered, K
from .material import Int16, Query, products

OURS = "quintet"
ENOUGH = 100  # answers below which a 99th percentile says nothing
Figures = dict[str, Any]


def percentiles(seconds: Sequence[float]) -> Figures:
    quantiles = np.quantile(np.array(seconds) * 1e3, [0.5, 0.95, 0.99])
    return dict(zip(("p50", "p95", "p99"), map(float, quantiles), strict=True))


class Judge:
    """Compares answers with the exact nearest passages, with Quintet's, and with earlier ones."""

    def __init__(self, queries: list[Query], vectors: Int16, asked: Int16, worst: Any) -> None:
        self.queries = queries
        self._vectors = vectors
        self._asked = asked
        self._worst = worst

    def recall(self, first: int, answers: Sequence[Sequence[int]]) -> list[float]:
        """The share of the ten best that was found; passages as near as the tenth count as well."""
        return [
            float(np.sum(products(self._vectors, self._asked[at], found) >= self._worst[at])) / K
            for at, found in enumerate(answers, start=first)
        ]


def shared(some: Sequence[Sequence[int]], others: Sequence[Sequence[int]]) -> list[float]:
    """Of each pair of answers, the share of results that both have."""
    pairs = zip(some, others, strict=False)
    return [len(set(first) & set(second)) / max(len(first), len(second), 1) for first, second in pairs]


def equal_share(some: Sequence[Sequence[int]], others: Sequence[Sequence[int]]) -> float:
    """The share of queries answered by the same passages in the same order."""
    pairs = list(zip(some, others, strict=False))
    return fmean(first == second for first, second in pairs) if pairs else 0.0


def engine_figures(
    builds: list[Figures], small: Figures, turns: list[Figures], ours: list[Figures] | None, judge: Judge
) -> Figures:
    """Everything about one engine. No `build_s`: it asks another's index; no `modes`: it was not asked."""
    modes = {mode: mode_figures(mode, turns, ours, judge) for mode in small["answers"]}
    return {
        "modes": modes,
        "again_s": small["again_s"],
        "shuffled_equal": {
            mode: equal_share(small["answers"][mode], small["shuffled"][mode]) for mode in modes
        },
        **(_build_figures(builds) if builds else {}),
        **(_turn_figures(turns) if turns else {}),
    }


def _build_figures(builds: list[Figures]) -> Figures:
    return {
        "build_s": median(build["seconds"] for build in builds),
        "each_build_s": [build["seconds"] for build in builds],
        "build_cpu_s": median(build["cpu_s"] for build in builds),
        "phases": builds[0]["phases"],
        "build_rss_mb": builds[0]["rss_mb"],
        "given_rss_mb": builds[0]["given_rss_mb"],
        "disk_mb": builds[0]["disk_mb"],
    }


def _turn_figures(turns: list[Figures]) -> Figures:
    first, parts = turns[0]["probes"], ("import_s", "open_s", "first_s")
    return {
        "note": turns[0]["note"],
        "search_rss_mb": median(turn["rss_mb"] for turn in turns),
        "cold_s": median(sum(turn[part] for part in parts) for turn in turns),
        "cold_parts_s": {part: median(turn[part] for turn in turns) for part in parts},
        "pasted_p50": median(1e3 * median(turn["pasted"]) for turn in turns)
        if "pasted" in turns[0]
        else None,
        "qps_8": median(turn["qps_8"] for turn in turns),
        "restarted_equal": {
            mode: min(equal_share(first[mode], turn["probes"][mode]) for turn in turns) for mode in first
        },
    }


def mode_figures(mode: str, turns: list[Figures], ours: list[Figures] | None, judge: Judge) -> Figures:
    """One mode of one engine: medians over the turns, ratios to Quintet's of the same turn."""
    each = [_turn(turn["modes"][mode]) for turn in turns]
    asked = sum(len(turn["modes"][mode].seconds) for turn in turns)
    figures: Figures = {name: median(turn[name] for turn in each) for name in ("p50", "p95", "p99", "cpu_ms")}
    if asked < ENOUGH:
        figures["p99"] = None
    figures["turns_p50"] = [turn["p50"] for turn in each]
    figures["asked"] = asked
    figures["qps"] = median(1 / fmean(turn["modes"][mode].seconds) for turn in turns)
    figures["by_kind"] = _by_kind(mode, turns, judge.queries)
    if mode == "dense":
        found = [judge.recall(turn["first"], turn["modes"][mode].answers) for turn in turns]
        figures["recall"] = fmean(share for shares in found for share in shares)
    if ours and mode in ours[0]["modes"]:
        figures |= _beside(each, [_turn(turn["modes"][mode]) for turn in ours])
        overlaps = [
            shared(turn["modes"][mode].answers, other["modes"][mode].answers)
            for turn, other in zip(turns, ours, strict=False)
        ]
        figures["like_ours"] = fmean(share for shares in overlaps for share in shares)
    return figures


def _turn(timing: Answered) -> Figures:
    return {**percentiles(timing.seconds), "cpu_ms": 1e3 * timing.processor / len(timing.seconds)}


def _beside(each: list[Figures], ours: list[Figures]) -> Figures:
    """Medians of the ratios of each turn."""
    named = {"p50": "times_p50", "p95": "times_p95", "cpu_ms": "times_cpu"}
    return {
        times: median(turn[name] / other[name] for turn, other in zip(each, ours, strict=False))
        for name, times in named.items()
    }


def _by_kind(mode: str, turns: list[Figures], queries: list[Query]) -> dict[str, float]:
    seconds: dict[str, list[float]] = {}
    for turn in turns:
        for at, taken in enumerate(turn["modes"][mode].seconds, start=turn["first"]):
            seconds.setdefault(queries[at].kind, []).append(taken)
    return {kind: 1e3 * median(some) for kind, some in sorted(seconds.items())}
