"""What to evaluate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from quintet.evaluation.counting import Counting
from quintet.evaluation.questions.generate import QUESTIONS

DEPTH = 100  # documents ranked for each query


@dataclass(frozen=True, slots=True)
class Request:
    """`folder` holds queries and judgements; without it, questions are made from the index.

    `db` is the folder that keeps a corpus, or the index that the judgements are about. With `run_files` and
    no contract nothing is searched.
    """

    folder: Path | None
    split: str = "test"
    contracts: Sequence[str] = ()
    modes: Sequence[str] = ()
    grid: Mapping[str, Sequence[object]] | None = None
    embedder: str | None = None
    run_files: Sequence[Path] = ()
    db: Path | None = None
    depth: int = DEPTH
    one_run: bool = False  # True: more than one run is an error
    questions: int = QUESTIONS  # at most
    counting: Counting = Counting()

    @property
    def searches(self) -> bool:
        return bool(self.contracts) or not self.run_files
