"""What changed since the last run: the files on disk against the files in the index."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from quintet.indexing.disk import proves_unchanged
from quintet.indexing.files import DiskFile
from quintet.ports.reading import KnownFile


@dataclass(frozen=True, slots=True)
class Changes:
    """Every file on disk in one of three groups, and the paths that are gone."""

    unchanged: tuple[DiskFile, ...]
    suspects: tuple[DiskFile, ...]  # indexed, but size and time differ or prove nothing: compare the hash
    added: tuple[DiskFile, ...]
    removed: tuple[str, ...]


def find_changes(
    files: Sequence[DiskFile], known: Mapping[str, KnownFile], *, shape: str = "", force: bool = False
) -> Changes:
    """Compare the files of a walk with the `known` files of the same scope, without reading the disk.

    A known file that is not in `files` counts as removed. A file that was parsed or chunked in another
    `shape` becomes a suspect; with `force` every file does.
    """
    unchanged: list[DiskFile] = []
    suspects: list[DiskFile] = []
    added: list[DiskFile] = []
    for file in files:
        before = known.get(file.path)
        if before is None:
            added.append(file)
        elif force or before.shape != shape or not proves_unchanged(file, before):
            suspects.append(file)
        else:
            unchanged.append(file)
    removed = sorted(known.keys() - {file.path for file in files})
    return Changes(tuple(unchanged), tuple(suspects), tuple(added), tuple(removed))
