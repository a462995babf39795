"""From what was measured to figures, and from figures to tables."""

from collections.abc import Iterable, Sequence
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
    return [len(set(one) & set(other)) / max(len(one), len(other), 1) for one, other in pairs]


def equal_share(some: Sequence[Sequence[int]], others: Sequence[Sequence[int]]) -> float:
    """The share of queries answered by the same passages in the same order."""
    pairs = list(zip(some, others, strict=False))
    return fmean(one == other for one, other in pairs) if pairs else 0.0


def mode_figures(mode: str, turns: list[Figures], ours: list[Figures] | None, judge: Judge) -> Figures:
    """One mode of one engine: medians over the turns, ratios to Quintet's of the same turn."""
    each = [percentiles(turn["modes"][mode].seconds) for turn in turns]
    asked = sum(len(turn["modes"][mode].seconds) for turn in turns)
    figures: Figures = {name: median(one[name] for one in each) for name in ("p50", "p95", "p99")}
    if asked < ENOUGH:
        figures["p99"] = None
    figures["turns_p50"] = [one["p50"] for one in each]
    figures["asked"] = asked
    figures["qps"] = median(1 / fmean(turn["modes"][mode].seconds) for turn in turns)
    figures["cpu_ms"] = median(_processor_ms(turn["modes"][mode]) for turn in turns)
    figures["by_kind"] = _by_kind(mode, turns, judge.queries)
    if mode == "dense":
        found = [judge.recall(turn["first"], turn["modes"][mode].answers) for turn in turns]
        figures["recall"] = fmean(one for some in found for one in some)
    if ours is not None and mode in ours[0]["modes"]:
        theirs = [percentiles(turn["modes"][mode].seconds) for turn in ours]
        for name in ("p50", "p95"):
            ratios = (a[name] / b[name] for a, b in zip(each, theirs, strict=False))
            figures[f"times_{name}"] = median(ratios)
        processor = [_processor_ms(turn["modes"][mode]) for turn in ours]
        figures["times_cpu"] = figures["cpu_ms"] / median(processor)
        overlaps = [
            shared(one["modes"][mode].answers, other["modes"][mode].answers)
            for one, other in zip(turns, ours, strict=False)
        ]
        figures["like_ours"] = fmean(one for some in overlaps for one in some)
    return figures


def _processor_ms(one: Answered) -> float:
    return 1e3 * one.processor / len(one.seconds)


def _by_kind(mode: str, turns: list[Figures], queries: list[Query]) -> dict[str, float]:
    seconds: dict[str, list[float]] = {}
    for turn in turns:
        for at, taken in enumerate(turn["modes"][mode].seconds, start=turn["first"]):
            seconds.setdefault(queries[at].kind, []).append(taken)
    return {kind: 1e3 * median(some) for kind, some in sorted(seconds.items())}


def engine_figures(
    builds: list[Figures], small: Figures, turns: list[Figures], ours: list[Figures] | None, judge: Judge
) -> Figures:
    modes = {mode: mode_figures(mode, turns, ours, judge) for mode in turns[0]["modes"]}
    first = turns[0]["probes"]
    return {
        "note": turns[0]["note"],
        "build_s": median(one["seconds"] for one in builds),
        "build_cpu_s": median(one["cpu_s"] for one in builds),
        "phases": builds[0]["phases"],
        "build_rss_mb": builds[0]["rss_mb"],
        "given_rss_mb": builds[0]["given_rss_mb"],
        "disk_mb": builds[0]["disk_mb"],
        "search_rss_mb": median(turn["rss_mb"] for turn in turns),
        "cold_s": median(turn["import_s"] + turn["open_s"] + turn["first_s"] for turn in turns),
        "cold_parts_s": {
            part: median(turn[part] for turn in turns) for part in ("import_s", "open_s", "first_s")
        },
        "modes": modes,
        "pasted_p50": median(1e3 * median(turn["pasted"]) for turn in turns)
        if "pasted" in turns[0]
        else None,
        "qps_8": median(turn["qps_8"] for turn in turns),
        "again_s": small["again_s"],
        "shuffled_equal": {
            mode: equal_share(small["answers"][mode], small["shuffled"][mode]) for mode in modes
        },
        "restarted_equal": {
            mode: min(equal_share(first[mode], turn["probes"][mode]) for turn in turns) for mode in modes
        },
    }


def tables(result: Figures) -> str:
    """Everything as Markdown."""
    engines: dict[str, Figures] = result["engines"]
    parts = [
        _told(result),
        "### Hybrid\n\n" + _hybrid(engines),
        "### Words alone\n\n" + _lexical(engines),
        "### Vectors alone\n\n" + _dense(engines),
        "### Index, memory, start\n\n" + _index(engines, result),
        "### The same order again\n\n" + _stability(engines, result["small"]),
    ]
    if result["slow"]:
        parts.append("### Too slow for this size\n\n" + _slow(result))
    if result["failed"]:
        rows = ([name, reason] for name, reason in result["failed"].items())
        parts.append("### Did not run\n\n" + table(["engine", "reason"], rows))
    return "\n\n".join(parts) + "\n"


