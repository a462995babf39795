"""The figures of bench/growth.py as a table and as SVG, written by hand."""

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from math import ceil, floor, log10
from typing import Any

AT = "at"  # chunks
Figures = dict[str, Any]
MODES = ("lexical", "semantic", "hybrid", "hybrid, rifflux")
COLOURS = ("#1b7f5c", "#5b7db1", "#c58b3b", "#8a5a9e")
WIDTH, HEIGHT, LEFT, TOP, SIDE = 860, 400, 64, 66, 260
PANEL = 420
FLAT, LINEAR = 2.0, (7.0, 14.0)  # what ten times as much may cost to be called so

DISTURBED = "disturbed"  # by others who wanted the processors

Reading = Callable[[Figures], float]
ROWS: dict[str, tuple[Reading, str]] = {
    **{
        f"{mode}, {share}, ms": ((lambda figures, m=mode, s=share: figures["search"][m][f"{s}_ms"]), ".2f")
        for mode in MODES
        for share in ("p50", "p95")
    },
    **{
        f"{mode}, CPU {share}, ms": (
            (lambda figures, m=mode, s=share: figures["search"][m][f"cpu_{s}_ms"]),
            ".2f",
        )
        for mode in MODES
        for share in ("p50", "p95")
    },
    "first lexical answer of a process, ms": (
        lambda figures: figures["search"]["lexical"]["first_ms"],
        ".0f",
    ),
    "then the first semantic one, ms": (lambda figures: figures["search"]["semantic"]["first_ms"], ".0f"),
    "memory of a search, MB": (lambda figures: figures["search"]["rss_mb"], ".0f"),
    "of that its own, MB": (lambda figures: figures["search"]["own_mb"], ".0f"),
    "memory of an index run, MB": (lambda figures: figures["index"]["rss_mb"], ".0f"),
    "index run, s": (lambda figures: figures["index"]["seconds"], ".1f"),
    "index run, CPU s": (lambda figures: figures["index"]["cpu_seconds"], ".1f"),
    "run that finds nothing new, s": (lambda figures: figures["index"]["noop_seconds"], ".2f"),
    "text, MB": (lambda figures: figures["index"]["text_mb"], ".1f"),
    "index on disk, MB": (lambda figures: figures["index"]["disk_mb"], ".1f"),
}


CLOCK = {name for name in ROWS if name.endswith((", s", ", ms")) and "CPU" not in name}


def table(result: Figures) -> str:
    found: Mapping[str, Figures] = result[AT]
    sizes = [int(size) for size in found]
    head = [f"{size:,}" for size in sizes]
    steps = [f"x{b / a:g}" for a, b in pairwise(sizes)]
    lines = [
        f"Commit {result['commit']}, Python {result['python']}, {result['machine']}, load {result['load']}; "
        f"text: {result['corpus']}; vectors: {result['vectors']}; text index: {result['text_index']}.",
        "",
        f"| chunks | {' | '.join([*head, *steps, 'growth'])} |",
        f"|---|{'---:|' * (len(head) + len(steps))}---|",
    ]
    for name, (reading, form) in _rows(result).items():
        values = [reading(figures) for figures in found.values()]
        ratios = [b / a for a, b in pairwise(values)]
        cells = [*(f"{value:{form}}" for value in values), *(f"{ratio:.1f}" for ratio in ratios)]
        kind = DISTURBED if name in CLOCK and result["busy"] else _kind(ratios, sizes)
        lines.append(f"| {name} | {' | '.join([*cells, kind])} |")
    return "\n".join(lines) + "\n"


def _rows(result: Figures) -> dict[str, tuple[Reading, str]]:
    """Without those of the contracts that the text index at hand has no part in."""
    absent = tuple(f"{mode}, " for mode in MODES if mode not in _modes(result))
    return {name: row for name, row in ROWS.items() if not name.startswith(absent)}


def _modes(result: Figures) -> list[str]:
    (some, *_) = result[AT].values()
    return [mode for mode in MODES if mode in some["search"]]


