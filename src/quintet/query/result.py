"""One result as Python programs read it, whatever the contract."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from quintet.contracts import Answer
from quintet.model.documents import Json
from quintet.model.results import Evidence, Signal


@dataclass(frozen=True, slots=True)
class Result:
    """A passage that a search found. `score` is the one it was ranked by, higher is better."""

    id: str
    root: str
    path: str
    lines: tuple[int, int]
    page: int | None
    heading: str
    score: float
    title: str = field(repr=False)
    content: str = field(repr=False)
    metadata: Mapping[str, Json] = field(repr=False)
    signals: Mapping[Signal, Evidence] = field(repr=False)


def results_of(answer: Answer) -> Iterator[Result]:
    for item in answer.ranked:
        passage = answer.passages[item.best_chunk]
        chunk, document = passage.chunk, passage.document
        yield Result(
            chunk.id,
            document.root,
            document.path,
            (chunk.first_line, chunk.last_line),
            chunk.page,
            chunk.heading_path,
            item.score,
            document.title,
            chunk.content,
            document.metadata,
            item.evidence,
        )
