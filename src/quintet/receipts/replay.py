"""Replaying a receipt: the same, or what differs first and why."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from quintet.ports.reading import Snapshot
from quintet.receipts.receipt import changed_documents

ABOUT = {  # fields of a claim whose difference explains one in the results
    "engine": "another version of Quintet",
    "schema": "another schema of the index",
    "tokenizer": "another tokenizer",
    "embedder": "another embedder",
    "linker": "another state of the code graph",
    "max_terms": "another cap on query terms",
    "params": "other parameters",
    "query": "another query text",
}
ANSWERED = {"status": "another part of the engine answered"}  # which a change of the index may explain
NAMED = 20
OUTSIDE = (  # all that is no part of the state root
    "the documents are the same, so one of these is not: when their files were modified, what the files "
    "hold now, whether the code graph is linked, or the claim itself"
)
FOREIGN = "the claim holds what no Quintet writes there"


class VerdictFields(TypedDict):
    identical: bool
    same_results: bool
    differences: list[str]
    changed: list[str]


@dataclass(frozen=True, slots=True)
class Verdict:
    """`identical`: the same digest. `same_results`: the same list, even if the index around it changed.

    `differences` are sentences, what explains most first; `changed` names documents.
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
    """What a replay says about a receipt."""
    if before["digest"] == after["digest"]:
        return Verdict(True, True)
    then, now = before["claim"], after["claim"]
    changed: list[str] | None = []
    if then["state_root"] != now["state_root"]:
        changed = changed_documents(before, snapshot)
    same = then["results"] == now["results"]
    causes = [
        *_fields(ABOUT, then, now),
        *_index(then, now, changed),
        *_fields(ANSWERED, then, now),
    ]
    if not causes and not same:
        causes = [OUTSIDE]
    differences = [*causes, *_results(then["results"], now["results"])]
    return Verdict(False, same, tuple(differences) or (FOREIGN,), tuple(changed or ())[:NAMED])


def _fields(about: Mapping[str, str], then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for name, why in about.items():
        if then.get(name) != now.get(name):
            yield f"{why}: {name} was {_short(then.get(name))}, is {_short(now.get(name))}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _index(then: Mapping[str, Any], now: Mapping[str, Any], changed: Sequence[str] | None) -> Iterator[str]:
    if then["state_root"] == now["state_root"]:
        return
    if changed is None:
        yield "the index changed: more documents than can be named"
    elif changed:
        more = f" and {len(changed) - NAMED} more" if len(changed) > NAMED else ""
        yield f"the index changed: {', '.join(changed[:NAMED])}{more}"
    else:
        yield "the index changed, but the text of no document did: vectors were added, or made anew"


def _results(then: Sequence[Any], now: Sequence[Any]) -> Iterator[str]:
    """The first place where the two lists part."""
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
        return f"was {_called(old)}, is {_called(new)}"
    name = next(name for name in sorted({*old, *new}) if old.get(name) != new.get(name))
    return f"{name} of {new.get('path')} was {_short(old.get(name))}, is {_short(new.get(name))}"


def _called(result: Mapping[str, Any]) -> str:
    return f"{result.get('path')} (chunk {result.get('chunk_id')})"
