"""A collection with judgements in the BEIR layout: corpus.jsonl, queries.jsonl, qrels/SPLIT.tsv or qrels.tsv.

Without corpus.jsonl the judgements name files or chunks of an index.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from quintet.errors import NotFound, UsageError
from quintet.evaluation.metrics import Grades, has_relevant
from quintet.evaluation.untrusted_lines import MalformedLine, checked_id, line_error, numbered_lines
from quintet.model.results import Note

CORPUS, QUERIES = "corpus.jsonl", "queries.jsonl"
MOST_DOCUMENTS = 10_000_000
MOST_QUERIES = 1_000_000
MOST_JUDGEMENTS = 10_000_000
GRADE = re.compile(r"[+-]?[0-9]{1,4}")
SPLIT = re.compile(r"[\w.-]{1,100}")


class CorpusDocument(NamedTuple):
    """A document of a corpus."""

    id: str
    title: str
    text: str


class Group(NamedTuple):
    """Queries of one kind, and how many of that kind there could have been."""

    queries: tuple[str, ...]
    possible: int


@dataclass(frozen=True, slots=True)
class JudgedQueries:
    """Queries with at least one relevant item, in the order of their ids, and the grades of each.

    `groups` divides them by kind, if there are several. `missing` are judged items that cannot be found.
    """

    name: str
    queries: Mapping[str, str]
    grades: Mapping[str, Grades]
    notes: tuple[Note, ...] = ()
    groups: Mapping[str, Group] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()

    def items(self) -> list[str]:
        """Everything that is judged."""
        return sorted({item for grades in self.grades.values() for item in grades})

    def note_missing(self, missing: Collection[str], place: str) -> "JudgedQueries":
        """Add a note about the items that are not in the index or corpus."""
        if not missing:
            return self
        count, example = len(self.items()), [min(missing)]
        message = f"{len(missing)} of {count} judged items are not in the {place}, such as {example}"
        notes = (*self.notes, Note(code="not_in_index", message=message))
        return replace(self, notes=notes, missing=frozenset(missing))

    def answerable(self) -> int:
        """How many queries have a relevant item that can be found."""
        present = (
            {item: grade for item, grade in grades.items() if item not in self.missing}
            for grades in self.grades.values()
        )
        return sum(map(has_relevant, present))


def has_corpus(folder: Path) -> bool:
    return (folder / CORPUS).is_file()


def corpus_documents(folder: Path) -> Iterator[CorpusDocument]:
    """The documents of the corpus. A repeated id is an error."""
    file, seen = folder / CORPUS, set[str]()
    for number, line in numbered_lines(file, MOST_DOCUMENTS):
        try:
            record = _record(line)
            id = checked_id("_id", record.get("_id"))
            document = CorpusDocument(id, _text(record, "title"), _text(record, "text"))
        except MalformedLine as error:
            raise line_error(file, number, str(error)) from None
        if id in seen:
            raise line_error(file, number, f"repeats the _id {id!r}; each id may occur only once")
        seen.add(id)
        yield document


def check_against_corpus(queries: JudgedQueries, folder: Path) -> JudgedQueries:
    """Add a note about judged documents that the corpus does not hold."""
    missing = set(queries.items())
    for document in corpus_documents(folder):
        missing.discard(document.id)
    return queries.note_missing(missing, "corpus")


def read_judged_queries(folder: Path, split: str = "test") -> JudgedQueries:
    """Queries and judgements. Queries without a relevant item are left out, with a note."""
    if not folder.is_dir():
        raise NotFound(f"there is no folder {folder}; name one that holds {QUERIES} and qrels")
    grades = _judgements(_qrels(folder, split))
    queries = _queries(folder / QUERIES)
    unknown = sorted(grades.keys() - queries.keys())
    if unknown:
        raise UsageError(f"query {unknown[0]!r} is judged, but it is not in {folder / QUERIES}; add its text")
    usable = sorted(query for query, judged in grades.items() if has_relevant(judged))
    if not usable:
        raise UsageError(f"no query of {folder} has a relevant document; a grade above 0 marks one")
    left_out = len(grades) - len(usable)
    message = f"{left_out} of {len(grades)} judged queries have no relevant document and are left out"
    notes: tuple[Note, ...] = ({"code": "queries_left_out", "message": message},) if left_out else ()
    chosen = {query: queries[query] for query in usable}
    return JudgedQueries(_name(folder), chosen, {query: grades[query] for query in usable}, notes)


def _name(folder: Path) -> str:
    return folder.resolve().name.encode("utf-8", "replace").decode() or "collection"


def _qrels(folder: Path, split: str) -> Path:
    if not SPLIT.fullmatch(split):
        raise UsageError(f"the split is {split[:80]!r}; it must be the name of a file in qrels, without .tsv")
    choices = (folder / "qrels" / f"{split}.tsv", folder / "qrels.tsv")
    for file in choices:
        if file.is_file():
            return file
    splits = ", ".join(sorted(file.stem for file in (folder / "qrels").glob("*.tsv"))[:20])
    hint = (
        f"the splits there are: {splits}" if splits else "lines are: query id, tab, document id, tab, grade"
    )
    raise NotFound(f"there is no {choices[0]} and no {choices[1]}; {hint}", code="document_not_found")


def _queries(file: Path) -> dict[str, str]:
    queries: dict[str, str] = {}
    for number, line in numbered_lines(file, MOST_QUERIES):
        try:
            record = _record(line)
            query, text = checked_id("_id", record.get("_id")), _text(record, "text")
        except MalformedLine as error:
            raise line_error(file, number, str(error)) from None
        if query in queries:
            raise line_error(file, number, f"repeats the _id {query!r}; each id may occur only once")
        if not text.strip():
            raise line_error(file, number, "has no text; a query must contain at least one word")
        queries[query] = text
    return queries


def _judgements(file: Path) -> dict[str, dict[str, int]]:
    """Lines of query id, item, grade. The first line is a heading if its last cell is not a number."""
    grades: dict[str, dict[str, int]] = {}
    for number, line in numbered_lines(file, MOST_JUDGEMENTS):
        cells = line.split("\t")
        try:
            if len(cells) != 3:
                raise MalformedLine(
                    f"has {len(cells)} cells; it must be query id, tab, document id, tab, grade"
                )
            if number == 1 and re.search("[A-Za-z]", cells[2]):
                continue
            query, item = checked_id("query id", cells[0]), checked_id("document id", cells[1])
            if not GRADE.fullmatch(cells[2].strip()):
                raise MalformedLine(
                    f"has the grade {cells[2][:80]!r}; it must be a whole number, above 0 if relevant"
                )
        except MalformedLine as error:
            raise line_error(file, number, str(error)) from None
        grade = int(cells[2])
        if grades.setdefault(query, {}).setdefault(item, grade) != grade:
            raise line_error(file, number, f"judges {item!r} for {query!r} a second time, and differently")
    return grades


def _record(line: str) -> Mapping[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise MalformedLine(f"is not JSON: {str(error)[:200]}") from None
    if not isinstance(record, dict):
        raise MalformedLine('is not an object; it must be like {"_id": "1", "text": "..."}')
    return record


def _text(record: Mapping[str, Any], field: str) -> str:
    """A field that may be missing: a document need not have a title."""
    value = record.get(field)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise MalformedLine(f"has a {field} that is not text: {str(value)[:80]!r}")
    return value.encode("utf-8", "replace").decode()  # lone surrogates can be neither stored nor shown
