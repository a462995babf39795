"""A collection with judgements in the BEIR layout: corpus.jsonl, queries.jsonl, qrels/SPLIT.tsv or qrels.tsv.

Without corpus.jsonl the judgements are about the files of an index.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from quintet.errors import NotFound, UsageError
from quintet.evaluation.lines import Broken, checked_id, complaint, numbered
from quintet.evaluation.metrics import Grades, is_relevant
from quintet.model.results import Note

CORPUS, QUERIES = "corpus.jsonl", "queries.jsonl"
MOST_DOCUMENTS = 10_000_000
MOST_QUERIES = 1_000_000
MOST_JUDGEMENTS = 10_000_000
GRADE = re.compile(r"[+-]?[0-9]{1,4}")
SPLIT = re.compile(r"[\w.-]{1,100}")


@dataclass(frozen=True, slots=True)
class Text:
    """A document of a corpus."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Group:
    """Queries of one kind, and how many of that kind there could have been."""

    queries: tuple[str, ...]
    possible: int


@dataclass(frozen=True, slots=True)
class Judged:
    """Queries with something to find, in the order of their ids, and what is relevant to each.

    Where they are of several kinds, `groups` says which is which. `missing` are judged items that are not
    in what is searched.
    """

    name: str
    queries: Mapping[str, str]
    grades: Mapping[str, Grades]
    notes: tuple[Note, ...] = ()
    groups: Mapping[str, Group] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()

    def items(self) -> list[str]:
        """All that is judged."""
        return sorted({item for its in self.grades.values() for item in its})

    def without(self, missing: Collection[str], place: str) -> "Judged":
        """With a note about the items that are not in that place."""
        if not missing:
            return self
        count, such = len(self.items()), [min(missing)]
        message = f"{len(missing)} of {count} judged items are not in the {place}, such as {such}"
        notes = (*self.notes, Note(code="not_in_index", message=message))
        return replace(self, notes=notes, missing=frozenset(missing))

    def answerable(self) -> int:
        """How many queries have something to find in what is searched."""
        there = (
            {item: grade for item, grade in its.items() if item not in self.missing}
            for its in self.grades.values()
        )
        return sum(map(is_relevant, there))


def has_corpus(folder: Path) -> bool:
    return (folder / CORPUS).is_file()


def documents(folder: Path) -> Iterator[Text]:
    """The corpus, one document at a time. An id that is there twice is refused."""
    file, seen = folder / CORPUS, set[str]()
    for number, line in numbered(file, MOST_DOCUMENTS):
        try:
            record = _record(line)
            one = Text(checked_id("_id", record.get("_id")), _text(record, "title"), _text(record, "text"))
        except Broken as error:
            raise complaint(file, number, str(error)) from None
        if one.id in seen:
            raise complaint(file, number, f"repeats the _id {one.id!r}; an id must be there once")
        seen.add(one.id)
        yield one


def in_corpus(topics: Judged, folder: Path) -> Judged:
    """With a note about judged documents that the corpus does not hold."""
    missing = set(topics.items())
    for one in documents(folder):
        missing.discard(one.id)
    return topics.without(missing, "corpus")


def judged(folder: Path, split: str = "test") -> Judged:
    """Queries and judgements. Queries without anything relevant are left out, with a note."""
    if not folder.is_dir():
        raise NotFound(f"there is no folder {folder}; name one that holds {QUERIES} and qrels")
    grades = _judgements(_qrels(folder, split))
    queries = _queries(folder / QUERIES)
    unknown = sorted(grades.keys() - queries.keys())
    if unknown:
        raise UsageError(f"query {unknown[0]!r} is judged, but it is not in {folder / QUERIES}; add its text")
    found = sorted(query for query, its in grades.items() if is_relevant(its))
    if not found:
        raise UsageError(f"no query of {folder} has a relevant document; a grade above 0 marks one")
    left = len(grades) - len(found)
    message = f"{left} of {len(grades)} judged queries have nothing relevant and are left out"
    notes: tuple[Note, ...] = ({"code": "queries_left_out", "message": message},) if left else ()
    chosen = {query: queries[query] for query in found}
    return Judged(_name(folder), chosen, {query: grades[query] for query in found}, notes)


def _name(folder: Path) -> str:
    return folder.resolve().name.encode("utf-8", "replace").decode() or "collection"


def _qrels(folder: Path, split: str) -> Path:
    if not SPLIT.fullmatch(split):
        raise UsageError(f"the split is {split[:80]!r}; it must be the name of a file in qrels, without .tsv")
    choices = (folder / "qrels" / f"{split}.tsv", folder / "qrels.tsv")
    for file in choices:
        if file.is_file():
            return file
    there = ", ".join(sorted(one.stem for one in (folder / "qrels").glob("*.tsv"))[:20])
    hint = f"the splits there are: {there}" if there else "lines are: query id, tab, document id, tab, grade"
    raise NotFound(f"there is no {choices[0]} and no {choices[1]}; {hint}", code="document_not_found")


def _queries(file: Path) -> dict[str, str]:
    queries: dict[str, str] = {}
    for number, line in numbered(file, MOST_QUERIES):
        try:
            record = _record(line)
            query, text = checked_id("_id", record.get("_id")), _text(record, "text")
        except Broken as error:
            raise complaint(file, number, str(error)) from None
        if query in queries:
            raise complaint(file, number, f"repeats the _id {query!r}; an id must be there once")
        if not text.strip():
            raise complaint(file, number, "has no text; a query must hold at least one word")
        queries[query] = text
    return queries


def _judgements(file: Path) -> dict[str, dict[str, int]]:
    """Lines of query id, item, grade. A heading line is known by a last cell that is no number."""
    found: dict[str, dict[str, int]] = {}
    for number, line in numbered(file, MOST_JUDGEMENTS):
        cells = line.split("\t")
        try:
            if len(cells) != 3:
                raise Broken(f"has {len(cells)} cells; it must be query id, tab, document id, tab, grade")
            if number == 1 and re.search("[A-Za-z]", cells[2]):
                continue
            query, item = checked_id("query id", cells[0]), checked_id("document id", cells[1])
            if not GRADE.fullmatch(cells[2].strip()):
                raise Broken(
                    f"has the grade {cells[2][:80]!r}; it must be a whole number, above 0 if relevant"
                )
        except Broken as error:
            raise complaint(file, number, str(error)) from None
        grade = int(cells[2])
        if found.setdefault(query, {}).setdefault(item, grade) != grade:
            raise complaint(file, number, f"judges {item!r} for {query!r} a second time, and differently")
    return found


def _record(line: str) -> Mapping[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Broken(f"is not JSON: {str(error)[:200]}") from None
    if not isinstance(record, dict):
        raise Broken('is not an object; it must be like {"_id": "1", "text": "..."}')
    return record


def _text(record: Mapping[str, Any], field: str) -> str:
    """A field that may be missing: an abstract without a title is still a document."""
    value = record.get(field)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Broken(f"has a {field} that is not text: {str(value)[:80]!r}")
    return value.encode("utf-8", "replace").decode()  # lone surrogates can be neither stored nor shown
