"""One ranking over code and memory (spec 002, section 4): the two answers merged by reciprocal rank."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from quintet.model.results import Note, Status
from quintet.query.search import Response
from quintet.ranking import Rrf

MERGE = Rrf(rrf_k=60.0, first_rank=0)  # as ADR-043 counts inside one list


@dataclass(frozen=True, slots=True)
class Merged:
    """An item of either list, with the score that its place in it gives."""

    kind: Literal["code", "memory"]
    id: str
    score: float


def merge(lists: Mapping[Any, Sequence[str]], fusion: Rrf = MERGE) -> list[Merged]:
    """All items, ordered by `1 / (rrf_k + first_rank + place)`; ties keep the order of the lists.

    >>> [(item.kind, item.id) for item in merge({"code": ["a", "b"], "memory": ["m"]})]
    [('code', 'a'), ('memory', 'm'), ('code', 'b')]
    """
    items = [
        Merged(kind, id, 1 / (fusion.rrf_k + fusion.first_rank + place))
        for kind, ids in lists.items()
        for place, id in enumerate(ids)
    ]
    return sorted(items, key=lambda item: -item.score)  # stable: the order of the lists decides ties


def merge_answers(answers: Mapping[str, Response], more: Sequence[Note] = ()) -> Response:
    """Several answers as one: the results of each under its name, and all of them in `hybrid_rank`. `more`
    are notes on none of them."""
    results: dict[str, Any] = {kind: answer.body["results"] for kind, answer in answers.items()}
    ranked = merge({kind: [_id(item) for item in items] for kind, items in results.items()})
    hybrid = [asdict(item) for item in ranked]
    status, empty = joint_status({kind: answer.status for kind, answer in answers.items()})
    notes: list[Note] = [
        {"code": note["code"], "message": f"{kind}: {note['message']}"}
        for kind, answer in answers.items()
        for note in answer.notes
    ]
    return Response({**results, "hybrid_rank": hybrid}, status, [*more, *notes, *empty])


def _id(item: Mapping[str, Any]) -> str:
    return str(item["node"]["id"] if "node" in item else item["id"])


EMPTY: Mapping[Status, str] = {"never_indexed": "was ever stored", "empty_index": "is left"}


def joint_status(statuses: Mapping[str, Status]) -> tuple[Status, list[Note]]:
    """One status for several answers, and a note for each that is empty because nothing is there."""
    notes: list[Note] = [
        {"code": status, "message": f"{kind}: nothing {EMPTY[status]}"}
        for kind, status in statuses.items()
        if status in EMPTY and len(set(statuses.values())) > 1
    ]
    distinct = list(dict.fromkeys(statuses.values()))
    if len(distinct) == 1:
        return distinct[0], notes
    return ("degraded" if "degraded" in distinct else "ok" if "ok" in distinct else "empty_index"), notes
