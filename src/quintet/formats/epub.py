"""EPUB: the chapters in reading order, each through the HTML parser. The line of a block is a line of its
chapter's file. No XML parser is used, so no file can make one expand entities.
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
from quintet.formats.lines import normalise_newlines, one_line, stem
from quintet.model.documents import Json

MAX_CHAPTERS = 10_000
PAGES = {"application/xhtml+xml", "text/html"}


@dataclass(slots=True)
class _Package:
    """The package file: chapter files by id, the reading order, and title and author."""

    files: dict[str, str] = field(default_factory=dict)
    spine: list[str] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)


def parse_epub(path: str, data: bytes, mime_type: str) -> ParsedFile:
    with open_archive(data) as archive:
        package_path = _package_path(archive)
        package = _parse_package(_read(archive, package_path))
        chapters = [
            posixpath.normpath(posixpath.join(posixpath.dirname(package_path), href))
            for href in _hrefs(package)
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
        raise UnreadableFile(f"damaged: the part {name[:200]!r} is missing") from error


def _package_path(archive: ZipFile) -> str:
    for token in HtmlTokens(_read(archive, "META-INF/container.xml")):
        if token.name == "rootfile" and token.attributes().get("full-path"):
            return token.attributes()["full-path"]
    raise UnreadableFile("damaged: its container names no package")


def _parse_package(text: str) -> _Package:
    package = _Package()
    within = ""
    for token in HtmlTokens(text):
        name = token.name.rpartition(":")[2]
        if name == "item":
            attributes = token.attributes()
            if attributes.get("media-type") in PAGES:
                package.files[attributes.get("id", "")] = attributes.get("href", "")
        elif name == "itemref":
            package.spine.append(token.attributes().get("idref", ""))
        elif name in ("title", "creator"):
            within = "" if token.name.startswith("/") else name
        elif not token.name and within:
            package.facts.setdefault(within, one_line(unescape_text(token.text)))
    return package


def _hrefs(package: _Package) -> list[str]:
    if len(package.spine) > MAX_CHAPTERS:
        raise UnreadableFile(f"has {len(package.spine)} chapters; the limit is {MAX_CHAPTERS}")
    chapters = dict.fromkeys(item for item in package.spine if item in package.files)
    return [unquote(package.files[item]) for item in chapters]


def _check_readable(archive: ZipFile, chapters: list[str]) -> None:
    """Fonts are often encrypted; chapters only by copy protection."""
    if "META-INF/encryption.xml" not in archive.namelist():
        return
    for token in HtmlTokens(_read(archive, "META-INF/encryption.xml")):
        encrypted = unquote(token.attributes().get("uri", ""))
        if token.name.endswith("cipherreference") and encrypted in chapters:
            raise UnreadableFile("encrypted: its chapters are copy-protected")


def _chapter(archive: ZipFile, name: str, book: str) -> Iterator[Block]:
    """The blocks of a chapter. If it has no headings, its title is the heading."""
    parsed = parse_html(name, _read(archive, name), "text/html", ())
    has_title = parsed.title not in ("", book, stem(name))
    path = (parsed.title,) if has_title and not any(block.heading for block in parsed.blocks) else ()
    for block in parsed.blocks:
        yield block._replace(heading_path=(*path, *block.heading_path))
