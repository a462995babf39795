"""What a memory is about, as it is on disk: recorded when it is remembered, compared when it is recalled."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from quintet.ingest.read import Unreadable, read
from quintet.memo import About, AboutState

COMPARED_CHARS = 20_000_000  # hashed in search of lines that moved; 50 lines in a file of 10,000 take 20 ms


@dataclass(frozen=True, slots=True)
class Seen:
    """A file as it is now. Without a digest it could not be read, without lines it is no text."""

    sha256: str
    lines: list[str]


class Subjects:
    """Looks at files inside the indexed folders, each at most once. `locations` are root name to folder."""

    def __init__(self, locations: Mapping[str, str], max_bytes: int) -> None:
        folders = {name: Path(location) for name, location in locations.items()}
        self._locations = {name: folder for name, folder in folders.items() if folder.is_dir()}
        self._max_bytes = max_bytes
        self._seen: dict[tuple[str, str], Seen | None] = {}

    def recorded(self, about: About) -> About:
        """With the digest of what is there now, if anything is."""
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
        if any(_digest(lines) == about.digest for lines in _windows(content.lines, *about.lines)):
            return "unchanged"
        return "changed" if about.symbol is None or _named(about.symbol, content.lines) else "gone"

    def _content(self, about: About) -> "Seen | None":
        if about.root is None or about.path is None or about.root not in self._locations:
            return None
        key = about.root, about.path
        if key not in self._seen:
            self._seen[key] = self._read(self._locations[about.root], about.path)
        return self._seen[key]

    def _read(self, folder: Path, path: str) -> "Seen | None":
        try:
            place = (folder / path).resolve(strict=True)
            if not place.is_relative_to(folder.resolve()):  # a link, or a path that an import made up
                return None
        except (OSError, RuntimeError, ValueError):
            return None
        try:
            content = read(place, self._max_bytes)
        except Unreadable:  # too large, or no longer a file
            return Seen("", [])
        try:
            return Seen(content.sha256, content.text.split("\n"))
        except Unreadable:  # no text
            return Seen(content.sha256, [])


def _digest(lines: list[str]) -> str:
    return sha256("\n".join(lines).encode("utf-8", "replace")).hexdigest()


def _windows(lines: list[str], first: int, last: int) -> Iterator[list[str]]:
    """Where the lines may stand now: where they stood, then anywhere, as long as that is worth it."""
    count = last - first + 1
    yield lines[first - 1 : last]
    if sum(map(len, lines)) * count <= COMPARED_CHARS:
        yield from (lines[at : at + count] for at in range(len(lines) - count + 1))


def _named(symbol: str, lines: list[str]) -> bool:
    """Whether the name stands somewhere as a word of its own."""
    word = re.compile(rf"(?<!\w){re.escape(_last_name(symbol))}(?!\w)")
    return any(map(word.search, lines))


def _last_name(symbol: str) -> str:
    """
    >>> _last_name("AnswerCache.get"), _last_name("cache::Entry")
    ('get', 'Entry')
    """
    return symbol.replace("::", ".").replace("#", ".").rstrip(".").rpartition(".")[2]
