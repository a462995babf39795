"""Text in, blocks out. Never raises on bad text: a file that breaks its format is read as plainer text.

Parsers are imported when first needed: tree-sitter, markdown-it and YAML cost more than all the rest.
"""

from quintet.formats.blocks import Block, Parsed, Piece
from quintet.formats.lines import one_newline
from quintet.formats.registry import Format, format_of, mime_of

__all__ = ["Block", "Parsed", "Piece", "mime_of", "parse"]


def parse(path: str, text: str) -> Parsed:
    """The blocks of `text`, read as what the name of `path` (relative, `/`-separated) says it is."""
    text = one_newline(text)
    form = format_of(path)
    if form.parser in ("code", "windows"):
        return _parse_lines(path, text, form)
    return _parse_prose(path, text, form)


def _parse_lines(path: str, text: str, form: Format) -> Parsed:
    if form.parser == "code" and form.language:
        from quintet.codegraph.blocks import parse_code

        return parse_code(path, text, form.mime_type, form.language)
    from quintet.formats.text import parse_windows

    return parse_windows(path, text, form.mime_type, form.language)


def _parse_prose(path: str, text: str, form: Format) -> Parsed:
    match form.parser:
        case "markdown":
            from quintet.formats.markdown import parse_markdown as parser
        case "html":
            from quintet.formats.html import parse_html as parser
        case "json":
            from quintet.formats.json import parse_json as parser
        case "jsonl":
            from quintet.formats.json import parse_jsonl as parser
        case "rows":
            from quintet.formats.table import parse_rows as parser
        case "rst":
            from quintet.formats.rst import parse_rst as parser
        case _:
            from quintet.formats.text import parse_plain as parser
    return parser(path, text, form.mime_type)
