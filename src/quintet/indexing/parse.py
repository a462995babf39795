"""Choose the parser for a text file by its name, and parse it into blocks.

Parsing never fails: a file that breaks its format is read as plainer text. Parsers are imported when first
needed, because tree-sitter, markdown-it and YAML take longer to import than everything else.
"""

from quintet.formats.blocks import ParsedFile
from quintet.formats.lines import normalise_newlines
from quintet.formats.registry import Format, format_of


def parse(path: str, text: str) -> ParsedFile:
    """The blocks of `text`. The name in `path` (relative, `/`-separated) decides the format."""
    text = normalise_newlines(text)
    form = format_of(path)
    if form.parser in ("code", "lines"):
        return _parse_source(path, text, form)
    return _parse_prose(path, text, form)


def _parse_source(path: str, text: str, form: Format) -> ParsedFile:
    if form.parser == "code" and form.language:
        from quintet.codegraph.blocks import parse_code

        return parse_code(path, text, form.mime_type, form.language)
    from quintet.formats.text import parse_lines

    return parse_lines(path, text, form.mime_type, form.language)


def _parse_prose(path: str, text: str, form: Format) -> ParsedFile:
    match form.parser:
        case "markdown":
            from quintet.formats.markdown import parse_markdown as parser
        case "html":
            from quintet.formats.html import parse_html as parser
        case "json":
            from quintet.formats.json import parse_json as parser
        case "jsonl":
            from quintet.formats.json import parse_jsonl as parser
        case "csv":
            from quintet.formats.table import parse_csv as parser
        case "rst":
            from quintet.formats.rst import parse_rst as parser
        case _:
            from quintet.formats.text import parse_plain as parser
    return parser(path, text, form.mime_type)
