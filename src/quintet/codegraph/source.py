"""A source file with its syntax tree, which is read once for chunks and outline alike."""

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from quintet.codegraph.grammar import tree_of
from quintet.codegraph.language import Language

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_BESIDE = 400  # bytes


class LineTable:
    """The rows and lines of bytes. Rows count from 0, lines from 1.

    Reading `row` of a node's `start_point` drops a reference too many in 0.26.0 and ends in a crash.
    """

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._starts = list(accumulate([len(line) + 1 for line in source.split(b"\n")], initial=0))

    def line(self, byte: int) -> int:
        return bisect_right(self._starts, byte)

    def rows(self, node: "Node") -> tuple[int, int]:
        """The first and last row; a node that ends with a newline does not reach into the next row."""
        start, end = node.start_byte, node.end_byte
        first = bisect_right(self._starts, start) - 1
        return first, (bisect_right(self._starts, end - 1, first) - 1 if end > start else first)

    def starts_row(self, node: "Node") -> bool:
        """Whether nothing stands before the node in its row. Of a long row only the end is looked at."""
        start = node.start_byte
        return not self._source[max(start - MAX_BESIDE, 0) : start].rpartition(b"\n")[2].strip()

    def ends_row(self, node: "Node") -> bool:
        """Whether nothing stands behind the node in its last row."""
        end = node.end_byte
        behind = self._source[end : end + MAX_BESIDE].partition(b"\n")[0]
        return self._source[end - 1 : end] == b"\n" or not behind.strip()


@dataclass(frozen=True, slots=True)
class ParsedSource:
    """`path` is relative and `/`-separated; `root` is the outermost node of the tree."""

    path: str
    language: Language
    source: bytes
    root: "Node"
    lines: LineTable


def read_source(path: str, text: str, language: Language) -> ParsedSource | None:
    """The file with its tree, or None when the text is nested too deeply or takes too long to parse."""
    source = text.encode()
    tree = tree_of(source, text, language)
    return None if tree is None else ParsedSource(path, language, source, tree.root_node, LineTable(source))
