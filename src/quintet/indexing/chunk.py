"""Pack the blocks of a parser into pieces, one for each chunk: short neighbours together, and long blocks cut
at the best place.

Pure: the same blocks and size give the same pieces. Only white space is added or lost, but for the signature
that every further part of a long definition begins with.
"""

import re
from collections.abc import Iterator

from quintet.errors import UsageError
from quintet.formats.blocks import Block, ParsedFile

BLANK_LINE = "\n\n"
# Where prose may be cut: after a sentence, at a blank line, before a nested list item or quoted line.
_STOP = re.compile(
    r"""[.!?…]["'”’)\]]*+\s|[。！？](?=[\s\S])|\n[ \t]*+\n|\n(?=[ \t]*+(?:[-*+>|]|\d{1,9}[.)])[ \t])"""
)
_SPACE = re.compile(r"\s*+")
ELLIPSIS = "…"  # stands for the lines that were left out
REMAINDER = 4  # a last part shorter than this share of the room is not worth finding


def chunk(parsed: ParsedFile, max_chars: int) -> list[Block]:
    """The pieces of a document in reading order. No piece is longer than `max_chars` or spans two pages.

    A heading starts the piece of the text below it. Headings without text below end the last piece.
    """
    if max_chars < 1:
        raise UsageError(f"chunk_chars is {max_chars}; it must be at least 1")
    packer = _Packer(max_chars)
    for block in parsed.blocks:
        if block.text.strip():
            packer.turn_to(block.page)
            packer.add(block)
    return packer.finish()


class _Packer:
    """Collects blocks until a piece is full."""

    def __init__(self, max_chars: int) -> None:
        self.max_chars = max_chars
        self.pieces: list[Block] = []
        self.headings: list[Block] = []  # headings whose text has not come yet
        self.open: list[Block] = []
        self.size = 0
        self.page: int | None = None

    def turn_to(self, page: int | None) -> None:
        if page != self.page:
            self.finish()
            self.page = page

    def add(self, block: Block) -> None:
        if block.heading and self._can_wait(block):
            self._close()
            self.headings.append(block)
        elif block.alone:
            self._start(block)
            self._close()
        elif self._fits(block):
            self.size += len(_separator(block)) + len(block.text)
            self.open.append(block)
        else:
            self._start(block)

    def finish(self) -> list[Block]:
        self._close()
        if self.headings:
            tail = _piece(self.headings)
            before = self.pieces[-1] if self.pieces and self.pieces[-1].page == self.page else None
            if before and len(before.text) + len(BLANK_LINE) + len(tail.text) <= self.max_chars:
                text = before.text + BLANK_LINE + tail.text
                self.pieces[-1] = before._replace(text=text, last_line=tail.last_line)
            else:
                self.pieces.append(tail)
            self.headings = []
        return self.pieces

    def _can_wait(self, block: Block) -> bool:
        """Pending headings take at most half a piece, the rest is for text. A longer heading counts as
        text."""
        most = self.max_chars // 2 - len(BLANK_LINE)
        if len(block.text) > most:
            return False
        if len(_join([*self.headings, block])) > most:
            self.open, self.headings = self.headings, []
        return True

    def _fits(self, block: Block) -> bool:
        if not self.open or self.headings or self.open[-1].alone:
            return False
        same = self.open[-1].heading_path == block.heading_path
        return same and self.size + len(_separator(block)) + len(block.text) <= self.max_chars

    def _start(self, block: Block) -> None:
        """Start a piece with the pending headings and `block`. If the block is cut, its last part stays
        open."""
        self._close()
        taken = len(_join(self.headings)) + len(BLANK_LINE) if self.headings else 0
        for part in _parts(block, self.max_chars - taken, self.max_chars):
            self._close()
            self.open, self.headings = [*self.headings, part], []
            self.size = len(_join(self.open))

    def _close(self) -> None:
        if self.open:
            self.pieces.append(_piece(self.open))
        self.open, self.size = [], 0


def _separator(block: Block) -> str:
    return "\n" if block.tight else BLANK_LINE


def _join(blocks: list[Block]) -> str:
    if len(blocks) == 1:
        return blocks[0].text
    return "".join((_separator(block) if at else "") + block.text for at, block in enumerate(blocks))


def _piece(blocks: list[Block]) -> Block:
    """Join `blocks` into one. Heading path, kind and name come from the text, not from its headings."""
    texts = [block for block in blocks if not block.heading] or blocks
    kinds = {block.kind for block in texts}
    return Block(
        _join(blocks),
        blocks[0].first_line,
        blocks[-1].last_line,
        texts[-1].heading_path,
        kinds.pop() if len(kinds) == 1 else "text",
        _only([block.name for block in texts if block.name]),
        page=blocks[0].page,
    )


def _only(names: list[str]) -> str:
    return names[0] if len(names) == 1 else ""


def _parts(block: Block, first_room: int, room: int) -> Iterator[Block]:
    """Cut `block` into parts of at most `room` characters (the first: `first_room`), each with its lines.

    Only the part that holds the definition has the name, and the parts after it begin with the signature.
    """
    if len(block.text) <= first_room:
        yield block
        return
    text, prose = block.text, block.kind == "text"
    # If the text is not the lines of the source (HTML, JSON), the line of a part is unknown.
    verbatim = text.count("\n") == block.last_line - block.first_line
    again = f"{block.signature}\n{ELLIPSIS}\n" if 0 < len(block.signature) < room // 4 else ""
    start, row, left, opening = 0, block.first_line, first_room, ""
    while start < len(text):
        begin = _skip(text, start, prose)
        end = _cut(text, begin, left, prose)
        part = text[begin:end].rstrip()
        if part:
            row += text.count("\n", start, begin)
            lines = (row, row + part.count("\n")) if verbatim else (block.first_line, block.last_line)
            name = block.name if not block.defined_at or lines[0] <= block.defined_at <= lines[1] else ""
            yield block._replace(
                text=opening + part, first_line=lines[0], last_line=lines[1], name=name, heading=False
            )
            row += text.count("\n", begin, end)
            left, opening = (room - len(again), again) if row > block.defined_at else (room, "")
        else:
            row += text.count("\n", start, end)
        start = end


def _skip(text: str, start: int, prose: bool) -> int:
    """Skip white space; in code only blank lines, so that a line keeps its indentation."""
    match = _SPACE.match(text, start)
    end = match.end() if match else start
    if prose or end == len(text):
        return end
    return max(start, text.rfind("\n", start, end) + 1)


def _cut(text: str, start: int, room: int, prose: bool) -> int:
    """The end of the part that begins at `start`.

    Prose: the last sentence end in the second half of the room, otherwise the last space. Other text: the
    last line end, otherwise the last space. A word longer than the room is cut. If little would be left
    over, it is shared out evenly. The cost is linear in the text.
    """
    left = len(text) - start
    if left <= room:
        return len(text)
    if left - room < room // REMAINDER:
        room = (left + 1) // 2
    end = start + room
    if prose:
        stops = [match.end() for match in _STOP.finditer(text, start + room // 2, end + 1)]
        if stops:
            return stops[-1]
    else:
        line_end = text.rfind("\n", start, end + 1)
        if line_end > start:
            return line_end + 1
    return _last_space(text, start, end)


def _last_space(text: str, start: int, end: int) -> int:
    if text[end].isspace() or text[end - 1].isspace():
        return end
    head = text[start:end].rsplit(None, 1)
    return start + len(head[0]) if len(head) == 2 else end
