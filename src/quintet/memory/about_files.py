"""The files that memories are about: a digest when something is remembered, compared at recall."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from quintet.formats.decoding import UnreadableFile
from quintet.indexing.read import read_file
from quintet.model.memories import About, AboutState

COMPARED_CHARS = 20_000_000  # that a recall hashes to find lines that moved: 20 ms
DIGEST_CHARS = 100  # the fixed cost of a digest, in characters
WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class FileContent:
    """A file as it is now. Its digest is empty if it cannot be read, its lines if it is not text."""

    sha256: str
    lines: list[str]

    @cached_property
    def chars(self) -> int:
        return sum(map(len, self.lines))

    @cached_property
    def words(self) -> set[str]:
        return {word for line in self.lines for word in WORD.findall(line)}

    @cached_property
    def windows(self) -> dict[int, set[str]]:
        """By number of lines: the digests of all runs of that many lines. Filled on demand."""
        return {}


class AboutFiles:
    """The files that memories are about. Each is read at most once. `locations` maps a root to its folder.

    At most `compared_chars` are hashed to find lines that moved. Lines that are not found by then count as
    changed.
    """

    def __init__(
        self, locations: Mapping[str, str], max_bytes: int, compared_chars: int = COMPARED_CHARS
    ) -> None:
        folders = {name: Path(location) for name, location in locations.items()}
        self._locations = {name: folder for name, folder in folders.items() if folder.is_dir()}
        self._max_bytes = max_bytes
        self._chars_left = compared_chars
        self._contents: dict[tuple[str, str], FileContent | None] = {}

    def record(self, about: About) -> About:
        """`about` with the digest of what is there now; None if nothing is."""
        content = self._content(about)
        if content is None:
            return replace(about, digest=None)
        if about.lines is None:
            return replace(about, digest=content.sha256 or None)
        first, last = about.lines
        lines = content.lines[first - 1 : last]
        return replace(about, digest=_digest(lines)) if lines else replace(about, digest=None)

    def state(self, about: About) -> AboutState:
        if about.digest is None or about.root not in self._locations:
            return "unknown"
        content = self._content(about)
        if content is None:
            return "gone"
        if about.lines is None:
            return "unchanged" if content.sha256 == about.digest else "changed"
        first, last = about.lines
        if _digest(content.lines[first - 1 : last]) == about.digest or self._moved(about, content):
            return "unchanged"
        return "changed" if about.symbol is None or _is_named(about.symbol, content.words) else "gone"

    def _moved(self, about: About, content: "FileContent") -> bool:
        """Whether the lines are elsewhere in the file. False once the allowance is used up."""
        assert about.lines is not None
        count = about.lines[1] - about.lines[0] + 1
        if count not in content.windows:
            cost = content.chars * count + DIGEST_CHARS * len(content.lines)
            if cost > self._chars_left:
                return False
            self._chars_left -= cost
            content.windows[count] = _windows(content.lines, count)
        return about.digest in content.windows[count]

    def _content(self, about: About) -> "FileContent | None":
        if about.root is None or about.path is None or about.root not in self._locations:
            return None
        key = about.root, about.path
        if key not in self._contents:
            self._contents[key] = self._read(self._locations[about.root], about.path)
        return self._contents[key]

    def _read(self, folder: Path, path: str) -> "FileContent | None":
        try:
            place = (folder / path).resolve(strict=True)
            if not place.is_relative_to(folder):  # a link, or a path that was imported
                return None
        except (OSError, RuntimeError, ValueError):
            return None
        try:
            content = read_file(place, self._max_bytes)
        except UnreadableFile:  # too large, or not a file any more
            return FileContent("", [])
        try:
            return FileContent(content.sha256, content.text.split("\n"))
        except UnreadableFile:  # not text
            return FileContent(content.sha256, [])


def _digest(lines: list[str]) -> str:
    return sha256("\n".join(lines).encode("utf-8", "replace")).hexdigest()


def _windows(lines: list[str], count: int) -> set[str]:
    return {_digest(lines[at : at + count]) for at in range(len(lines) - count + 1)}


def _is_named(symbol: str, words: set[str]) -> bool:
    """Whether the name of the symbol is among the words. Of `empty?`, only `empty` is a word."""
    return words.issuperset(WORD.findall(_last_name(symbol)))


def _last_name(symbol: str) -> str:
    """
    >>> _last_name("AnswerCache.get"), _last_name("cache::Entry")
    ('get', 'Entry')
    """
    return symbol.replace("::", ".").replace("#", ".").rstrip(".").rpartition(".")[2]
