"""Filters as SQL: which expression each field stands for and how it compares."""

from typing import cast

import apsw
import numpy as np

from quintet.contracts.globs import compiled_glob
from quintet.model import Condition, Filter
from quintet.ports import Rows

FROM = "FROM chunks c JOIN documents d ON d.row = c.document JOIN roots r ON r.row = d.root"

COMPARISONS = {
    "path": "glob_match(?, d.path)",
    "mime": "d.mime_type = ?",
    "lang": "d.language = ?",
    "root": "r.name = ?",
    "after": "d.modified_ns / 1000000 > ?",
    "before": "d.modified_ns / 1000000 < ?",
    "contains": "instr((SELECT content FROM contents WHERE row = c.row), ?) > 0",
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
    "page_number": "NULL = ?",  # pages come with PDFs
    "scope.project": "r.name = ?",
    "scope.package": "in_package(?, d.path)",
    "scope.module": "is_module(?, d.path)",
    "scope.file": "d.path = ?",
}


def register(connection: apsw.Connection) -> None:
    for function in (glob_match, in_package, is_module):
        scalar = cast("apsw.ScalarProtocol", function)
        connection.create_scalar_function(function.__name__, scalar, 2, deterministic=True)


def select(connection: apsw.Connection, filter: Filter) -> Rows | None:
    """Rows of the chunks that pass, ascending; None where there is no condition."""
    if not filter.conditions:
        return None
    where = " AND ".join(COMPARISONS[condition.field] for condition in filter.conditions)
    values = [_value(condition) for condition in filter.conditions]
    found = connection.execute(f"SELECT c.row {FROM} WHERE {where} ORDER BY c.row", values)
    return np.fromiter((row for (row,) in found), dtype=np.int64)


def _value(condition: Condition) -> bool | int | float | str:
    if isinstance(condition.value, int) and not -(2**63) <= condition.value < 2**63:
        return float(condition.value)  # SQLite compares it as a number all the same
    return condition.value


def glob_match(pattern: str, path: str) -> bool:
    return compiled_glob(pattern).fullmatch(path) is not None


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
