"""Text without a grammar: paragraphs, or the paragraphs of a source file nobody can parse."""

from quintet.formats.blocks import Block, Parsed
from quintet.formats.lines import run_blocks, shape, stem


def paragraphs(text: str, kind: str = "text") -> tuple[Block, ...]:
    """One block for each paragraph; blank lines part them."""
    lines = text.split("\n")
    return tuple(run_blocks(lines, 0, len(lines) - 1, like=shape(kind=kind)))


def parse_plain(path: str, text: str, mime_type: str) -> Parsed:
    return Parsed(stem(path), mime_type, None, paragraphs(text))


def parse_windows(path: str, text: str, mime_type: str, language: str | None, kind: str = "code") -> Parsed:
    """A file to be cut at lines, never inside one: source without a grammar, settings, rows of data."""
    return Parsed(path.rpartition("/")[2], mime_type, language, paragraphs(text, kind))
