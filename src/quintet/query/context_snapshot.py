"""Where the asker is (spec 002, section 4): the scope of a search of code, and where the graph is walked
from."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from quintet.contracts.mcb import MOST_SEEDS
from quintet.errors import UsageError
from quintet.model.parameters import shown
from quintet.model.results import Note
from quintet.model.schema import NOT_BLANK, Schema, object_schema
from quintet.ports.reading import Snapshot
from quintet.query.places import LINES, documents_named, encodable, line_range

SEPARATORS = re.compile(r"::|[.#\\]")
MOST_NAMES = 100
LAST_LINE = 10**9
NEARBY: Mapping[str, object] = {"related": {"radius": 1}}  # unless the search says how to walk
NAMES: Schema = {"type": "array", "items": NOT_BLANK}


@dataclass(frozen=True, slots=True)
class ContextSnapshot:
    """The project (a root), the files that are open, the symbols at the cursor (names, `PATH` or
    `PATH:LINE`), and the ids of recent memories. Each list has the most recent first."""

    project: str | None = None
    open_files: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()


Parameters = Mapping[str, object] | None
Context = ContextSnapshot | Parameters

CONTEXT_SCHEMA = object_schema(
    {
        "project": {"type": ["string", "null"], "description": "a root: only its code is searched"},
        "open_files": {**NAMES, "description": "paths of the files that are open"},
        "symbols": {**NAMES, "description": "symbols at the cursor: names, PATH or PATH:LINE"},
        "memories": {**NAMES, "description": "ids of recent memories; what they are about counts as open"},
    }
)


def read_context(value: object) -> ContextSnapshot:
    """A context as a caller gives it: None, an object, or the dataclass itself."""
    if value is None or isinstance(value, ContextSnapshot):
        return value or ContextSnapshot()
    names = [field.name for field in fields(ContextSnapshot)]
    if not isinstance(value, Mapping) or not set(value) <= set(names):
        raise _refused("context", value, f"an object with any of {', '.join(names)}")
    project = value.get("project")
    if project is not None and (not isinstance(project, str) or not project.strip()):
        raise _refused("context.project", project, "the name of a root")
    lists = {name: _names(name, value.get(name, ())) for name in names if name != "project"}
    return ContextSnapshot(project, **lists)


def _names(name: str, value: object) -> tuple[str, ...]:
    listed = value if isinstance(value, (list, tuple)) else (None,)
    if len(listed) > MOST_NAMES or not all(isinstance(one, str) and one.strip() for one in listed):
        raise _refused(f"context.{name}", value, f"a list of at most {MOST_NAMES} texts")
    return tuple(listed)


def _refused(name: str, value: object, allowed: str) -> UsageError:
    return UsageError(f"{name} is {shown(value)}; it must be {allowed}", details={"parameter": name})


def in_context(
    snapshot: Snapshot,
    given: Context,
    code: Mapping[str, object],
    memory: Callable[[str], Mapping[str, Any]],
    base: Path,
) -> tuple[dict[str, object], list[Note]]:
    """The parameters of contract mcb in a context, and notes on what of it is not indexed. What the search
    itself says (`code`) takes precedence. `memory` gives a memory by its id."""
    context = read_context(given)
    seeds, notes = _seeds(snapshot, context, memory, base)
    parameters: dict[str, object] = {}
    if context.project is not None:
        parameters["scope_filter"] = {"project": context.project}
    if seeds:
        parameters |= {"seeds": seeds, "graph_expansion": NEARBY}
    return {**parameters, **code}, notes


def _seeds(
    snapshot: Snapshot, context: ContextSnapshot, memory: Callable[[str], Mapping[str, Any]], base: Path
) -> tuple[list[str], list[Note]]:
    """The nodes that the context names, those at the cursor first."""
    remembered = [name for id in context.memories for name in _subjects(memory(id))]
    seeds: dict[str, None] = {}
    notes: list[Note] = []
    for name in (*context.symbols, *context.open_files, *remembered):
        nodes = list(_nodes(snapshot, encodable(name), base))
        seeds |= dict.fromkeys(nodes)
        if not nodes:
            message = f"the context names {shown(name)}, which the index does not know"
            notes.append({"code": "context_unknown", "message": message})
    return list(seeds)[:MOST_SEEDS], notes


def _nodes(snapshot: Snapshot, name: str, base: Path) -> Iterator[str]:
    """Every node of that name, or else what stands at that place."""
    parts = [part for part in SEPARATORS.split(name) if part]
    nodes = snapshot.graph.named(parts[-1]) if parts else []
    nodes = [node for node in nodes if node.qualified_name.split(".")[-len(parts) :] == parts]
    definitions = [node.id for node in nodes if node.parent is not None]
    if definitions:
        yield from definitions
        return
    lines, first, last = LINES.fullmatch(name), 1, LAST_LINE
    places = documents_named(name, snapshot.catalog, base)
    if not places and lines:
        places = documents_named(lines["path"], snapshot.catalog, base)
        first, last = line_range(lines)
    for root, path in places:
        node = snapshot.graph.at(root, path, first, last)
        if node is not None:
            yield node.id


def _subjects(memory: Mapping[str, Any]) -> list[str]:
    """What a memory is about: symbols, or else the paths of files."""
    subjects = memory.get("about") or ()
    return [str(one.get("symbol") or one["path"]) for one in subjects if one.get("symbol") or one.get("path")]
