"""The headings above a block, for every format that has levels of headings."""

from collections.abc import Iterable

from quintet.formats.blocks import Block


class HeadingPath:
    """The headings that are open at one place in a document, outermost first.

    >>> path = HeadingPath()
    >>> for level, text in (1, "Guide"), (3, "Install"), (2, "Use"):
    ...     path.enter(level, text)
    >>> path.texts
    ('Guide', 'Use')
    """

    def __init__(self) -> None:
        self._headings: list[tuple[int, str]] = []

    def enter(self, level: int, text: str) -> None:
        """Close the headings of this level and deeper, and open this one."""
        self._headings = [heading for heading in self._headings if heading[0] < level]
        self._headings.append((level, text))

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(text for _, text in self._headings)


def first_heading(blocks: Iterable[Block]) -> str:
    """The text of the first heading; empty if there is none."""
    return next((block.heading_path[-1] for block in blocks if block.heading), "")
