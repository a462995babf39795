"""Result types of both servers that belong to no single feature."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, NotRequired, TypedDict

from quintet.contracts.mcb import McbResult
from quintet.indexing.files import FileProblem
from quintet.indexing.run import Report
from quintet.memory.contract import MemoryResult
from quintet.model.documents import Passage
from quintet.model.schema import Count, Lines
from quintet.query.code_and_memory import Merged


class PassageFields(TypedDict):
    """A passage of a document, whole."""

    chunk_id: str
    document_id: str
    root: str
    path: str
    title: str
    page: Count | None
    heading_path: str
    lines: Lines
    content: str


class ReadBody(TypedDict):
    """The passages that a reference names."""

    reference: str
    passages: list[PassageFields]


def passage_fields(passage: Passage) -> PassageFields:
    chunk, document = passage.chunk, passage.document
    return {
        "chunk_id": chunk.id,
        "document_id": chunk.document_id,
        "root": document.root,
        "path": document.path,
        "title": document.title,
        "page": chunk.page,
        "heading_path": chunk.heading_path,
        "lines": [chunk.first_line, chunk.last_line],
        "content": chunk.content,
    }


class IndexFolder(TypedDict):
    """What a server adds to `IndexStatus`."""

    index: str


class SearchAllBody(TypedDict):
    """`code` as contract mcb answers, `memory` as `recall` does, and the order of both together."""

    code: list[McbResult]
    memory: list[MemoryResult]
    hybrid_rank: list[Annotated[Any, Merged]]


class ReindexPaths(TypedDict):
    indexed_paths: NotRequired[list[str]]  # if the caller named several


class ReindexFields(ReindexPaths):
    """The result of spec 000's `reindex` (section 4.5)."""

    indexed_files: Count
    skipped_files: Count
    embedding_model: str
    embedding_backend: str
    removed_files: Count
    pending: Count
    roots: list[str]
    problems: list[Annotated[Any, FileProblem]]


@dataclass(frozen=True, slots=True)
class ReindexTargets:
    """What to reindex: these locations, or the roots in the working folder if there are none.

    `is_list` is True if the caller named several.
    """

    locations: tuple[Path, ...]
    is_list: bool


@dataclass(frozen=True, slots=True)
class Reindexed:
    """A finished `reindex`. `paths` is None unless the caller named several."""

    report: Report
    paths: tuple[Path, ...] | None
    embedding_model: str
    embedding_backend: str
    pending: int

    def wire(self) -> ReindexFields:
        paths: ReindexPaths = (
            {} if self.paths is None else {"indexed_paths": [str(path) for path in self.paths]}
        )
        return {
            "indexed_files": self.report.indexed,
            "skipped_files": self.report.skipped,
            **paths,
            "embedding_model": self.embedding_model,
            "embedding_backend": self.embedding_backend,
            "removed_files": self.report.removed,
            "pending": self.pending,
            "roots": self.report.roots,
            "problems": [asdict(problem) for problem in self.report.problems],
        }
