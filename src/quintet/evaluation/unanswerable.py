"""The questions of an evaluation asked once more, with what answers them left out: nothing is found then,
and a confidence should say so."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from quintet.contracts.confidence import signs
from quintet.errors import UsageError
from quintet.evaluation.calibration import Outcome
from quintet.model.documents import Passage
from quintet.query.search import Response

Ask = Callable[[Mapping[str, object]], Response]


def asked_twice(
    ask: Ask, params: Mapping[str, object], response: Response, relevant: Callable[[Passage], bool]
) -> list[Outcome]:
    """How the answer to `params` turned out, and that without the documents of its relevant results.

    A question gives both or nothing, so that one in two has no answer. It gives nothing where the confidence
    is not known, or where a filter cannot name all those documents.
    """
    first = _outcome(response, relevant)
    if first is None:
        return []
    paths = sorted(set(_relevant_paths(response, relevant)))
    if not paths:
        return [first, first]
    try:
        second = _outcome(ask({**params, "filters": _without(params.get("filters"), paths)}), relevant)
    except UsageError:
        return []
    return [] if second is None else [first, second]


def _outcome(response: Response, relevant: Callable[[Passage], bool]) -> Outcome | None:
    known, answer = response.body.get("confidence"), response.answer
    if answer is None or not isinstance(known, float):
        return None
    seen = signs(answer.best)
    assert seen is not None  # or nothing would be known
    return Outcome(seen, known, relevant(answer.passages[answer.ranked[0].best_chunk]))


def _relevant_paths(response: Response, relevant: Callable[[Passage], bool]) -> Iterator[str]:
    assert response.answer is not None
    return (one.document.path for one in response.answer.passages.values() if relevant(one))


def _without(filters: object, paths: list[str]) -> dict[str, Any]:
    """A path is a glob there: `?` stands for the characters that mean something else in one."""
    either = [{"path": re.sub(r"[{}*]", "?", path)} for path in paths]
    kept = [filters] if filters else []
    return {"and": [*kept, {"not": {"or": either}}]}
