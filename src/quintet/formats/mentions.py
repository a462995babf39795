"""The paths and symbols that a document mentions in links and code spans.

A document defines no symbols: its mentions belong to owner 0, the document itself. Each mention is a
`references` with base `name`, and is either a path or a symbol.

A path has one element, which contains a `/` or a file ending (`docs/guide.md`, `sync.py`, `./LICENSE`). It
is kept as written, without anchor, query and line number. In a link it is relative to the document or, with
a leading `/`, to the root. In a code span it may also be relative to the root, or only a name (`sync.py`).

A symbol is split at its dots; no element contains a `.` or `/`: `("Foo", "bar")`, `("parse_code",)`.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from urllib.parse import unquote

from quintet.formats.blocks import Block
from quintet.formats.html_tags import HtmlToken, unescape_text
from quintet.model.symbols import Mention, Outline

MAX_MENTIONS = 2000  # per document
MAX_SPAN = 200  # characters; a longer code span is not a name

_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.\-]*+:|//")
_ENDING = re.compile(r"[^/]\.([A-Za-z0-9+]{1,12})$")
_PLACE = re.compile(r"(?:[?#].*|::.*|:\d+(?:[:\-]\d+)?)$", re.DOTALL)
_PATH = re.compile(r"(?:\.{0,2}/)?(?:[\w@.+\-]++/)*[\w@.+\-]++/?")
_SYMBOL = re.compile(r"~?\.?([^\W\d]\w*+(?:(?:\.|::|#)[^\W\d]\w*+)*+)(\(.*\))?", re.DOTALL)
_SEPARATOR = re.compile(r"\.|::|#")
# A single word counts as code if it contains an underscore or a capital, or starts with a capital.
_CODE_WORD = re.compile(r"_*[A-Za-z0-9]+_\w+|_*[A-Za-z]+[a-z0-9][A-Z]\w*|[A-Z][a-z]\w+")
_NOT_SYMBOLS = {"None", "True", "False", "Null"}

_SPAN = re.compile(r"(?<!`)(`{1,2})(?!`)([^`\n]{1,200})\1(?!`)")
_MARKS = re.compile(r"[`\]<]")  # a line without any has no code span and no link
_MARKDOWN_TARGETS = (
    re.compile(r"\]\([ \t]*+<?([^\s<>()]{1,500})"),
    re.compile(r"^ {0,3}\[[^\]\n]{1,200}\]:[ \t]*+<?([^\s<>]{1,500})"),
    re.compile(r"<(?:a|img)\s[^<>]{0,300}?(?:href|src)\s*+=\s*+[\"']([^\"'<>]{1,500})", re.IGNORECASE),
)
_RST_ROLE = re.compile(r":([a-zA-Z+:\-]{1,40}):`([^`\n]{1,300})`")
_RST_LITERAL = re.compile(r"``([^`\n]{1,200})``")
_RST_LINK = re.compile(r"`[^`<\n]{0,200}<([^`<>\n]{1,500})>`_")
_RST_TARGET = re.compile(r"^\s*+\.\.[ \t]++_[^:\n]{1,200}:[ \t]++(\S{1,500})")
_RST_DIRECTIVE = re.compile(r"^\s*+\.\.[ \t]++([a-z:]{1,40})::[ \t]++(\S{1,500})")
_RST_FILES = {"include", "literalinclude", "image", "figure"}
_HTML_TARGETS = {"a": "href", "img": "src", "script": "src", "link": "href", "iframe": "src"}
_HTML_CODE = {"code", "tt", "kbd"}


class Mentions:
    """What a document mentions, in reading order, without repetition. `endings` are the known file
    endings."""

    def __init__(self, endings: Collection[str]) -> None:
        self._endings = endings
        self._lines: dict[tuple[str, ...], int] = {}

    @property
    def is_full(self) -> bool:
        return len(self._lines) >= MAX_MENTIONS

    def add_target(self, line: int, link: str) -> None:
        """Add the target of a link, unless it has a scheme or stays in the document."""
        path = unquote(_PLACE.sub("", link.strip()[:500])).strip()
        if path and not _SCHEME.match(link.strip()) and "\0" not in path:
            self._add(line, (path if "/" in path or self.has_ending(path) else f"./{path}",))

    def add_code(self, line: int, text: str) -> None:
        """Add a code span if it is a path or a symbol."""
        text = text.strip()
        if not text or len(text) > MAX_SPAN:
            return
        path = _PLACE.sub("", text)
        if _PATH.fullmatch(path) and ("/" in path.strip("/") or self.has_ending(path)):
            self._add(line, (path,))
        elif symbol := _symbol(text):
            self._add(line, symbol)

    def has_ending(self, path: str) -> bool:
        ending = _ENDING.search(path)
        return ending is not None and ending.group(1).lower() in self._endings

    def _add(self, line: int, path: tuple[str, ...]) -> None:
        if not self.is_full:
            self._lines.setdefault(path, line)

    def outline(self, language: str) -> Outline:
        references = (Mention(0, "references", path, line) for path, line in self._lines.items())
        return Outline(language, mentions=tuple(references))


def _symbol(text: str) -> tuple[str, ...]:
    match = _SYMBOL.fullmatch(text)
    if match is None:
        return ()
    parts = tuple(_SEPARATOR.split(match.group(1)))
    if len(parts) == 1 and match.group(2) is None:
        word = parts[0]
        like_code = _CODE_WORD.fullmatch(word) and not word.endswith("__")
        return parts if like_code and word not in _NOT_SYMBOLS else ()
    return parts


def markdown_outline(blocks: Iterable[Block], endings: Collection[str]) -> Outline:
    mentions = Mentions(endings)
    for line, text in _prose(blocks, mentions):
        if not _MARKS.search(text):
            continue
        for match in _SPAN.finditer(text):
            mentions.add_code(line, match.group(2))
        rest = _SPAN.sub(" ", text)
        for pattern in _MARKDOWN_TARGETS:
            for match in pattern.finditer(rest):
                mentions.add_target(line, match.group(1))
    return mentions.outline("markdown")


def _prose(blocks: Iterable[Block], mentions: Mentions) -> Iterable[tuple[int, str]]:
    """The lines that are not code, with their numbers, until the limit of mentions is reached."""
    for block in blocks:
        if block.kind != "code":
            for row, text in enumerate(block.text.split("\n")):
                if mentions.is_full:
                    return
                yield block.first_line + row, text


def rst_outline(blocks: Sequence[Block], endings: Collection[str]) -> Outline:
    mentions = Mentions(endings)
    for line, text in _prose(blocks, mentions):
        for pattern in (_RST_LINK, _RST_TARGET):
            for match in pattern.finditer(text):
                mentions.add_target(line, match.group(1))
        for match in _RST_LITERAL.finditer(text):
            mentions.add_code(line, match.group(1))
        for match in _RST_ROLE.finditer(text):
            _rst_role(mentions, line, *match.groups())
    for block in blocks:
        if directive := _RST_DIRECTIVE.match(block.text[:1000]):
            _rst_directive(mentions, block.first_line, *directive.groups())
    return mentions.outline("rst")


def _rst_role(mentions: Mentions, line: int, role: str, text: str) -> None:
    """`:doc:` names a document, the roles of a language name a symbol. A title may come before the name."""
    name = text.rpartition("<")[2].rstrip("> ") if text.endswith(">") else text
    kind = role.rpartition(":")[2]
    if kind in ("doc", "download"):
        mentions.add_target(line, name if mentions.has_ending(name) else f"{name}.rst")
    elif kind not in ("ref", "term", "pep", "rfc", "math", "option", "envvar"):
        mentions.add_code(line, name)


def _rst_directive(mentions: Mentions, line: int, name: str, argument: str) -> None:
    kind = name.rpartition(":")[2]
    if kind in _RST_FILES:
        mentions.add_target(line, argument)
    elif kind.startswith("auto"):
        mentions.add_code(line, f"{argument.partition('(')[0]}()")


class HtmlMentions(Mentions):
    """The mentions in a stream of HTML tokens."""

    def __init__(self, endings: Collection[str]) -> None:
        super().__init__(endings)
        self._code: list[str] | None = None
        self._in_pre = False

    def read(self, token: HtmlToken) -> None:
        if not token.name:
            if self._code is not None and len(self._code) < 20:
                self._code.append(unescape_text(token.text[: MAX_SPAN + 1]))
        elif token.name in _HTML_TARGETS:
            if not self.is_full:
                self.add_target(token.line, token.attributes().get(_HTML_TARGETS[token.name], ""))
        elif token.name.lstrip("/") == "pre":
            self._in_pre = token.name == "pre"
        elif token.name in _HTML_CODE:
            self._code = [] if not self._in_pre else None
        elif token.name[1:] in _HTML_CODE and self._code is not None:
            self.add_code(token.line, "".join(self._code))
            self._code = None
