"""Two columns that a PDF draws line by line across the page: read the left one, then the right one.

pdfium gives text in the order in which it is drawn. Most programs draw column after column; this is for
those that do not.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

MIN_ROWS = 4  # next to each other; fewer may be a heading, a signature or a small table
MIN_SHARE = 0.25  # of the text width that a line of prose fills; the cells of a table are narrower
MIN_GAP = 6.0  # points between two columns

Span = tuple[float, float]  # left and right


@dataclass(frozen=True, slots=True)
class Glyph:
    char: str
    left: float
    right: float


Line = Sequence[Glyph]


def gutter(lines: Iterable[Sequence[Span]]) -> float | None:
    """The position of the gap between two interleaved columns; None if there are none.

    `lines` holds the spans of text of each line, from left to right.
    """
    pairs = [runs for runs in lines if len(runs) > 1]
    if len(pairs) < MIN_ROWS:
        return None
    left, right = min(runs[0][0] for runs in pairs), max(runs[-1][1] for runs in pairs)
    width = right - left
    middles = [_widest_gap(runs) for runs in pairs]
    at = median((start + end) / 2 for start, end in middles)
    beside = [
        (_text_width(runs, left, at), _text_width(runs, at, right))
        for runs, (start, end) in zip(pairs, middles, strict=True)
        if start <= at <= end and end - start >= MIN_GAP
    ]
    if len(beside) < MIN_ROWS or len(beside) < len(pairs) // 2:
        return None
    prose = all(median(side) >= MIN_SHARE * width for side in zip(*beside, strict=True))
    return at if prose else None


def _text_width(runs: Sequence[Span], start: float, end: float) -> float:
    """How much of the width from `start` to `end` is text."""
    return sum(right - left for left, right in runs if start <= left and right <= end)


def _widest_gap(runs: Sequence[Span]) -> Span:
    gaps = [(before[1], after[0]) for before, after in pairwise(runs)]
    return max(gaps, key=lambda gap: gap[1] - gap[0])


@dataclass(slots=True)
class _Band:
    """The lines between two lines that cross the whole page."""

    left: list[str] = field(default_factory=list)
    right: list[str] = field(default_factory=list)


def by_column(lines: Iterable[Line], at: float) -> list[str]:
    """The text of `lines`: first the part left of `at`, then the part right of it. A line that crosses `at`
    separates what is above from what is below."""
    texts: list[str] = []
    band = _Band()
    for line in lines:
        if _crosses(line, at):
            texts += [*band.left, *band.right, _text(line)]
            band = _Band()
        else:
            band.left.append(_text(glyph for glyph in line if glyph.left < at))
            band.right.append(_text(glyph for glyph in line if glyph.left >= at))
    return [text for text in (*texts, *band.left, *band.right) if text]


def _crosses(line: Line, at: float) -> bool:
    visible = [glyph for glyph in line if not glyph.char.isspace()]
    before = max((glyph.right for glyph in visible if glyph.left < at), default=at - MIN_GAP)
    after = min((glyph.left for glyph in visible if glyph.left >= at), default=at + MIN_GAP)
    return after - before < MIN_GAP


def _text(line: Iterable[Glyph]) -> str:
    return "".join(glyph.char for glyph in line).strip()
