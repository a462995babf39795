"""Compares a receipt with its replay: identical, or the first difference and its cause."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from quintet.ports.reading import Snapshot
from quintet.receipts.receipt import changed_documents

CAUSES = {  # fields of a claim that explain a difference in the results
    "engine": "another version of Quintet",
    "schema": "another schema of the index",
    "tokenizer": "another tokenizer",
    "embedder": "another embedder",
    "linker": "another state of the code graph",
    "max_terms": "another cap on query terms",
    "params": "other parameters",
    "query": "another query text",
}
LAST_CAUSES = {"status": "another part of the engine answered"}  # which a changed index may explain
MAX_NAMES = 20  # of changed documents
OUTSIDE_STATE_ROOT = (
    "the documents are the same, so one of these differs: when their files were modified, what the files "
    "contain now, whether the code graph is linked, or the claim itself"
)
UNKNOWN_FIELDS = "the claim has fields that Quintet does not write"


class VerdictFields(TypedDict):
    """What the replay of a receipt showed. `differences` are sentences, the most likely cause first."""

    identical: bool
    same_results: bool
    differences: list[str]
    changed: list[str]


@dataclass(frozen=True, slots=True)
class Verdict:
    """`identical`: the same digest. `same_results`: the same results, even if the index changed otherwise.

    `differences` are sentences, the most likely cause first; `changed` are names of documents.
    """

    identical: bool
    same_results: bool
    differences: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    def wire(self) -> VerdictFields:
        return {
            "identical": self.identical,
            "same_results": self.same_results,
            "differences": list(self.differences),
            "changed": list(self.changed),
        }


def compare(before: Mapping[str, Any], after: Mapping[str, Any], snapshot: Snapshot) -> Verdict:
    """The verdict on a receipt, from its replay."""
    if before["digest"] == after["digest"]:
        return Verdict(True, True)
    then, now = before["claim"], after["claim"]
    changed: list[str] | None = []
    if then["state_root"] != now["state_root"]:
        changed = changed_documents(before, snapshot)
    same = then["results"] == now["results"]
    causes = [
        *_field_differences(CAUSES, then, now),
        *_index_difference(then, now, changed),
        *_field_differences(LAST_CAUSES, then, now),
    ]
    if not causes and not same:
        causes = [OUTSIDE_STATE_ROOT]
    differences = [*causes, *_result_difference(then["results"], now["results"])]
    return Verdict(False, same, tuple(differences) or (UNKNOWN_FIELDS,), tuple(changed or ())[:MAX_NAMES])


def _field_differences(
    causes: Mapping[str, str], then: Mapping[str, Any], now: Mapping[str, Any]
) -> Iterator[str]:
    for name, why in causes.items():
        if then.get(name) != now.get(name):
            yield f"{why}: {name} was {_short(then.get(name))}, is {_short(now.get(name))}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _index_difference(
    then: Mapping[str, Any], now: Mapping[str, Any], changed: Sequence[str] | None
) -> Iterator[str]:
    if then["state_root"] == now["state_root"]:
        return
    if changed is None:
        yield "the index changed: too many documents to list"
    elif changed:
        more = f" and {len(changed) - MAX_NAMES} more" if len(changed) > MAX_NAMES else ""
        yield f"the index changed: {', '.join(changed[:MAX_NAMES])}{more}"
    else:
        yield "the index changed, but no text did: vectors were added or replaced"


def _result_difference(then: Sequence[Any], now: Sequence[Any]) -> Iterator[str]:
    """The first rank at which the results differ."""
    for rank, (old, new) in enumerate(zip(then, now, strict=False), start=1):
        if old != new:
            yield f"result {rank}: {_first_difference(old, new)}"
            return
    if len(then) != len(now):
        yield f"there were {len(then)} results, there are {len(now)}"


def _first_difference(old: Any, new: Any) -> str:
    if not isinstance(old, Mapping):
        return f"was {_short(old)}"
    if old.get("id") != new.get("id"):
        return f"was {_name(old)}, is {_name(new)}"
    name = next(name for name in sorted({*old, *new}) if old.get(name) != new.get(name))
    return f"{name} of {new.get('path')} was {_short(old.get(name))}, is {_short(new.get(name))}"


def _name(result: Mapping[str, Any]) -> str:
    return f"{result.get('path')} (chunk {result.get('chunk_id')})"
