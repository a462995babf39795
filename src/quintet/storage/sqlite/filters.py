"""Filters as SQL: what each field compares, and how conditions combine.

A condition that looks only at the document is decided once for each document, however many chunks it has.
Values are always bound, never written into a statement.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, takewhile
from typing import cast
from unicodedata import category

import apsw
import numpy as np

from quintet.contracts.bases import BASE, KEPT
from quintet.filters.ranges import date_milliseconds
from quintet.model.documents import is_embedded
from quintet.model.filters import AllOf, AnyOf, Comparison, Condition, Expression, Filter, Not
from quintet.ports.reading import Rows
from quintet.storage.sqlite.migrations import SUPERSEDED
from quintet.storage.sqlite.path_filter import glob_match, path_sql
from quintet.storage.text.analysis import CJK_RUN, plain, quoted

FROM = "FROM chunks c JOIN documents d ON d.row = c.document JOIN roots r ON r.row = d.root"
# Few roots, many documents: in this order a range of paths is read off the index on (root, path).
DOCUMENTS = "SELECT d.row FROM roots r CROSS JOIN documents d ON d.root = r.row"

# SQL by field: `d` is the document and `r` its root, or else `c` is the chunk.
COMPARISONS: Mapping[str, str] = {
    "mime": "d.mime_type = ?",
    "lang": "d.language = ?",
    "root": "r.name = ?",
    "after": "d.modified_ns >= (? + 1) * 1000000",  # no division, which rounds up what is before 1970
    "before": "d.modified_ns < ? * 1000000",
    "icontains": "contains_folded(?, (SELECT content FROM contents WHERE row = c.row))",
    "knowledge_base_id": "'default' = ?",
    "document_id": "d.id = ?",
    "chunk_index": "c.sequence = ?",
    "title": "d.title = ?",
    "source_type": "'file' = ?",
    "source_name": "r.name = ?",
    "uri": "d.path = ?",
    "source_id": "r.name = ?",
    "source_path": "d.path = ?",
    "managed_by_source": "1 = ?",
    "page_number": "c.page = ?",
    **{f"base.{name}": f"json_extract(d.metadata, '$.{BASE}.{name}') = ?" for name in sorted(KEPT)},
    "scope.project": "r.name = ?",
    "scope.package": "in_package(?, d.path)",
    "scope.module": "is_module(?, d.path)",
    "scope.file": "? IN (d.path, r.name || '/' || d.path)",
    "memory.kind": "c.kind = ?",
    "memory.session": "? IN (SELECT value FROM json_each(d.metadata, '$.sessions') "
    "UNION ALL SELECT json_extract(d.metadata, '$.session'))",
    "memory.tag": "? IN (SELECT value FROM json_each(d.metadata, '$.tags'))",
    "memory.about": "EXISTS (SELECT 1 FROM (SELECT ? AS asked) JOIN json_each(d.metadata, '$.about') "
    "WHERE asked IN (value ->> 'path', (value ->> 'root') || '/' || (value ->> 'path')) "
    "OR is_end_of(asked, value ->> 'symbol') "
    "OR value ->> 'root' IS NULL AND is_end_of(value ->> 'symbol', asked))",  # nothing was found under it
    "memory.since": "d.modified_ns / 1000000 >= ?",
    "memory.until": "d.modified_ns / 1000000 < ?",
    "memory.superseded": f"(c.document IN (SELECT row FROM documents WHERE {SUPERSEDED})) = ?",
}
OF_CHUNK = re.compile(r"\bc\.")
SEPARATORS = re.compile(r"::|[.#\\]")

# Deep JSON, which SQLite will not read, has no fields.
FIELDS = "json_each(CASE WHEN json_valid(d.metadata) THEN d.metadata ELSE '{}' END)"
LITERAL = "instr((SELECT content FROM contents WHERE row = c.row), ?) > 0"
TOKENS_ASKED = 8  # of a literal: more narrow no further

Value = bool | int | float | str
Places = list[tuple[int, int, str]]  # where a token begins and ends, and the token


@dataclass(frozen=True, slots=True)
class SqlCondition:
    """A condition in SQL, over chunks or over documents."""

    sql: str
    values: tuple[Value, ...]
    of_chunk: bool

    def over_chunks(self) -> "SqlCondition":
        if self.of_chunk:
            return self
        return SqlCondition(f"c.document IN ({DOCUMENTS} WHERE {self.sql})", self.values, True)


def register(connection: apsw.Connection) -> None:
    for function in (glob_match, in_package, is_module, contains_folded, is_end_of, is_embedded):
        scalar = cast("apsw.ScalarProtocol", function)
        connection.create_scalar_function(function.__name__, scalar, 2, deterministic=True)
    connection.create_scalar_function("moment", cast("apsw.ScalarProtocol", moment), 1, deterministic=True)


def select(connection: apsw.Connection, filter: Filter) -> Rows:
    """Rows of the chunks that pass, ascending."""
    clause = compiled(connection, AllOf(filter.conditions)).over_chunks()
    rows = connection.execute(f"SELECT c.row FROM chunks c WHERE {clause.sql}", clause.values)
    return np.sort(np.fromiter(chain.from_iterable(rows), dtype=np.int64))


def passing(connection: apsw.Connection, filter: Filter, chunk_ids: Sequence[str]) -> set[str]:
    """Which of these chunks pass."""
    clause = compiled(connection, AllOf(filter.conditions)).over_chunks()
    marks = ", ".join("?" * len(chunk_ids))
    rows = connection.execute(
        f"SELECT c.id FROM chunks c WHERE c.id IN ({marks}) AND ({clause.sql})", (*chunk_ids, *clause.values)
    )
    return {chunk_id for (chunk_id,) in rows}


def compiled(connection: apsw.Connection, expression: Expression) -> SqlCondition:
    match expression:
        case Condition():
            return _condition(connection, expression)
        case Not(of):
            # A field that is not there compares as NULL, which `NOT` would leave as it is.
            inner = compiled(connection, of)
            return SqlCondition(f"({inner.sql}) IS NOT TRUE", inner.values, inner.of_chunk)
        case AllOf(parts):
            return _joined(" AND ", [compiled(connection, part) for part in parts])
        case AnyOf(parts):
            return _joined(" OR ", [compiled(connection, part) for part in parts])


def _joined(word: str, clauses: Sequence[SqlCondition]) -> SqlCondition:
    """All over documents, if they can be; else over chunks, with the documents' part chosen beforehand."""
    of_chunks = [clause for clause in clauses if clause.of_chunk]
    of_documents = [clause for clause in clauses if not clause.of_chunk]
    if of_chunks and of_documents:
        return _joined(word, [_joined(word, of_documents).over_chunks(), *of_chunks])
    sql = word.join(f"({clause.sql})" for clause in clauses)
    values = tuple(value for clause in clauses for value in clause.values)
    return SqlCondition(sql, values, bool(of_chunks))