def _kind(ratios: list[float], sizes: list[int]) -> str:
    """By the last step, where what every answer costs anyway weighs least."""
    if not ratios:
        return ""
    tenfold = ratios[-1] ** (1 / log10(sizes[-1] / sizes[-2]))
    if tenfold < FLAT:
        return "almost none"
    if tenfold < LINEAR[0]:
        return "less than linear"
    return "linear" if tenfold <= LINEAR[1] else "more than linear"


def chart(result: Figures) -> str:
    """Two panels on logarithmic scales: milliseconds a search; seconds and megabytes of the index."""
    found: Mapping[str, Figures] = result[AT]
    times = {mode: _line(found, ROWS[f"{mode}, CPU p50, ms"][0]) for mode in _modes(result)}
    sizes = {
        name: _line(found, ROWS[name][0])
        for name in (
            "index run, s",
            "index on disk, MB",
            "memory of a search, MB",
            "memory of an index run, MB",
        )
    }
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" font-family="sans-serif" font-size="12" fill="#222">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        '<text x="12" y="22" font-size="15" font-weight="bold">Cost of growth</text>',
        '<text x="12" y="40" font-size="11">by number of chunks, both scales logarithmic; dashed: '
        "ten times as much for ten times the chunks</text>",
        *_panel("processor milliseconds a search, median", times, 0),
        *_panel("seconds and megabytes", sizes, PANEL),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _line(found: Mapping[str, Figures], reading: Reading) -> list[tuple[float, float]]:
    return [(log10(int(size)), log10(max(reading(figures), 1e-3))) for size, figures in found.items()]


def _panel(title: str, lines: Mapping[str, list[tuple[float, float]]], shift: int) -> Iterator[str]:
    every = [point for line in lines.values() for point in line]
    low_x, high_x = min(x for x, _ in every), max(max(x for x, _ in every), min(x for x, _ in every) + 1)
    low_y, high_y = floor(min(y for _, y in every)), ceil(max(y for _, y in every))
    left = LEFT + shift

    def across(x: float) -> float:
        return left + SIDE * (x - low_x) / (high_x - low_x)

    def down(y: float) -> float:
        return TOP + SIDE * (1 - (y - low_y) / max(high_y - low_y, 1))

    yield f'<text x="{left}" y="{TOP - 10}" font-weight="bold">{title}</text>'
    for y in range(low_y, high_y + 1):
        yield f'<line x1="{left}" x2="{left + SIDE}" y1="{down(y):.1f}" y2="{down(y):.1f}" stroke="#ddd"/>'
        yield (
            f'<text x="{left - 6}" y="{down(y) + 4:.1f}" font-size="10" text-anchor="end">{10.0**y:,g}</text>'
        )
    for x in sorted({x for x, _ in every}):
        yield f'<line x1="{across(x):.1f}" x2="{across(x):.1f}" y1="{TOP}" y2="{TOP + SIDE}" stroke="#ddd"/>'
        yield (
            f'<text x="{across(x):.1f}" y="{TOP + SIDE + 14}" font-size="10" text-anchor="middle">'
            f"{10.0**x:,.0f}</text>"
        )
    reach = min(high_x - low_x, high_y - low_y)
    yield (
        f'<line x1="{across(low_x):.1f}" y1="{down(low_y):.1f}" x2="{across(low_x + reach):.1f}" '
        f'y2="{down(low_y + reach):.1f}" stroke="#999" stroke-dasharray="5 4"/>'
    )
    for nth, (name, line) in enumerate(lines.items()):
        points = " ".join(f"{across(x):.1f},{down(y):.1f}" for x, y in line)
        colour, beside = COLOURS[nth], TOP + SIDE + 30 + 15 * (nth // 2)
        yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"/>'
        for x, y in line:
            yield f'<circle cx="{across(x):.1f}" cy="{down(y):.1f}" r="3.5" fill="{colour}"/>'
        at = left + 160 * (nth % 2)
        yield f'<rect x="{at}" y="{beside - 9}" width="10" height="10" fill="{colour}"/>'
        yield f'<text x="{at + 15}" y="{beside}" font-size="11">{name}</text>'
