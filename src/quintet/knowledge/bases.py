"""The knowledge bases of an index: made in one step, deleted in one step, each in a folder of its own."""

import secrets
import shutil
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from filelock import FileLock, Timeout

from quintet.contracts.knowledge import INDEX_PREFIX
from quintet.errors import Conflict, NotFound, StoreError
from quintet.knowledge import registry
from quintet.knowledge.base import KnowledgeBase, unknown
from quintet.knowledge.document_store import IndexParts
from quintet.knowledge.registry import SLUG, Registration, checked_properties, checked_slug, checked_title
from quintet.knowledge.results import BaseFields, ListedBase
from quintet.storage.sqlite.errors import translate_errors

FOLDER = "knowledge"
LOCK = "registry.lock"
PASSING = (".new-", ".gone-")  # folders of bases that are being made or deleted
MOST_OPEN = 64  # bases that are kept open, each with some five files; another is opened when asked for


class KnowledgeBases:
    """A folder with a registration is a base; one that begins with a dot was left by a call cut short."""

    def __init__(self, index_folder: Path, parts: IndexParts) -> None:
        self._folder = index_folder / FOLDER
        self._parts = parts
        self._open: dict[str, KnowledgeBase] = {}
        self._opening = threading.Lock()
        self._clean()

    def create(
        self, slug: str, title: str | None = None, properties: Sequence[dict[str, str]] = ()
    ) -> KnowledgeBase:
        """A new, empty knowledge base. Its schema, `[{name, type}]`, says what can be filtered by."""
        registration = Registration(
            checked_slug(slug),
            secrets.token_hex(8),
            checked_title(slug if title is None else title),
            self._parts.now_ms(),
            checked_properties(properties),
        )
        with self._changing():
            place = self._folder / slug
            if registry.read(place) is not None:
                raise Conflict(
                    f"there is a knowledge base {slug!r} already; choose another slug",
                    code="knowledge_base_exists",
                )
            if self._parts.store_in(place).exists():
                raise Conflict(
                    f"the folder of {slug!r} holds documents, but its registration is missing; "
                    "bring its base.json back, or delete the folder",
                    code="knowledge_base_exists",
                )
            self._make(place, registration)
        return self.get(slug)

    def _make(self, place: Path, registration: Registration) -> None:
        """Under another name first, so that it is there whole or not at all."""
        fresh = self._folder / f".new-{registration.slug}-{registration.uid}"
        store = self._parts.store_in(fresh)
        try:
            store.create()
            registry.write(fresh, registration)
            if place.exists():  # without a database it holds nothing that was ever acknowledged
                shutil.rmtree(place)
            fresh.rename(place)
        except OSError as error:
            shutil.rmtree(fresh, ignore_errors=True)
            raise StoreError(f"{place} cannot be made: {error.strerror or error}; check the disk") from error
        finally:
            store.close()

    def list(self, only: Collection[str] | None = None) -> "list[BaseFields]":
        """What each base says of itself, by slug. One that is damaged says so and hides no other.

        With `only`, those of these slugs that are there; no other base is so much as looked at.
        """
        slugs = self._slugs() if only is None else only
        return [described for slug in sorted(slugs) for described in self._described(slug)]

    def _slugs(self) -> set[str]:
        if not self._folder.is_dir():
            return set()
        folders = [one for one in self._folder.iterdir() if SLUG.fullmatch(one.name)]
        return {one.name for one in folders if (one / registry.FILE).exists()}

    def _described(self, slug: str) -> Iterator[BaseFields]:
        try:
            yield self.get(slug).describe()
        except NotFound:
            return  # deleted since it was listed
        except StoreError as error:
            yield _damaged(slug, error.message)

    def get(self, name: str) -> KnowledgeBase:
        """The base of that slug or index name."""
        slug = name.removeprefix(INDEX_PREFIX) if isinstance(name, str) else ""
        place = self._folder / slug
        registration = registry.read(place) if SLUG.fullmatch(slug) else None
        with self._opening:
            held = self._open.pop(slug, None)
            if held is not None and not _is_of(held, registration):
                registration = registry.read(place)  # which may be newer than what was just read
                if not _is_of(held, registration):
                    held.close()
                    held = None
            if registration is None:
                raise unknown(name)
            if held is None:
                held = KnowledgeBase(place, registration, self._parts, self._changing)
            self._open[slug] = held  # behind those that were used before it
            if len(self._open) > MOST_OPEN:
                self._open.pop(next(iter(self._open))).rest()
            return held

    def archive(self, name: str) -> None:
        """Keep a base, but answer no searches from it."""
        self.get(name).change(lambda base: replace(base, archived=True))

    def unarchive(self, name: str) -> None:
        self.get(name).change(lambda base: replace(base, archived=False))

    def delete(self, name: str) -> None:
        """Remove a base with its text, vectors, originals and runs. There is no way back."""
        base = self.get(name)
        place, gone = self._folder / base.slug, self._folder / f".gone-{base.slug}-{base.uid}"
        with self._changing():
            with base.writing():
                refused = _refusal(place, gone)
            if refused is not None:  # Windows moves no folder in which a file is open, be it our own
                self._let_go(base)
                refused = _refusal(place, gone)
        if refused is not None:
            raise StoreError(
                f"{base.slug} cannot be removed: {refused.strerror or refused}; check the permissions, and "
                "whether another process has it open"
            ) from refused
        self._let_go(base)
        shutil.rmtree(gone, ignore_errors=True)  # what stays is removed by the next who opens the index

    def _let_go(self, base: KnowledgeBase) -> None:
        with self._opening:
            if self._open.get(base.slug) is base:
                del self._open[base.slug]
        base.close()

    @contextmanager
    def _changing(self, timeout: float | None = None) -> Iterator[None]:
        """One at a time may change what is registered."""
        wait = self._parts.settings.writer_timeout if timeout is None else timeout
        lock = FileLock(self._folder / LOCK, timeout=wait, thread_local=False)
        with translate_errors(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            try:
                lock.acquire()
            except Timeout:  # an OSError, which `translate_errors` would take for a broken disk
                raise Conflict(
                    "another process is changing the knowledge bases of this index; try again",
                    code="busy_writer",
                ) from None
        try:
            yield
        finally:
            lock.release()

    def _clean(self) -> None:
        """Finish what was cut short: what is half made or half deleted goes."""
        if not self._folder.is_dir() or not self._rubbish():
            return
        try:
            with self._changing(timeout=0):
                for folder in self._rubbish():
                    shutil.rmtree(folder, ignore_errors=True)
        except (Conflict, StoreError):
            pass  # whoever holds the lock is at it, or nobody can write here

    def _rubbish(self) -> tuple[Path, ...]:
        return tuple(one for one in self._folder.iterdir() if one.is_dir() and self._is_rubbish(one))

    def _is_rubbish(self, folder: Path) -> bool:
        """Never one with documents: its registration may have been lost, and come back."""
        is_kept = (folder / registry.FILE).exists() or self._parts.store_in(folder).exists()
        return folder.name.startswith(PASSING) or not is_kept

    def close(self) -> None:
        with self._opening:
            for base in self._open.values():
                base.close()
            self._open.clear()


def _is_of(held: KnowledgeBase, registration: Registration | None) -> bool:
    return registration is not None and held.uid == registration.uid


def _refusal(place: Path, gone: Path) -> OSError | None:
    """Why a folder cannot be moved; None: it was."""
    try:
        place.rename(gone)
    except OSError as error:
        return error
    return None


def _damaged(slug: str, reason: str) -> ListedBase:
    """What can be said of a base that cannot be opened."""
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
