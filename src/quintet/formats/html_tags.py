"""HTML as a stream of tags and text, in linear time.

The parser of the standard library takes minutes for 600 kB of unclosed tags (measured on Python 3.11.7), so
one page could stop an indexing run. This one reads only what indexing needs.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape

_TAG_END = re.compile(r"""(?:[^"'>]|"[^"]*+"|'[^']*+')*+>""")
_TAG_NAME = re.compile(r"/?[a-zA-Z][^\s/>]*+")
_ATTRIBUTE = re.compile(r"""([^\s=>"'/]++)\s*+(?:=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s>]*+)))?+""")
_RAW = {name: re.compile(f"</{name}(?=[\\s/>])", re.IGNORECASE | re.ASCII) for name in ("script", "style")}


@dataclass(frozen=True, slots=True)
class HtmlToken:
    """Text (`name` is empty), a start tag (`p`) or an end tag (`/p`), with its first line."""

    name: str
    text: str
    line: int

    def attributes(self) -> dict[str, str]:
        matches = _ATTRIBUTE.findall(self.text, len(self.name) + 1)
        return {
            name.lower(): unescape_text(double or single or bare) for name, double, single, bare in matches
        }


def unescape_text(text: str) -> str:
    """`text` with its character references replaced."""
    try:
        return unescape(text)
    except ValueError:  # a numeric reference with more digits than Python converts
        return text


class HtmlTokens:
    """Iterates over the tags and texts of a page."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.line = 1
        self.loose = False  # a quote was never closed: from now on a tag ends at the first `>`

    def __iter__(self) -> Iterator[HtmlToken]:
        while self.at < len(self.text):
            start = self._next_markup()
            if start > self.at:
                yield self._token("", start)
            if start < len(self.text):
                yield from self._markup()

    def _next_markup(self) -> int:
        """The position of the next `<` that opens markup; any other `<` is text."""
        at = self.text.find("<", self.at)
        while at >= 0:
            if self.text[at + 1 : at + 2] in ("!", "?") or _TAG_NAME.match(self.text, at + 1):
                return at
            at = self.text.find("<", at + 1)
        return len(self.text)

    def _token(self, name: str, end: int) -> HtmlToken:
        token = HtmlToken(name, self.text[self.at : end], self.line)
        self.line += token.text.count("\n")
        self.at = end
        return token

    def _markup(self) -> Iterator[HtmlToken]:
        match = _TAG_NAME.match(self.text, self.at + 1)
        end = self._tag_end(self.at + 1) if match else self._comment_end()
        if end < 0:  # it is never closed: the rest is text
            yield self._token("", len(self.text))
        elif match is None:
            self._token("!", end)
        else:
            name = match.group().lower()
            yield self._token(name, end)
            if name in _RAW:
                closing = _RAW[name].search(self.text, self.at)
                self._token("!", closing.start() if closing else len(self.text))

    def _tag_end(self, at: int) -> int:
        if not self.loose:
            match = _TAG_END.match(self.text, at)
            if match:
                return match.end()
            self.loose = True
        return self.text.find(">", at) + 1 or -1

    def _comment_end(self) -> int:
        for opening, closing in (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<", ">")):
            if self.text.startswith(opening, self.at):
                end = self.text.find(closing, self.at + len(opening))
                return end + len(closing) if end >= 0 else -1
        return -1
