"""Back up an index while others use it. It takes no lock and changes nothing in the index folder."""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from quintet.backups.manifest import (
    CONTENT,
    DATABASE,
    PLAIN_FILES,
    UPLOAD,
    Backup,
    FileFacts,
    facts_of,
    write_manifest,
)
from quintet.backups.staging import flush, staging_folder
from quintet.errors import Conflict, NotFound, StoreError, UsageError
from quintet.knowledge.bases import FOLDER as KNOWLEDGE
from quintet.knowledge.documents import UPLOADS
from quintet.knowledge.files import ORIGINALS
from quintet.knowledge.registration import REGISTRATION_FILE, SLUG
from quintet.knowledge.runs import FOLDER as RUNS
from quintet.ports.store_files import INDEX_FILE, KNOWLEDGE_FILES, MEMORY_FILES
from quintet.processes import private
from quintet.storage.sqlite.copies import check_copy, content_hashes, copy_in_use
from quintet.storage.sqlite.store import ALL, IGNORE

ATTEMPTS = 10  # to copy a base between two changes of its uploads or its registration


def backup(
    index: str | os.PathLike[str],
    destination: str | os.PathLike[str],
    *,
    clock_ns: Callable[[], int] = time.time_ns,
) -> Backup:
    """Copy the index in folder `index` with its memories, knowledge bases and keys into a new folder.

    Others may search and write meanwhile. The copy is checked; then it appears in one step. Files that are
    made from the databases (postings, vectors for searching, tantivy, HNSW) are left out.
    """
    source, target = Path(index).absolute(), Path(destination).absolute()
    _check_places(source, target)
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(clock_ns() // 1_000_000_000))
    with staging_folder(target, "partial") as staging:
        content = staging / CONTENT
        private.make_folder(content)
        private.write_new(staging / IGNORE, ALL)  # keeps it out of git, and of any index
        _copy_index(source, content)
        made = _checked(content, source, created)
        write_manifest(staging, made)
        flush(*staging.rglob("*"), staging)
        _check_new(target)
        staging.rename(target)
    return made


def _check_places(source: Path, target: Path) -> None:
    if not (source / INDEX_FILE).is_file():
        raise NotFound(f"there is no index in {source}; name its folder with --db")
    _check_new(target)
    if not target.parent.is_dir():
        raise UsageError(f"the folder {target.parent} does not exist; make it first", code="invalid_path")
    if target.parent.resolve().is_relative_to(source.resolve()):
        raise UsageError(f"{target} is inside the index; choose another folder", code="invalid_path")


def _check_new(target: Path) -> None:
    if os.path.lexists(target):
        reason = f"{target} already exists, and a backup replaces nothing"
        raise UsageError(f"{reason}; choose another name", code="invalid_path")


def _copy_index(source: Path, content: Path) -> None:
    for base in _bases(source):
        _copy_base(base, content / KNOWLEDGE / base.name)
    copy_in_use(source / INDEX_FILE, content / INDEX_FILE)
    if (source / MEMORY_FILES.database).exists():
        copy_in_use(source / MEMORY_FILES.database, content / MEMORY_FILES.database)
    for name in PLAIN_FILES:
        _copy_file(source / name, content / name)


def _bases(source: Path) -> Iterator[Path]:
    folder = source / KNOWLEDGE
    if folder.is_dir():
        for base in sorted(folder.iterdir()):
            if SLUG.fullmatch(base.name) and (base / REGISTRATION_FILE).exists():
                yield base


def _copy_base(source: Path, target: Path) -> None:
    """Copy a base between two changes of its registration and its uploads; nothing if it was deleted."""
    for _ in range(ATTEMPTS):
        registration = _read(source / REGISTRATION_FILE)
        if registration is None:
            shutil.rmtree(target, ignore_errors=True)
            return
        private.make_folder(target.parent)
        private.make_folder(target)
        try:
            is_whole = _copy_parts(source, target)
        except (StoreError, NotFound, OSError):
            if _read(source / REGISTRATION_FILE) is not None:
                raise
            is_whole = False
        if is_whole and _read(source / REGISTRATION_FILE) == registration:
            private.write_new(target / REGISTRATION_FILE, registration)
            return
        shutil.rmtree(target / RUNS, ignore_errors=True)
        (target / KNOWLEDGE_FILES.database).unlink(missing_ok=True)
    shutil.rmtree(target)
    if _read(source / REGISTRATION_FILE) is not None:
        message = f"knowledge base {source.name!r} changed {ATTEMPTS} times while it was copied; try again"
        raise Conflict(message, code="busy_writer")


def _copy_parts(source: Path, target: Path) -> bool:
    """False if an upload was dropped meanwhile. What is copied already need not be copied again.

    The runs go first: a run that ends meanwhile counts as interrupted, and is resumed.
    """
    private.make_folder(target / RUNS)
    for run in sorted((source / RUNS).glob("[0-9]*.json")):
        _copy_file(run, target / RUNS / run.name)
    database = target / KNOWLEDGE_FILES.database
    copy_in_use(source / KNOWLEDGE_FILES.database, database)
    wanted = content_hashes(database, UPLOADS)
    uploads = target / ORIGINALS
    private.make_folder(uploads)
    for stale in (file for file in uploads.iterdir() if file.name not in wanted):
        stale.unlink()
    return all(
        (uploads / name).exists() or _copy_file(source / ORIGINALS / name, uploads / name)
        for name in sorted(wanted)
    )


def _copy_file(source: Path, target: Path) -> bool:
    """False if there is no such file."""
    with suppress(FileNotFoundError), source.open("rb") as content:
        with private.open_new(target) as out:
            shutil.copyfileobj(content, out)
        return True
    return False


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _checked(content: Path, source: Path, created: str) -> Backup:
    """The manifest of what was copied, once every database and upload is found sound."""
    files: dict[str, FileFacts] = {}
    documents: dict[str, int] = {}
    for file in sorted(place for place in content.rglob("*") if place.is_file()):
        path = file.relative_to(content).as_posix()
        files[path] = facts_of(file)
        if DATABASE.fullmatch(path):
            documents[path] = check_copy(file, source / path)
        upload = UPLOAD.fullmatch(path)
        if upload and files[path].sha256 != upload["sha256"]:
            raise StoreError(f"the upload {source / path} is damaged; 'quintet doctor' says what to do")
    bases = tuple(sorted(Path(path).parent.name for path in documents if path.startswith(f"{KNOWLEDGE}/")))
    memories = documents.get(MEMORY_FILES.database, 0)
    return Backup(created, documents[INDEX_FILE], memories, bases, files)
