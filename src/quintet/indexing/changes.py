"""What an index run has to do: the files found against the files known, without touching a disk."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from quintet.indexing.walk import DiskFile
from quintet.ports.reading import KnownFile

SECOND = 1_000_000_000
FINE_GRAIN = 20_000_000  # ns; kernels stamp files with a tick of 1 to 10 ms, Windows with 16
COARSE_GRAIN = 2 * SECOND  # FAT keeps even seconds, HFS+ and old network file systems whole ones


@dataclass(frozen=True, slots=True)
class Changes:
    """Every found file in one of three groups, and what is gone."""

    unchanged: tuple[DiskFile, ...]
    suspects: tuple[DiskFile, ...]  # known, but size and time differ or prove nothing: compare the hash
    added: tuple[DiskFile, ...]
    removed: tuple[str, ...]


def find_changes(
    found: Sequence[DiskFile], known: Mapping[str, KnownFile], *, shape: str = "", force: bool = False
) -> Changes:
    """Compare. `known` holds just the scope that was walked: whatever else it holds counts as removed,
    as does a known file that has become a problem. A file parsed or cut in another `shape`
    is looked at again; with `force` every file is."""
    unchanged: list[DiskFile] = []
    suspects: list[DiskFile] = []
    added: list[DiskFile] = []
    for file in found:
        before = known.get(file.path)
        if before is None:
            added.append(file)
        elif force or before.shape != shape or not proves_unchanged(file, before):
            suspects.append(file)
        else:
            unchanged.append(file)
    removed = sorted(known.keys() - {file.path for file in found})
    return Changes(tuple(unchanged), tuple(suspects), tuple(added), tuple(removed))


def proves_unchanged(file: DiskFile, before: KnownFile) -> bool:
    """Equal size and time prove something only if the clock had moved on before the file was read: a
    second write within one tick leaves both as they were. Git calls such an entry racily clean."""
    grain = COARSE_GRAIN if before.modified_ns % SECOND == 0 else FINE_GRAIN
    return (
        file.size == before.size
        and file.modified_ns == before.modified_ns
        and before.indexed_ns - before.modified_ns >= grain
    )
