"""EPUB: the chapters in reading order, each through the HTML parser. A block's line is one of its chapter's
file. Only the standard library is needed, and no XML parser that could be told to expand entities.
"""

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import unquote
from zipfile import ZipFile

from quintet.formats.archive import open_archive
from quintet.formats.blocks import Block, ParsedFile
from quintet.formats.decoding import UnreadableFile, decode_text
from quintet.formats.html import parse_html
from quintet.formats.html_tags import HtmlTokens, unescape_text
from quintet.formats.lines import normalise_newlines, stem
from quintet.model.documents import Json

MAX_CHAPTERS = 10_000
PAGES = {"application/xhtml+xml", "text/html"}


@dataclass(slots=True)
class _Package:
    """What the package file says: every file by id, the order of reading, and what the book is called."""

    files: dict[str, str] = field(default_factory=dict)
    spine: list[str] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)


def parse_epub(path: str, data: bytes, mime_type: str) -> ParsedFile:
    with open_archive(data) as archive:
        where = _package_path(archive)
        package = _package(_read(archive, where))
        chapters = [
            posixpath.normpath(posixpath.join(posixpath.dirname(where), href)) for href in _hrefs(package)
        ]
        _check_readable(archive, chapters)
        title = package.facts.get("title", "")
        blocks = tuple(block for chapter in chapters for block in _chapter(archive, chapter, title))
    author = package.facts.get("creator", "")
    metadata: dict[str, Json] = {"author": author} if author else {}
    return ParsedFile(title or stem(path), mime_type, None, blocks, metadata)


def _read(archive: ZipFile, name: str) -> str:
    try:
        return normalise_newlines(decode_text(archive.read(name)))
    except KeyError as error:
        raise UnreadableFile(f"damaged: it has no part {name[:200]!r}") from error


def _package_path(archive: ZipFile) -> str:
    for event in HtmlTokens(_read(archive, "META-INF/container.xml")):
        if event.name == "rootfile" and event.attributes().get("full-path"):
            return event.attributes()["full-path"]
    raise UnreadableFile("damaged: its container names no package")


def _package(text: str) -> _Package:
    package = _Package()
    within = ""
    for event in HtmlTokens(text):
        name = event.name.rpartition(":")[2]
        if name == "item":
            attributes = event.attributes()
            if attributes.get("media-type") in PAGES:
                package.files[attributes.get("id", "")] = attributes.get("href", "")
        elif name == "itemref":
            package.spine.append(event.attributes().get("idref", ""))
        elif name in ("title", "creator"):
            within = "" if event.name.startswith("/") else name
        elif not event.name and within:
            package.facts.setdefault(within, " ".join(unescape_text(event.text).split()))
    return package


def _hrefs(package: _Package) -> list[str]:
    if len(package.spine) > MAX_CHAPTERS:
        raise UnreadableFile(f"has {len(package.spine)} chapters; the most is {MAX_CHAPTERS}")
    listed = dict.fromkeys(one for one in package.spine if one in package.files)
    return [unquote(package.files[one]) for one in listed]


def _check_readable(archive: ZipFile, chapters: list[str]) -> None:
    """Fonts are often scrambled, chapters only by copy protection."""
    if "META-INF/encryption.xml" not in archive.namelist():
        return
    for event in HtmlTokens(_read(archive, "META-INF/encryption.xml")):
        scrambled = unquote(event.attributes().get("uri", ""))
        if event.name.endswith("cipherreference") and scrambled in chapters:
            raise UnreadableFile("encrypted: its chapters are protected against copying")


def _chapter(archive: ZipFile, name: str, book: str) -> Iterator[Block]:
    """A chapter's blocks; where it has no headings, its own title is what it is called."""
    parsed = parse_html(name, _read(archive, name), "text/html", ())
    named = parsed.title not in ("", book, stem(name))
    path = (parsed.title,) if named and not any(block.heading for block in parsed.blocks) else ()
    for block in parsed.blocks:
        yield block._replace(heading_path=(*path, *block.heading_path))
