"""Text without a grammar, cut into paragraphs: plain text, settings, source code without a parser."""

from quintet.formats.blocks import Block, ParsedFile
from quintet.formats.lines import block_template, paragraph_blocks, stem


def paragraphs(text: str, kind: str = "text") -> tuple[Block, ...]:
    """One block for each paragraph; blank lines separate them."""
    lines = text.split("\n")
    return tuple(paragraph_blocks(lines, 0, len(lines) - 1, like=block_template(kind=kind)))


def parse_plain(path: str, text: str, mime_type: str) -> ParsedFile:
    return ParsedFile(stem(path), mime_type, None, paragraphs(text))


def parse_lines(path: str, text: str, mime_type: str, language: str | None, kind: str = "code") -> ParsedFile:
    """A file that is cut only between lines: source without a grammar, settings, rows of data."""
    return ParsedFile(path.rpartition("/")[2], mime_type, language, paragraphs(text, kind))
