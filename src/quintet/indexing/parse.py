"""Choose the parser for a text file by its name, and parse it into blocks.

Languages with a grammar come first, then the other formats. Parsing never fails: a file that breaks its
format is read as plainer text. Parsers are imported when first needed, because tree-sitter, markdown-it and
YAML take longer to import than everything else.
"""

from quintet.codegraph.languages.registry import ENDINGS, language_of
from quintet.formats.blocks import ParsedFile
from quintet.formats.lines import normalise_newlines
from quintet.formats.registry import BY_EXTENSION, Format, format_of

_ENDINGS = ENDINGS | BY_EXTENSION.keys()


def parse(path: str, text: str) -> ParsedFile:
    """The blocks of `text`. The name in `path` (relative, `/`-separated) decides the format."""
    text = normalise_newlines(text)
    language = language_of(path)
    if language is not None:
        from quintet.codegraph.blocks import parse_code

        return parse_code(path, text, language)
    form = format_of(path)
    if form.parser in ("markdown", "html", "rst"):
        return _parse_document(path, text, form)
    return _parse_data(path, text, form)


def _parse_document(path: str, text: str, form: Format) -> ParsedFile:
    """What can mention files and definitions. Its links and code spans are told apart by known endings."""
    match form.parser:
        case "markdown":
            from quintet.formats.markdown import parse_markdown as parser
        case "html":
            from quintet.formats.html import parse_html as parser
        case _:
            from quintet.formats.rst import parse_rst as parser
    return parser(path, text, form.mime_type, _ENDINGS)


def _parse_data(path: str, text: str, form: Format) -> ParsedFile:
    match form.parser:
        case "lines":
            from quintet.formats.text import parse_lines

            return parse_lines(path, text, form.mime_type, form.language)
        case "json":
            from quintet.formats.json import parse_json as parser
        case "jsonl":
            from quintet.formats.json import parse_jsonl as parser
        case "csv":
            from quintet.formats.table import parse_csv as parser
        case _:
            from quintet.formats.text import parse_plain as parser
    return parser(path, text, form.mime_type)
