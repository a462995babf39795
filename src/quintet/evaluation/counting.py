"""PURE. Which results take a place in a ranking before it is scored."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from quintet.errors import UsageError
from quintet.model.parameters import shown

Unit = Literal["file", "chunk"]
UNITS: tuple[Unit, ...] = get_args(Unit)


@dataclass(frozen=True, slots=True)
class Counting:
    """`unit` is what takes a place: a file, at the rank of its best chunk, or a chunk. None means whatever
    the judgements name. If they name files and the unit is a chunk, the first chunk of a file counts; its
    further chunks take places and count nothing. If they name chunks and the unit is a file, a file has the
    highest grade of its chunks.

    With `drop_own`, the document that has the query's id takes no place: in ArguAna queries are documents of
    the corpus. The judgements stay as they are, as in BEIR's own evaluation.
    """

    unit: Unit | None = None
    drop_own: bool = False

    def __str__(self) -> str:
        """As a report shows it behind the number of queries.

        >>> str(Counting("file", drop_own=True))
        ', ranked by file, without the document that has the id of the query'
        """
        return "".join(f", {part}" for part in self._parts())

    def _parts(self) -> Iterator[str]:
        if self.unit is not None:
            yield f"ranked by {self.unit}"
        if self.drop_own:
            yield "without the document that has the id of the query"


def unit_named(name: str) -> Unit:
    for unit in UNITS:
        if unit == name:
            return unit
    raise UsageError(
        f"unit is {shown(name)}; it must be one of: {', '.join(UNITS)}", details={"parameter": "unit"}
    )