def _told(result: Figures) -> str:
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in result["queries"].items())
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    return (
        f"{result['passages']:,} passages of {result['corpus']}, vectors by {result['vectors']}; "
        f"{result['turns']} turns; queries: {kinds}. Commit {result['commit']}, Python {result['python']}, "
        f"{result['machine']}, load {result['load_at_start']:.1f} at the start. {versions}."
    )


def _having(engines: dict[str, Figures], mode: str) -> list[tuple[str, Figures, Figures]]:
    found = [(name, one, one["modes"][mode]) for name, one in engines.items() if mode in one["modes"]]
    return sorted(found, key=lambda one: one[2]["p50"])


def _hybrid(engines: dict[str, Figures]) -> str:
    head = [
        "engine",
        "p50 ms",
        "p95",
        "p99",
        "p50 to ours",
        "p95 to ours",
        "CPU ms",
        "CPU to ours",
        "queries/s",
        "with 8 clients",
    ]
    rows = (
        [name, *_times(mode), *_ratios(mode), f"{mode['qps']:.0f}", _number(one["qps_8"] or None, 0),
         _recall(one), _number(mode.get("like_ours"), 2), str(mode["asked"])]
        for name, one, mode in _having(engines, "hybrid")
    )  # fmt: skip
    return table([*head, "vector recall@10", "overlap with ours", "asked"], rows)


def _lexical(engines: dict[str, Figures]) -> str:
    head = [
        "engine",
        "p50 ms",
        "p95",
        "p99",
        "p50 to ours",
        "p95 to ours",
        "CPU ms",
        "CPU to ours",
        "five terms",
        "200 terms",
    ]
    rows = (
        [name, *_times(mode), *_ratios(mode), _number(mode["by_kind"].get("five terms"), 2),
         _number(one["pasted_p50"], 2), _number(_growth(one, mode), 1), _number(mode.get("like_ours"), 2)]
        for name, one, mode in _having(engines, "lexical")
    )  # fmt: skip
    return table([*head, "200 to five", "overlap with ours"], rows)


def _growth(one: Figures, mode: Figures) -> float | None:
    five = mode["by_kind"].get("five terms")
    return one["pasted_p50"] / five if five and one["pasted_p50"] else None


def _dense(engines: dict[str, Figures]) -> str:
    head = [
        "engine",
        "p50 ms",
        "p95",
        "p99",
        "p50 to ours",
        "p95 to ours",
        "CPU ms",
        "CPU to ours",
        "recall@10",
        "how",
    ]
    rows = (
        [name, *_times(mode), *_ratios(mode), f"{mode['recall']:.3f}", one["note"]]
        for name, one, mode in _having(engines, "dense")
    )
    return table(head, rows)


def _index(engines: dict[str, Figures], result: Figures) -> str:
    head = [
        "engine",
        "modes",
        "index s",
        "CPU s",
        "passages/s",
        "with embedding s",
        f"again, {result['small']:,}: s",
    ]
    rows = (
        [name, ", ".join(one["modes"]), _number(one["build_s"], 1), _number(one["build_cpu_s"], 1),
         _number(result["passages"] / one["build_s"], 0), _number(one["build_s"] + result["embedding_s"], 0),
         _number(one["again_s"], 2), _number(one["disk_mb"], 0),
         _number(one["build_rss_mb"], 0), _number(one["search_rss_mb"], 0), _number(one["cold_s"], 2)]
        for name, one in sorted(engines.items(), key=lambda item: item[1]["build_s"])
    )  # fmt: skip
    phases = ", ".join(
        f"{name} {taken:.1f}" for name, taken in engines.get(OURS, {}).get("phases", {}).items()
    )
    told = f"\n\nQuintet's index run by phase, in seconds: {phases}." if phases else ""
    return table([*head, "disk MB", "RSS indexing", "RSS searching", "cold start s"], rows) + told


def _stability(engines: dict[str, Figures], small: int) -> str:
    def shares(found: dict[str, float]) -> str:
        return ", ".join(f"{mode} {share:.2f}" for mode, share in found.items())

    rows = (
        [name, shares(one["shuffled_equal"]), shares(one["restarted_equal"])] for name, one in engines.items()
    )
    return table(["engine", f"put in in another order ({small:,} passages)", "restarted"], rows)


def _slow(result: Figures) -> str:
    modes = ("lexical", "dense", "hybrid")
    rows = (
        [name, f"{one['build_s']:.1f}", *(_number(one["p50_ms"].get(mode), 1) for mode in modes)]
        for name, one in result["slow"].items()
    )
    told = f"Measured over {result['small']:,} passages, p50 in ms; Quintet's first, to compare."
    return f"{told}\n\n" + table(["engine", "index s", *modes], rows)


def _times(mode: Figures) -> list[str]:
    return [_number(mode[name], 2) for name in ("p50", "p95", "p99")]


def _ratios(mode: Figures) -> list[str]:
    told = [mode.get("times_p50"), mode.get("times_p95"), mode["cpu_ms"], mode.get("times_cpu")]
    return [_number(value, 2) for value in told]


def _recall(one: Figures) -> str:
    return _number(one["modes"].get("dense", {}).get("recall"), 3)


def _number(value: float | None, places: int) -> str:
    return "-" if value is None else f"{value:,.{places}f}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    return "\n".join([line(head), "|" + "---|" * len(head), *map(line, rows)])
