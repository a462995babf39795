"""Runs as TREC writes them: `query Q0 item rank score tag`, one result a line, parted by white space."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

import numpy as np

from quintet.errors import UsageError
from quintet.evaluation.lines import Broken, checked_id, complaint, numbered

MOST_RESULTS = 20_000_000
COLUMNS = "query Q0 item rank score tag"

Rankings = Mapping[str, Sequence[str]]
"""Items by query, best first."""


@dataclass(frozen=True, slots=True)
class RunFile:
    tag: str
    rankings: Rankings


def run_lines(results: Mapping[str, Sequence[tuple[str, float]]], tag: str) -> Iterator[str]:
    """The lines of a run, without line ends. `results` are items with their scores, best first.

    Tools sort by score, as 32-bit numbers, and break ties in their own ways. So a score that does not lie
    below the one before is written as the next smaller number: what is read back is our order.
    """
    for query, items in results.items():
        last = np.float32(np.inf)
        for rank, (item, score) in enumerate(items, start=1):
            last = min(np.float32(score), np.nextafter(last, np.float32(-np.inf)))
            yield f"{_word(query)} Q0 {_word(item)} {rank} {float(last)!r} {_word(tag)}"


def _word(text: str) -> str:
    if len(text.split()) != 1 or text.split()[0] != text:
        raise UsageError(f"{text!r} holds white space, which a TREC run cannot; rename it in the collection")
    return text


def read_run(file: Path) -> RunFile:
    """A run of anybody's: by score, highest first; equal scores go by rank, then as they stand."""
    placed: dict[str, list[tuple[float, int, str]]] = {}
    tag = ""
    for number, line in numbered(file, MOST_RESULTS):
        try:
            query, item, rank, score, tag = _result(line)
        except Broken as error:
            raise complaint(file, number, str(error)) from None
        placed.setdefault(query, []).append((-score, rank, item))
    if not placed:
        raise UsageError(f"{file} holds no results; its lines must be: {COLUMNS}")
    ordered = {query: [item for *_, item in sorted(rows, key=_place)] for query, rows in placed.items()}
    for query, items in ordered.items():
        _refuse_repeats(file, query, items)
    return RunFile(tag, ordered)


def _place(row: tuple[float, int, str]) -> tuple[float, int]:
    return row[:2]


def _result(line: str) -> tuple[str, str, int, float, str]:
    cells = line.split()
    if len(cells) != 6:
        raise Broken(f"has {len(cells)} cells; it must be: {COLUMNS}")
    try:
        rank, score = int(cells[3]), float(cells[4])
    except ValueError:
        raise Broken(
            f"has rank {cells[3][:40]!r} and score {cells[4][:40]!r}; both must be numbers"
        ) from None
    if not isfinite(score):
        raise Broken(f"has the score {cells[4][:40]!r}; it must be finite")
    return checked_id("query id", cells[0]), checked_id("item", cells[2]), rank, score, cells[5][:100]


def _refuse_repeats(file: Path, query: str, items: Iterable[str]) -> None:
    seen: set[str] = set()
    for item in items:
        if item in seen:
            raise UsageError(
                f"{file} names {item!r} twice for query {query!r}; each result may be there once"
            )
        seen.add(item)
