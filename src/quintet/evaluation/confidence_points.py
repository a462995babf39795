"""Check confidence on queries with and without an answer: each is searched a second time, with its relevant
documents filtered out. The confidence should then be low."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from quintet.contracts.confidence import signs
from quintet.errors import UsageError
from quintet.evaluation.calibration import CalibrationPoint
from quintet.model.documents import Passage
from quintet.query.search import Response

Search = Callable[[Mapping[str, object]], Response]
IsRelevant = Callable[[Passage], bool]


def calibration_points(
    search: Search, params: Mapping[str, object], response: Response, is_relevant: IsRelevant
) -> list[CalibrationPoint]:
    """The point of this response, and that of a search without the documents of its relevant results.

    A query gives both or nothing, so that half of the points have no answer. It gives nothing if the
    confidence is unknown, or if a filter cannot name all those documents.
    """
    first = _point(response, is_relevant)
    if first is None:
        return []
    paths = sorted(set(_relevant_paths(response, is_relevant)))
    if not paths:
        return [first, first]
    try:
        filters = without_documents(params.get("filters"), paths)
        second = _point(search({**params, "filters": filters}), is_relevant)
    except UsageError:
        return []
    return [] if second is None else [first, second]


def _point(response: Response, is_relevant: IsRelevant) -> CalibrationPoint | None:
    confidence, answer, trace = response.body.get("confidence"), response.answer, response.trace
    if answer is None or trace is None or not isinstance(confidence, float):
        return None
    evidence = signs(trace.plan.intent, answer) if trace.plan.intent else None
    assert evidence is not None  # or there would be no confidence
    return CalibrationPoint(evidence, confidence, is_relevant(answer.passages[answer.ranked[0].best_chunk]))


def _relevant_paths(response: Response, is_relevant: IsRelevant) -> Iterator[str]:
    assert response.answer is not None
    passages = response.answer.passages.values()
    return (passage.document.path for passage in passages if is_relevant(passage))


def without_documents(filters: object, paths: list[str]) -> dict[str, Any]:
    """A path is a glob in a filter, so `?` replaces the characters that are special in globs."""
    excluded = [{"path": re.sub(r"[{}*]", "?", path)} for path in paths]
    given = [filters] if filters else []
    return {"and": [*given, {"not": {"or": excluded}}]}
