"""How far the index has drifted from the disk, by size and time alone: no file is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from quintet.indexing.changes import find_changes
from quintet.indexing.document import shape
from quintet.indexing.no_links import is_folder
from quintet.indexing.roots import SyncTarget
from quintet.indexing.sync import file_state, in_scope, walk_target
from quintet.model.schema import Count
from quintet.ports.reading import KnownFile, RefusedFiles, Root
from quintet.settings import Settings


@dataclass(frozen=True, slots=True)
class Drift:
    """How many files are new, changed in size or time, or gone; and which roots do not exist.

    `refused` counts files that cannot be indexed: problems of the walk, and files that the last run refused
    and that have not changed since.
    """

    added: Count = 0
    changed: Count = 0
    removed: Count = 0
    missing_roots: tuple[str, ...] = ()
    refused: Count = 0


def measure_drift(
    roots: Sequence[Root],
    known: Mapping[str, Mapping[str, KnownFile]],
    refused: Mapping[str, RefusedFiles],
    settings: Settings,
) -> Drift:
    added = changed = removed = not_indexable = 0
    missing_roots = []
    current_shape = shape(settings)
    for root in roots:
        if not is_folder(root.location):
            missing_roots.append(root.name)
            continue
        target = SyncTarget(root, only=root.only)
        files, problems = walk_target(target, settings)
        before = known[root.name]
        changes = find_changes(files, in_scope(target, problems, before), shape=current_shape)
        refused_before = refused.get(root.name, {})
        still_refused = sum(refused_before.get(file.path) == file_state(file) for file in changes.added)
        not_indexable += still_refused + len(problems)
        added += len(changes.added) - still_refused
        changed += sum(
            (*file_state(file), current_shape) != _known_state(before[file.path]) for file in changes.suspects
        )
        removed += len(changes.removed)
    return Drift(added, changed, removed, tuple(missing_roots), not_indexable)


def _known_state(file: KnownFile) -> tuple[int, int, str]:
    return file.size, file.modified_ns, file.shape
