"""Bars as SVG, written by hand."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import log10

LEFT, WIDTH, ROW, TOP = 170, 380, 30, 62
TICKS = (0.1, 1.0, 10.0, 100.0, 1_000.0, 10_000.0)
OURS, THEIRS, APPROXIMATE = "#1b7f5c", "#5b7db1", "#c58b3b"


@dataclass(frozen=True, slots=True)
class Bar:
    """Milliseconds at the median and at the 95th percentile; `recall` None where there are no vectors."""

    name: str
    p50: float
    p95: float
    recall: float | None

    @property
    def colour(self) -> str:
        if self.name == "quintet":
            return OURS
        return THEIRS if self.recall is None or self.recall >= 0.99 else APPROXIMATE

    @property
    def told(self) -> str:
        recall = "" if self.recall is None else f", recall {self.recall:.3f}"
        return f"{_plain(self.p50)} / {_plain(self.p95)} ms{recall}"


def bars(title: str, rows: Sequence[Bar]) -> str:
    """A bar to the median and a line on to the 95th percentile, quickest first, on a logarithmic scale."""
    ordered = sorted(rows, key=lambda row: row.p50)
    low = 10 ** _below(min(row.p50 for row in rows))
    high = 10 ** (_below(max(row.p95 for row in rows)) + 1)

    def across(value: float) -> float:
        return LEFT + WIDTH * log10(value / low) / log10(high / low)

    height = TOP + ROW * len(ordered) + 16
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 780 {height}" width="780" height="{height}"'
        ' font-family="sans-serif" font-size="13" fill="#222">',
        f'<rect width="780" height="{height}" fill="#fff"/>',
        f'<text x="12" y="22" font-size="15" font-weight="bold">{escape(title)}</text>',
        '<text x="12" y="40" font-size="11">bar: median; line: 95th percentile; milliseconds, logarithmic; '
        "green Quintet, blue exact or recall at least .99, orange approximate</text>",
    ]
    for tick in (tick for tick in TICKS if low <= tick <= high):
        at = across(tick)
        parts.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{TOP - 6}" y2="{height - 12}" stroke="#ddd"/>')
        parts.append(f'<text x="{at:.1f}" y="{TOP - 8}" font-size="10" text-anchor="middle">{tick:g}</text>')
    for nth, row in enumerate(ordered):
        y = TOP + ROW * nth
        parts += _row(row, y, across(row.p50), across(row.p95))
    return "\n".join([*parts, "</svg>", ""])


def _row(row: Bar, y: int, median: float, high: float) -> list[str]:
    middle = y + ROW / 2 - 4
    return [
        f'<text x="{LEFT - 8}" y="{middle + 5}" text-anchor="end">{escape(row.name)}</text>',
        f'<rect x="{LEFT}" y="{y + 2}" width="{median - LEFT:.1f}" height="{ROW - 12}" fill="{row.colour}"/>',
        f'<line x1="{median:.1f}" x2="{high:.1f}" y1="{middle}" y2="{middle}" stroke="{row.colour}"'
        ' stroke-width="3"/>',
        f'<text x="{high + 8:.1f}" y="{middle + 5}" font-size="12">{escape(row.told)}</text>',
    ]


def _below(value: float) -> int:
    """The power of ten at or below."""
    return int(log10(value)) if value >= 1 else int(log10(value)) - 1


def _plain(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"
