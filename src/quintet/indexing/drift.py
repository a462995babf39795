"""How far the index lags behind the disk, by size and time alone: nothing is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from quintet.indexing.changes import find_changes
from quintet.indexing.document import shape, storable_time
from quintet.indexing.roots import SyncTarget
from quintet.indexing.sync import file_state, in_scope, walk_target
from quintet.indexing.walk import DiskFile
from quintet.ports.reading import KnownFile, RefusedFiles, Root
from quintet.settings import Settings


@dataclass(frozen=True, slots=True)
class Drift:
    """Files that are new, that differ in size or time, and that are gone; roots that cannot be found; what
    cannot be indexed, as the walk tells now, or as the last run found of files that are as they were."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    missing_roots: tuple[str, ...] = ()
    refused: int = 0


def measure_drift(
    roots: Sequence[Root],
    known: Mapping[str, Mapping[str, KnownFile]],
    refused: Mapping[str, RefusedFiles],
    settings: Settings,
) -> Drift:
    added = changed = removed = not_taken = 0
    missing = []
    for root in roots:
        if not Path(root.location).is_dir():
            missing.append(root.name)
            continue
        target = SyncTarget(root, only=root.only)
        found, problems = walk_target(target, settings)
        cut = shape(settings)
        todo = find_changes(found, in_scope(target, problems, known[root.name]), shape=cut)
        before = known[root.name]
        not_indexable = refused.get(root.name, {})
        same = sum(not_indexable.get(file.path) == file_state(file) for file in todo.added)
        not_taken += same + len(problems)
        added += len(todo.added) - same
        changed += sum(_state(file, cut) != _known(before[file.path]) for file in todo.suspects)
        removed += len(todo.removed)
    return Drift(added, changed, removed, tuple(missing), not_taken)


def _state(file: DiskFile, cut: str) -> tuple[int, int, str]:
    return file.size, storable_time(file.modified_ns), cut


def _known(file: KnownFile) -> tuple[int, int, str]:
    return file.size, file.modified_ns, file.shape
