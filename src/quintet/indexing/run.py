"""An index run: what it needs and what it reports."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from quintet.indexing.files import FileProblem
from quintet.model.results import Note
from quintet.ports.writing import Writer
from quintet.settings import Settings

# stage, done, total. If it raises, the run stops; everything reported until then is in the index.
Progress = Callable[[str, int, int], None]


def no_progress(stage: str, done: int, total: int) -> None:
    """The progress of a caller that does not want to know."""


@dataclass(slots=True)
class Report:
    """What a run did. `skipped` counts files that were not written: unchanged ones and those in `problems`.

    `embedded` counts chunks that got a vector, `pending` chunks that still have none. `roots` names the
    roots that were synced, whole or in part.
    """

    indexed: int = 0
    skipped: int = 0
    removed: int = 0
    embedded: int = 0
    pending: int = 0
    problems: list[FileProblem] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    roots: list[str] = field(default_factory=list)
    seconds: float = 0.0
    stages: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.stages[name] = self.stages.get(name, 0.0) + time.perf_counter() - start


@dataclass(frozen=True, slots=True)
class IndexRun:
    """What every stage of a run works with."""

    writer: Writer
    settings: Settings
    clock_ns: Callable[[], int]
    progress: Progress
    report: Report
    force: bool = False
    refused: dict[str, dict[str, tuple[int, int]]] = field(default_factory=dict)  # by root and path