def _condition(connection: apsw.Connection, condition: Condition) -> SqlCondition:
    value = _storable(condition.value)
    match condition.field, value:
        case "path", str():
            return SqlCondition(*path_sql(connection, value), False)
        case "contains", str():
            return _contains(connection, value)
        case "tag", _:
            return _own_field("tags", value, "=")
        case name, _ if name.startswith("meta."):
            return _own_field(name.removeprefix("meta."), value, condition.comparison)
    sql = COMPARISONS[condition.field].replace("= ?", f"{condition.comparison} ?")
    return SqlCondition(sql, (value,), OF_CHUNK.search(sql) is not None)


def _storable(value: Value) -> Value:
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return float(value)  # SQLite compares it as a number all the same
    return value


def _contains(connection: apsw.Connection, literal: str) -> SqlCondition:
    """Only what holds the literal's whole words can hold the literal; what no word narrows is read."""
    expression = words_within(connection, literal)
    if not expression:
        return SqlCondition(LITERAL, (literal,), True)
    narrowed = "c.row IN (SELECT rowid FROM text WHERE text MATCH ?)"
    return SqlCondition(f"{narrowed} AND {LITERAL}", (expression, literal), True)


def words_within(connection: apsw.Connection, literal: str) -> str:
    """FTS5's expression for the words of a literal that stay whole wherever it stands.

    Its first word may be the end of a longer one, also behind accents that belong to a letter before it. Its
    last may be the beginning of one, and unless it ends in ASCII, an accent behind it may make it another
    word. CJK has no words.
    """
    readable = plain(literal)
    text, accents = readable.encode(), "".join(takewhile(_is_mark, readable)).encode()
    tokenizer = connection.fts5_tokenizer("unicode61", ["remove_diacritics", "2"])
    words: list[str] = []
    for start, end, token, *_ in cast("Places", tokenizer(text, apsw.FTS5_TOKENIZE_QUERY, None)):
        if end == len(text) and not text[end - 1 :].isascii():
            continue
        if start > len(accents) and not CJK_RUN.search(token):
            words.append(quoted(token) + ("*" if end == len(text) else ""))
    longest = sorted(dict.fromkeys(words), key=len, reverse=True)[:TOKENS_ASKED]
    return f"{{content}} : ({' AND '.join(longest)})" if longest else ""


