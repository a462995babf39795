"""The knowledge bases of an index, each in its own folder. A base is created and deleted in one step."""

import secrets
import shutil
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from pathlib import Path

from quintet.contracts.bases import INDEX_PREFIX
from quintet.errors import Conflict, NotFound, QuintetError, StoreError
from quintet.knowledge.base import KnowledgeBase, unknown
from quintet.knowledge.document_store import IndexParts
from quintet.knowledge.registration import (
    SLUG,
    Registration,
    RegistrationFile,
    check_properties,
    check_slug,
    check_title,
)
from quintet.knowledge.results import BaseFields, ListedBase
from quintet.ports.health import HealthCheck
from quintet.processes import private
from quintet.processes.lock import hold_lock

FOLDER = "knowledge"
LOCK = "registry.lock"
TEMPORARY = (".new-", ".gone-")  # folders of bases that are being made or deleted
MAX_OPEN = 64  # bases that keep their files open, about five each


class KnowledgeBases:
    """A folder with a registration is a base. One whose name begins with a dot is left over from a kill."""

    def __init__(self, index_folder: Path, parts: IndexParts) -> None:
        self._folder = index_folder / FOLDER
        self._parts = parts
        self._open: dict[str, KnowledgeBase] = {}
        self._opening = threading.Lock()
        self._clean()

    def create(
        self, slug: str, title: str | None = None, properties: Sequence[dict[str, str]] = ()
    ) -> KnowledgeBase:
        """Create an empty knowledge base. `properties` is its schema, `[{name, type}]`, for filters."""
        registration = Registration(
            check_slug(slug),
            secrets.token_hex(8),
            check_title(slug if title is None else title),
            self._parts.now_ms(),
            check_properties(properties),
        )
        with self._changing():
            place = self._folder / slug
            if RegistrationFile(place).read() is not None:
                raise Conflict(
                    f"the knowledge base {slug!r} already exists; choose another slug",
                    code="knowledge_base_exists",
                )
            if self._parts.store_in(place).exists():
                raise Conflict(
                    f"the folder of {slug!r} holds documents, but its registration is missing; "
                    "restore its base.json, or delete the folder",
                    code="knowledge_base_exists",
                )
            self._make(place, registration)
        return self.get(slug)

    def _make(self, place: Path, registration: Registration) -> None:
        """Make it under another name, then rename it: it appears complete or not at all."""
        new_folder = self._folder / f".new-{registration.slug}-{registration.uid}"
        store = self._parts.store_in(new_folder)
        try:
            store.create()
            RegistrationFile(new_folder).write(registration)
            if place.exists():  # without a database it holds no document that was ever acknowledged
                shutil.rmtree(place)
            new_folder.rename(place)
        except OSError as error:
            shutil.rmtree(new_folder, ignore_errors=True)
            raise StoreError(f"{place} cannot be made: {error.strerror or error}; check the disk") from error
        finally:
            store.close()

    def list(self, only: Collection[str] | None = None) -> "list[BaseFields]":
        """Describe all bases, by slug. A damaged base is listed with its error.

        With `only`, those that have one of these slugs; no other base is read.
        """
        slugs = self._slugs() if only is None else only
        return [description for slug in sorted(slugs) for description in self._describe(slug)]

    def _slugs(self) -> set[str]:
        if not self._folder.is_dir():
            return set()
        folders = [folder for folder in self._folder.iterdir() if SLUG.fullmatch(folder.name)]
        return {folder.name for folder in folders if RegistrationFile(folder).exists()}

    def _describe(self, slug: str) -> Iterator[BaseFields]:
        try:
            yield self.get(slug).describe()
        except NotFound:
            return  # deleted since it was listed
        except StoreError as error:
            yield _describe_damaged(slug, error.message)

    def get(self, name: str) -> KnowledgeBase:
        """The base of that slug or index name."""
        slug = name.removeprefix(INDEX_PREFIX) if isinstance(name, str) else ""
        place = self._folder / slug
        file = RegistrationFile(place)
        registration = file.read() if SLUG.fullmatch(slug) else None
        with self._opening:
            base = self._open.pop(slug, None)
            if base is not None and not _is_registered(base, registration):
                registration = file.read()  # it may have been written again since
                if not _is_registered(base, registration):
                    base.close()
                    base = None
            if registration is None:
                raise unknown(name)
            if base is None:
                base = KnowledgeBase(place, registration, self._parts, self._changing)
            self._open[slug] = base  # last: the first is the least recently used
            if len(self._open) > MAX_OPEN:
                self._open.pop(next(iter(self._open))).rest()
            return base

    def examine(self) -> HealthCheck:
        """Whether every base is sound."""
        slugs, wrong = sorted(self._slugs()), []
        for slug in slugs:
            try:
                wrong += [f"{slug}: {problem}" for problem in self.get(slug).examine()]
            except NotFound:
                continue  # deleted meanwhile
            except QuintetError as error:
                wrong.append(f"{slug}: {error.message}")
        if not wrong:
            return HealthCheck("bases", True, f"{len(slugs)} knowledge bases, all sound" if slugs else "none")
        problems = "; ".join(problem.partition("; ")[0] for problem in wrong)
        return HealthCheck("bases", False, f"{problems}; delete what is damaged and add its documents again")

    def interrupted(self) -> Iterator[tuple[KnowledgeBase, str]]:
        """The sources whose last run was interrupted, each with its base."""
        for slug in sorted(self._slugs()):
            with suppress(NotFound, StoreError):  # deleted meanwhile, or damaged
                base = self.get(slug)
                yield from ((base, source) for source in base.interrupted())

    def archive(self, name: str) -> None:
        """Keep a base, but refuse to search it."""
        self.get(name).change(lambda base: replace(base, archived=True))

    def unarchive(self, name: str) -> None:
        self.get(name).change(lambda base: replace(base, archived=False))

    def delete(self, name: str) -> None:
        """Remove a base with its text, vectors, originals and runs. This cannot be undone."""
        base = self.get(name)
        place, gone = self._folder / base.slug, self._folder / f".gone-{base.slug}-{base.uid}"
        with self._changing():
            with base.writing():
                failure = _try_rename(place, gone)
            if failure is not None:  # Windows renames no folder that holds an open file, not even our own
                self._close(base)
                failure = _try_rename(place, gone)
        if failure is not None:
            raise StoreError(
                f"{base.slug} cannot be removed: {failure.strerror or failure}; check the permissions, and "
                "whether another process has it open"
            ) from failure
        self._close(base)
        shutil.rmtree(gone, ignore_errors=True)  # whatever remains is removed when the index is next opened

    def _close(self, base: KnowledgeBase) -> None:
        with self._opening:
            if self._open.get(base.slug) is base:
                del self._open[base.slug]
        base.close()

    def _changing(self, timeout: float | None = None) -> AbstractContextManager[None]:
        """Held while registrations change."""
        seconds = self._parts.settings.writer_timeout if timeout is None else timeout
        busy = "another process is changing the knowledge bases of this index; try again"
        with suppress(OSError):  # then the lock says what is wrong
            private.make_folder(self._folder)
        return hold_lock(self._folder / LOCK, seconds, busy)

    def _clean(self) -> None:
        """Remove bases that were left half made or half deleted by a kill."""
        if not self._folder.is_dir() or not self._leftovers():
            return
        try:
            with self._changing(timeout=0):
                for folder in self._leftovers():
                    shutil.rmtree(folder, ignore_errors=True)
        except (Conflict, StoreError):
            pass  # another process is changing bases, or the disk is read-only: the next opening cleans up

    def _leftovers(self) -> tuple[Path, ...]:
        folders = (folder for folder in self._folder.iterdir() if folder.is_dir())
        return tuple(folder for folder in folders if self._is_leftover(folder))

    def _is_leftover(self, folder: Path) -> bool:
        """A folder with documents never is: its registration may have been lost, and can be restored."""
        has_base = RegistrationFile(folder).exists() or self._parts.store_in(folder).exists()
        return folder.name.startswith(TEMPORARY) or not has_base

    def close(self) -> None:
        with self._opening:
            for base in self._open.values():
                base.close()
            self._open.clear()


def _is_registered(base: KnowledgeBase, registration: Registration | None) -> bool:
    return registration is not None and base.uid == registration.uid


def _try_rename(place: Path, target: Path) -> OSError | None:
    try:
        place.rename(target)
    except OSError as error:
        return error
    return None


def _describe_damaged(slug: str, reason: str) -> ListedBase:
    """The description of a base that cannot be opened."""
    return {
        "id": slug,
        "index": INDEX_PREFIX + slug,
        "title": slug,
        "state": "error",
        "archived": False,
        "created_ms": 0,
        "documents": 0,
        "chunks": 0,
        "embedded": 0,
        "properties": [],
        "sources": [],
        "error": reason,
    }
