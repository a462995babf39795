"""Restore a backup: every file is compared with its hash, and the index appears in one step."""

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from quintet.backups.manifest import CONTENT, DATABASE, Backup, FileFacts, read_manifest
from quintet.backups.staging import flush, staging_folder, swap
from quintet.errors import Conflict, StoreError, UsageError
from quintet.indexing.no_links import open_file
from quintet.knowledge.bases import FOLDER as KNOWLEDGE
from quintet.knowledge.bases import LOCK as REGISTRY_LOCK
from quintet.ports.store_files import INDEX_FILE, INDEX_FILES, KNOWLEDGE_FILES, MEMORY_FILES
from quintet.processes import private
from quintet.processes.lock import hold_lock
from quintet.storage.sqlite.copies import check_schema
from quintet.storage.sqlite.store import ALL, IGNORE

LOCK_SECONDS = 10
BLOCK = 1 << 20  # bytes


def restore(
    backup: str | os.PathLike[str], index: str | os.PathLike[str], *, replace: bool = False
) -> Backup:
    """Put the index of a backup into folder `index`. An index that is there needs `replace=True`.

    Whoever has a replaced index open sees the restored one from the next request on.
    """
    source, target = Path(backup).resolve(), Path(index).resolve()
    _check_target(target, replace)
    manifest = read_manifest(source)
    with staging_folder(target, "restoring") as staging:
        for path, facts in manifest.files.items():
            _make_folders(staging, path)
            _copy_checked(source / CONTENT / path, staging / path, facts)
            if DATABASE.fullmatch(path):
                check_schema(staging / path)
        private.write_new(staging / IGNORE, ALL)
        flush(*staging.rglob("*"), staging)
        _check_target(target, replace)
        if (target / INDEX_FILE).exists():
            with _no_writer(target):
                swap(staging, target)
        else:
            if target.exists():
                target.rmdir()  # it is empty
            staging.rename(target)
    return manifest


def _check_target(target: Path, replace: bool) -> None:
    if not target.parent.is_dir():
        raise UsageError(f"the folder {target.parent} does not exist; make it first", code="invalid_path")
    if (target / INDEX_FILE).exists():
        if not replace:
            raise Conflict(
                f"there is an index in {target}; restore into another folder, or replace it with --replace",
                code="index_exists",
            )
    elif target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(
            f"{target} is no index and not empty; restore into a new folder", code="invalid_path"
        )


def _make_folders(staging: Path, path: str) -> None:
    for folder in reversed(Path(path).parents[:-1]):
        private.make_folder(staging / folder)


def _copy_checked(source: Path, target: Path, facts: FileFacts) -> None:
    """Copy a file, and compare it with its hash. No link is followed: a backup may come from a stranger."""
    digest, left = hashlib.sha256(), facts.size
    try:
        with os.fdopen(open_file(source), "rb") as content, private.open_new(target, exclusive=True) as out:
            is_file = stat.S_ISREG(os.fstat(content.fileno()).st_mode)
            while is_file and (block := content.read(min(BLOCK, left + 1))) and len(block) <= left:
                left -= len(block)
                digest.update(block)
                out.write(block)
            is_whole = is_file and not left and not block
    except FileNotFoundError:
        is_whole = False
    if not is_whole or digest.hexdigest() != facts.sha256:
        raise StoreError(f"{source} is not the file that was backed up; use another backup")


@contextmanager
def _no_writer(target: Path) -> Iterator[None]:
    """Held while an index is replaced: a run in the middle would write into the folder that goes."""
    bases = sorted((target / KNOWLEDGE).glob(f"*/{KNOWLEDGE_FILES.database}"))
    locks = [target / INDEX_FILES.lock, target / MEMORY_FILES.lock]
    if (target / KNOWLEDGE).is_dir():
        locks += [target / KNOWLEDGE / REGISTRY_LOCK, *(base.parent / KNOWLEDGE_FILES.lock for base in bases)]
    busy = f"another process is writing to {target}; stop it, or try again when it has finished"
    with ExitStack() as stack:
        for lock in locks:
            stack.enter_context(hold_lock(lock, LOCK_SECONDS, busy))
        yield