def _is_mark(char: str) -> bool:
    return category(char).startswith("M")


def _own_field(name: str, value: Value, comparison: Comparison) -> SqlCondition:
    """A field of front matter; of a list, any element counts."""
    test, values = _equals(value) if comparison == "=" else _ordered(value, comparison)
    element = f"EXISTS (SELECT 1 FROM json_each(f.value) e WHERE {test('e')})"
    matches = f"{test('f')} OR f.type = 'array' AND {element}"
    sql = f"EXISTS (SELECT 1 FROM {FIELDS} f WHERE f.key = ? AND ({matches}))"
    return SqlCondition(sql, (name, *values, *values), False)


def _equals(value: Value) -> tuple[Callable[[str], str], tuple[Value, ...]]:
    """How a JSON value must compare. Text also means the number, true or false that is written so."""
    if isinstance(value, bool):
        return lambda row: f"{row}.type = ?", (str(value).lower(),)
    if not isinstance(value, str):
        return lambda row: f"{row}.type IN ('integer', 'real') AND {row}.atom = ?", (value,)
    number = _number(value)
    tests = ["{0}.type = 'text' AND {0}.atom = ?", "{0}.type IN ('true', 'false') AND {0}.type = ?"]
    values: list[Value] = [value, value.lower()]
    if number is not None:
        tests.append("{0}.type IN ('integer', 'real') AND {0}.atom = ?")
        values.append(number)
    return lambda row: "(" + " OR ".join(tests).format(row) + ")", tuple(values)


def _ordered(value: Value, comparison: Comparison) -> tuple[Callable[[str], str], tuple[Value, ...]]:
    """How a JSON value must compare with a number, or with a date, which is text on both sides."""
    if isinstance(value, str):
        bound = date_milliseconds(value)
        assert bound is not None, "the filter was checked"
        return lambda row: f"{row}.type = 'text' AND moment({row}.atom) {comparison} ?", (bound,)
    return lambda row: f"{row}.type IN ('integer', 'real') AND {row}.atom {comparison} ?", (value,)


def moment(value: object) -> int | None:
    """The Unix milliseconds of a date; None for everything else."""
    return date_milliseconds(value) if isinstance(value, str) else None


def _number(text: str) -> int | float | None:
    if not re.fullmatch(r"-?[0-9]{1,18}(\.[0-9]{1,18})?", text):
        return None
    return float(text) if "." in text else int(text)


def contains_folded(literal: str, content: str) -> bool:
    return _folded(literal) in content.casefold()


@lru_cache(maxsize=64)
def _folded(text: str) -> str:
    return text.casefold()


def in_package(package: str, path: str) -> bool:
    """A package is a folder, written with slashes or dots."""
    folder, parent = package.strip("/"), path.rpartition("/")[0]
    names = (folder, folder.replace(".", "/"))
    return any(parent == name or parent.startswith(name + "/") for name in names)


def is_module(module: str, path: str) -> bool:
    """A module is a file without its ending, written with slashes or dots; a package's own file counts."""
    stem = path.rpartition(".")[0] if "." in path.rpartition("/")[2] else path
    for own in ("/__init__", "/index", "/mod"):
        stem = stem.removesuffix(own)
    wanted = module.strip("/")
    return stem in (wanted, wanted.replace(".", "/")) or stem.endswith("/" + wanted.replace(".", "/"))


def is_end_of(name: str | None, symbol: str | None) -> bool:
    """Whether a symbol may be called by that name: by its last parts, however they are separated.

    >>> is_end_of("Cache::get", "src.cache.Cache.get"), is_end_of("get", "src.cache.forget")
    (True, False)
    """
    if name is None or symbol is None:
        return False
    asked = _parts(name)
    if name == symbol or not asked or not symbol.endswith(asked[-1]):
        return name == symbol
    return _parts(symbol)[-len(asked) :] == asked


@lru_cache(maxsize=64)
def _parts(symbol: str) -> tuple[str, ...]:
    return tuple(part for part in SEPARATORS.split(symbol) if part)
