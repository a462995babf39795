"""Charts as SVG, written by hand."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from math import log10

LEFT, WIDTH, ROW, TOP, WHOLE = 200, 350, 30, 62, 780
PLOT, HEIGHT = 440, 330  # of the scatter: its legend stands to the right
TICKS = (0.1, 1.0, 10.0, 100.0, 1_000.0, 10_000.0)
OURS, THEIRS, APPROXIMATE = "#1b7f5c", "#5b7db1", "#c58b3b"
COLOURS = "green Quintet, blue exact or recall at least .99, orange approximate"


@dataclass(frozen=True, slots=True)
class Point:
    """Milliseconds at the median and at the 95th percentile; `recall` None where there are no vectors."""

    name: str
    p50: float
    p95: float
    recall: float | None

    @property
    def colour(self) -> str:
        if self.name.startswith("quintet"):
            return OURS
        return THEIRS if self.recall is None or self.recall >= 0.99 else APPROXIMATE

    @property
    def told(self) -> str:
        recall = "" if self.recall is None else f", recall {self.recall:.3f}"
        return f"{_plain(self.p50)} / {_plain(self.p95)} ms{recall}"


def bars(title: str, points: Sequence[Point]) -> str:
    """A bar to the median and a line on to the 95th percentile, quickest first, on a logarithmic scale."""
    ordered = sorted(points, key=lambda point: point.p50)
    height = TOP + ROW * len(ordered) + 16
    across, low, high = _scale([point.p50 for point in points], [point.p95 for point in points], LEFT, WIDTH)
    parts = _opening(title, f"bar: median; line: 95th percentile; milliseconds; {COLOURS}", height)
    parts += _grid(across, low, high, height - 12)
    for nth, point in enumerate(ordered):
        parts += _row(point, TOP + ROW * nth, across(point.p50), across(point.p95))
    return "\n".join([*parts, "</svg>", ""])


def scatter(title: str, points: Sequence[Point]) -> str:
    """Recall over the median: the upper left corner is best. Numbers refer to the legend."""
    ordered = sorted(points, key=lambda point: point.p50)
    medians, least = [point.p50 for point in points], min(point.recall or 0.0 for point in points)
    bottom = int(least * 10) / 10 if least < 1 else 0.9
    height = max(HEIGHT, TOP + 20 * len(ordered) + 16)
    across, low, high = _scale(medians, medians, 60, PLOT - 80)
    parts = _opening(title, f"recall@10 over the median in milliseconds; {COLOURS}", height)
    parts += _grid(across, low, high, HEIGHT - 12)

    def down(recall: float) -> float:
        return TOP + 12 + (HEIGHT - TOP - 40) * (1 - recall) / (1 - bottom)

    for tick in range(round(bottom * 10), 11):
        at = down(tick / 10)
        parts.append(f'<line x1="60" x2="{PLOT - 20}" y1="{at:.1f}" y2="{at:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="52" y="{at + 4:.1f}" font-size="10" text-anchor="end">{tick / 10:.1f}</text>')
    for nth, point in enumerate(ordered, start=1):
        parts += _numbered(nth, point, across(point.p50), down(point.recall or 0.0))
    return "\n".join([*parts, "</svg>", ""])


def _opening(title: str, told: str, height: int) -> list[str]:
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WHOLE} {height}" width="{WHOLE}"'
        f' height="{height}" font-family="sans-serif" font-size="13" fill="#222">',
        f'<rect width="{WHOLE}" height="{height}" fill="#fff"/>',
        f'<text x="12" y="22" font-size="15" font-weight="bold">{escape(title)}</text>',
        f'<text x="12" y="40" font-size="11">{escape(told)}</text>',
    ]


def _scale(
    lows: Sequence[float], highs: Sequence[float], left: int, width: int
) -> tuple[Callable[[float], float], float, float]:
    """Where a value stands, logarithmically, and the powers of ten that the axis begins and ends with."""
    low, high = 10.0 ** _below(min(lows)), 10.0 ** (_below(max(highs)) + 1)
    return lambda value: left + width * log10(value / low) / log10(high / low), low, high


def _grid(across: Callable[[float], float], low: float, high: float, bottom: int) -> list[str]:
    parts = list[str]()
    for tick in (tick for tick in TICKS if low <= tick <= high):
        at = across(tick)
        parts.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{TOP - 6}" y2="{bottom}" stroke="#ddd"/>')
        parts.append(f'<text x="{at:.1f}" y="{TOP - 8}" font-size="10" text-anchor="middle">{tick:g}</text>')
    return parts


def _row(point: Point, y: int, median: float, high: float) -> list[str]:
    middle, colour = y + ROW / 2 - 4, point.colour
    return [
        f'<text x="{LEFT - 8}" y="{middle + 5}" text-anchor="end">{escape(point.name)}</text>',
        f'<rect x="{LEFT}" y="{y + 2}" width="{median - LEFT:.1f}" height="{ROW - 12}" fill="{colour}"/>',
        f'<line x1="{median:.1f}" x2="{high:.1f}" y1="{middle}" y2="{middle}" stroke="{colour}"'
        ' stroke-width="3"/>',
        f'<text x="{high + 8:.1f}" y="{middle + 5}" font-size="12">{escape(point.told)}</text>',
    ]


def _numbered(nth: int, point: Point, x: float, y: float) -> list[str]:
    at, beside = TOP + 20 * nth - 10, y - 9 if nth % 2 else y + 17  # neighbours would cover each other
    return [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{point.colour}" stroke="#fff"/>',
        f'<text x="{x:.1f}" y="{beside:.1f}" font-size="11" text-anchor="middle">{nth}</text>',
        f'<text x="{PLOT}" y="{at}" font-size="11" fill="{point.colour}">{nth}. {escape(point.name)}: '
        f"{_plain(point.p50)} ms, {point.recall or 0.0:.3f}</text>",
    ]


def _below(value: float) -> int:
    """The power of ten at or below."""
    return int(log10(value)) if value >= 1 else int(log10(value)) - 1


def _plain(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"
