"""HTML: the visible text, block by block. No tree is built, so any depth of nesting is fine."""

from collections.abc import Collection

from quintet.formats.blocks import Block, ParsedFile
from quintet.formats.headings import HeadingPath, first_heading
from quintet.formats.html_tags import HtmlToken, HtmlTokens, unescape_text
from quintet.formats.lines import one_line, stem
from quintet.formats.mentions import HtmlMentions
from quintet.model.documents import Json

_HIDDEN = {"script", "style", "template", "noscript"}
# What leads around a site instead of saying something: elements, roles (ARIA) and the classes that Sphinx,
# MkDocs and similar tools give to navigation and contents lists.
_NAVIGATION = {"nav", "footer"}
_NAVIGATION_ROLES = {"navigation", "contentinfo", "search"}
_NAVIGATION_CLASSES = {"toc", "contents", "toctree-wrapper", "breadcrumbs", "headerlink", "sphinxsidebar"}
_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
_ANCHORS = {"¶", "\uf0c1"}  # links that headings have to themselves
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_TIGHT = {"li", "tr", "dt", "dd"}
_CELLS = {"td", "th"}
_BLOCK_NAMES = """
    p div blockquote ul ol dl table section article header footer main nav aside figure figcaption
    form fieldset hr address body html caption thead tbody tfoot details summary option legend pre
"""
_BREAKS = {*_BLOCK_NAMES.split(), *_TIGHT, *_HEADINGS}
_INSIDE_ROW = {"p", "div", "blockquote"}  # in a table cell these separate words, not rows
_META = {"description", "keywords", "author"}


def parse_html(path: str, text: str, mime_type: str, endings: Collection[str]) -> ParsedFile:
    reader, mentions = _read(text, skip_navigation=True), HtmlMentions(endings)
    if reader.hidden or not reader.blocks:  # it was never closed, or there is nothing else
        reader = _read(text, skip_navigation=False)
    for token in HtmlTokens(text):
        mentions.read(token)
    title = one_line("".join(reader.title)) or first_heading(reader.blocks) or stem(path)
    outline = mentions.outline("html")
    return ParsedFile(title, mime_type, None, tuple(reader.blocks), reader.metadata, outline)


def _read(text: str, *, skip_navigation: bool) -> "_HtmlReader":
    reader = _HtmlReader(skip_navigation)
    for token in HtmlTokens(text):
        reader.read(token)
    reader.flush()
    return reader


class _HtmlReader:
    """Collects blocks, title and metadata from a stream of tokens."""

    def __init__(self, skip_navigation: bool) -> None:
        self.skip_navigation = skip_navigation
        self.blocks: list[Block] = []
        self.metadata: dict[str, Json] = {}
        self.title: list[str] = []
        self.headings = HeadingPath()
        self.words: list[str] = []
        self.lines = (0, 0)
        self.hidden = ""  # the hidden element around, and how deep it is nested in itself
        self.depth = 0
        self.in_title = self.has_title = self.in_head = False
        self.block = ""  # the block element that text belongs to
        self.tight_before = False

    def read(self, token: HtmlToken) -> None:
        if self.hidden:
            self._stay_hidden(token.name)
        elif not token.name:
            self._text(token)
        elif token.name.startswith("/"):
            self._end(token.name[1:])
        else:
            self._start(token)

    def _stay_hidden(self, name: str) -> None:
        self.depth += (name == self.hidden) - (name == f"/{self.hidden}")
        if self.depth == 0 or name == "body":
            self.hidden = ""

    def _text(self, token: HtmlToken) -> None:
        text = unescape_text(token.text)
        if self.in_title:
            self.title.append(text)
            return
        if self.in_head or (not text.strip() and not self.words) or text.strip() in _ANCHORS:
            return
        if text.strip():
            lead = len(token.text) - len(token.text.lstrip())
            first = token.line + token.text.count("\n", 0, lead)
            self.lines = (self.lines[0] or first, token.line + token.text.rstrip().count("\n"))
        self.words.append(text if self.block == "pre" else one_line(f".{text}.")[1:-1])  # keep outer spaces

    def _start(self, token: HtmlToken) -> None:
        name = token.name
        self.in_title = self.in_title and name not in _BREAKS
        if name in _HIDDEN or (self.skip_navigation and _is_navigation(token)):
            if name in _BREAKS:
                self.flush()
            self.hidden, self.depth = name, 1
        elif name == "title":
            self.in_title = not self.has_title
            self.has_title = True
        elif name == "head":
            self.in_head = True
        elif name == "meta":
            self._meta(token.attributes())
        elif name == "br":
            self.words.append("\n")
        elif self.block != "pre":
            self._open(name)

    def _open(self, name: str) -> None:
        if name in _CELLS and self.block == "tr":
            self.words.append(" | " if self.lines[0] else "")
        elif name in _INSIDE_ROW and self.block == "tr":
            self.words.append(" ")
        elif name in _BREAKS:
            self.in_head = False
            self.flush()
            if not (self.block in _HEADINGS and name not in _HEADINGS):
                self.block = name

    def _end(self, name: str) -> None:
        if name == "title":
            self.in_title = False
        elif name == "head":
            self.in_head = False
        elif self.block == "pre" or (self.block == "tr" and name in _INSIDE_ROW):
            if name == "pre":
                self._close()
        elif name == self.block or (name in _BREAKS and self.block not in _HEADINGS):
            self._close()

    def _close(self) -> None:
        self.flush()
        self.block = ""

    def _meta(self, attributes: dict[str, str]) -> None:
        name, content = attributes.get("name", "").lower(), attributes.get("content", "").strip()
        if name in _META and content:
            self.metadata.setdefault(name, content)

    def flush(self) -> None:
        """End the open block, if it has text."""
        joined = "".join(self.words)
        if self.block == "pre":
            text = joined.strip("\n").rstrip()
        else:
            text = "\n".join(filter(None, (one_line(line) for line in joined.split("\n"))))
        (first, last), self.words, self.lines = self.lines, [], (0, 0)
        if not text.strip():
            return
        level = _HEADINGS.get(self.block, 0)
        if level:
            self.headings.enter(level, one_line(text))
        path = self.headings.texts
        tight = self.block in _TIGHT and self.tight_before
        kind = "code" if self.block == "pre" else "text"
        self.blocks.append(Block(text, first, last, path, kind, tight=tight, heading=bool(level)))
        self.tight_before = self.block in _TIGHT


def _is_navigation(token: HtmlToken) -> bool:
    if token.name in _NAVIGATION:
        return True
    if token.name in _VOID or ("role" not in token.text and "class" not in token.text):
        return False
    attributes = token.attributes()
    classes = attributes.get("class", "").lower().split()
    return attributes.get("role", "").lower() in _NAVIGATION_ROLES or not _NAVIGATION_CLASSES.isdisjoint(
        classes
    )
