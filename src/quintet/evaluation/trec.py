"""Run files in the TREC format: `query Q0 item rank score tag`, one result a line, separated by spaces."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

import numpy as np

from quintet.errors import UsageError
from quintet.evaluation.untrusted_lines import MalformedLine, checked_id, line_error, numbered_lines

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

    Tools sort by score, as 32-bit numbers, and break ties in different ways. So a score that is not below
    the one before it is written as the next smaller number: every tool then reads our order.
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
    """The run of any tool: by score, highest first; equal scores by rank, then in the order of the file."""
    rows_of: dict[str, list[tuple[float, int, str]]] = {}
    tag = ""
    for number, line in numbered_lines(file, MOST_RESULTS):
        try:
            query, item, rank, score, tag = _result(line)
        except MalformedLine as error:
            raise line_error(file, number, str(error)) from None
        rows_of.setdefault(query, []).append((-score, rank, item))
    if not rows_of:
        raise UsageError(f"{file} holds no results; its lines must be: {COLUMNS}")
    ordered = {query: [item for *_, item in sorted(rows, key=_order)] for query, rows in rows_of.items()}
    for query, items in ordered.items():
        _refuse_repeats(file, query, items)
    return RunFile(tag, ordered)


def _order(row: tuple[float, int, str]) -> tuple[float, int]:
    return row[:2]


def _result(line: str) -> tuple[str, str, int, float, str]:
    cells = line.split()
    if len(cells) != 6:
        raise MalformedLine(f"has {len(cells)} cells; it must be: {COLUMNS}")
    try:
        rank, score = int(cells[3]), float(cells[4])
    except ValueError:
        raise MalformedLine(
            f"has rank {cells[3][:40]!r} and score {cells[4][:40]!r}; both must be numbers"
        ) from None
    if not isfinite(score):
        raise MalformedLine(f"has the score {cells[4][:40]!r}; it must be finite")
    return checked_id("query id", cells[0]), checked_id("item", cells[2]), rank, score, cells[5][:100]


def _refuse_repeats(file: Path, query: str, items: Iterable[str]) -> None:
    seen: set[str] = set()
    for item in items:
        if item in seen:
            raise UsageError(
                f"{file} names {item!r} twice for query {query!r}; each result may occur only once"
            )
        seen.add(item)
