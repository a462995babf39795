"""From figures to tables."""

from collections.abc import Iterable, Sequence

from .figures import OURS, Figures

NEAR_ENOUGH = 0.99  # the recall from which a peer is compared with exact search
TIMED = ("engine", "p50 ms", "p95", "p99", "p50 to ours", "p95 to ours", "CPU ms", "CPU to ours")


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
    found = [
        (name, engine, engine["modes"][mode]) for name, engine in engines.items() if mode in engine["modes"]
    ]
    return sorted(found, key=lambda engine: engine[2]["p50"])


def _hybrid(engines: dict[str, Figures]) -> str:
    head = [*TIMED, "queries/s", "with 8 clients", "vector recall@10", "overlap with ours", "asked"]
    having = _having(engines, "hybrid")
    rows = (
        [*_timed(name, mode), f"{mode['qps']:.0f}", _number(engine["qps_8"] or None, 0),
         _number(recall(engine), 3), _number(mode.get("like_ours"), 2), str(mode["asked"])]
        for name, engine, mode in having
    )  # fmt: skip
    return table(head, rows) + _quickest(having)


def _quickest(having: list[tuple[str, Figures, Figures]]) -> str:
    for name, engine, mode in having:
        if not name.startswith(OURS) and (recall(engine) or 0.0) >= NEAR_ENOUGH and "times_p50" in mode:
            times = f"{mode['times_p50']:.2f} and {mode['times_p95']:.2f} times"
            return (
                f"\n\nThe quickest peer with a recall of at least {NEAR_ENOUGH} is {name}: "
                f"its p50 and p95 are {times} Quintet's."
            )
    return ""


def _lexical(engines: dict[str, Figures]) -> str:
    rows = (
        [*_timed(name, mode), _number(mode["by_kind"].get("five terms"), 2),
         _number(engine["pasted_p50"], 2), _number(_growth(engine, mode), 1),
         _number(mode.get("like_ours"), 2)]
        for name, engine, mode in _having(engines, "lexical")
    )  # fmt: skip
    return table([*TIMED, "five terms", "200 terms", "200 to five", "overlap with ours"], rows)


def _growth(engine: Figures, mode: Figures) -> float | None:
    five = mode["by_kind"].get("five terms")
    return engine["pasted_p50"] / five if five and engine["pasted_p50"] else None


def _dense(engines: dict[str, Figures]) -> str:
    rows = (
        [*_timed(name, mode), f"{mode['recall']:.3f}", engine["note"]]
        for name, engine, mode in _having(engines, "dense")
    )
    return table([*TIMED, "recall@10", "how"], rows)


def _index(engines: dict[str, Figures], result: Figures) -> str:
    again = f"again, {result['small']:,}: s"
    timed = ["engine", "modes", "runs", "index s", "CPU s", "passages/s", "with embedding s", again]
    built = [(name, engine) for name, engine in engines.items() if "build_s" in engine]
    rows = (
        [name, ", ".join(engine["modes"]) or "-", str(len(engine["each_build_s"])),
         _number(engine["build_s"], 1), _number(engine["build_cpu_s"], 1),
         _number(result["passages"] / engine["build_s"], 0),
         _number(engine["build_s"] + result["embedding_s"], 0),
         _number(engine["again_s"], 2), _number(engine["disk_mb"], 0), _number(engine["build_rss_mb"], 0),
         _number(engine.get("search_rss_mb"), 0), _number(engine.get("cold_s"), 2)]
        for name, engine in sorted(built, key=lambda item: item[1]["build_s"])
    )  # fmt: skip
    told = table([*timed, "disk MB", "RSS indexing", "RSS searching", "cold start s"], rows)
    return told + "".join(_phases(name, engine["phases"]) for name, engine in built if engine["phases"])


def _phases(name: str, phases: dict[str, float]) -> str:
    told = ", ".join(f"{phase} {taken:.1f}" for phase, taken in phases.items())
    return f"\n\nThe index run of {name} by phase, in seconds: {told}."


def _stability(engines: dict[str, Figures], small: int) -> str:
    def shares(found: dict[str, float]) -> str:
        return ", ".join(f"{mode} {share:.2f}" for mode, share in found.items())

    rows = (
        [name, shares(engine["shuffled_equal"]), shares(engine["restarted_equal"])]
        for name, engine in engines.items()
        if engine["modes"]
    )
    return table(["engine", f"put in in another order ({small:,} passages)", "restarted"], rows)


def _slow(result: Figures) -> str:
    modes = ("lexical", "dense", "hybrid")
    rows = (
        [name, f"{engine['build_s']:.1f}", *(_number(engine["p50_ms"].get(mode), 1) for mode in modes)]
        for name, engine in result["slow"].items()
    )
    told = (
        f"Measured over {result['small']:,} passages only, p50 in ms; Quintet's first, to compare. Not asked "
        f"for more is an engine that keeps the processor busy over {result['too_slow_ms']:.0f} ms a query "
        f"here, or that would index everything for over {result['build_patience_s']:.0f} s."
    )
    return f"{told}\n\n" + table(["engine", "index s", *modes], rows)


def _timed(name: str, mode: Figures) -> list[str]:
    told = ("p50", "p95", "p99", "times_p50", "times_p95", "cpu_ms", "times_cpu")
    return [name, *(_number(mode.get(figure), 2) for figure in told)]


def recall(engine: Figures) -> float | None:
    found: float | None = engine["modes"].get("dense", {}).get("recall")
    return found


def _number(value: float | None, places: int) -> str:
    return "-" if value is None else f"{value:,.{places}f}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    return "\n".join([line(head), "|" + "---|" * len(head), *map(line, rows)])
