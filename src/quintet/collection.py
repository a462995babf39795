"""The write side of an open index: its embedder, its runs, what it forgets."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from quintet.embed import DEFAULT, CheckedEmbedder, load_embedder, name_of
from quintet.errors import Conflict, NotFound, UsageError
from quintet.indexing.embedding import check_embedder, embed_pending, reembed
from quintet.indexing.roots import SyncTarget, all_targets, resolve_path, sync_targets
from quintet.indexing.run import IndexRun, Progress, Report, collect_garbage_rarely
from quintet.indexing.sync import sync
from quintet.indexing.walk import FileProblem
from quintet.ports.reading import Embedder, Root
from quintet.ports.writing import Choices
from quintet.query.places import Paths, documents_in_one_root, encodable, names_of, root_named
from quintet.settings import Settings
from quintet.storage.sqlite.store import SqliteStore

STORED: Final[Any] = object()  # the embedder the index was built with, else the default


class Upkeep:
    """What `Index` hands its runs to. One at a time writes, whoever asks."""

    def __init__(
        self,
        store: SqliteStore,
        embedder: Any,
        settings: Settings,
        told: Mapping[str, Sequence[str] | None],
        clock_ns: Callable[[], int],
    ) -> None:
        """`told` are the globs given as arguments: they stay with the index until others are given."""
        self.store = store
        with store.snapshot() as snapshot:
            self._stored = snapshot.catalog.embedder
            self._choices = snapshot.catalog.choices
        self._globs: dict[str, Any] = {
            name: tuple(filter(None, getattr(self._choices, name) if globs is None else globs))
            for name, globs in told.items()
        }
        self.settings = replace(settings, **{name: globs for name, globs in self._globs.items() if globs})
        self._clock_ns = clock_ns
        self._unloadable = False
        self.embedder = self._chosen(embedder)
        check_embedder(self.embedder, self._stored)

    def _chosen(self, wanted: Any) -> Embedder | None:
        if wanted is STORED:
            intended = self._stored or self._choices.embedder
            if not intended:
                return None if self._choices.text_only else load_embedder(DEFAULT)
            name = name_of(intended)
            self._unloadable = name is None
            return load_embedder(name) if name else None
        if wanted is None or isinstance(wanted, str):
            return load_embedder(wanted or "none")
        return CheckedEmbedder(wanted)

    def sync(
        self,
        paths: Paths | None,
        force: bool,
        embed: bool,
        progress: Progress | None,
    ) -> Report:
        self._check_loadable()
        given = [resolve_path(path, Path.cwd()) for path in names_of(paths or ())]
        with self._running(progress, force) as run:
            known = run.writer.roots()
            if given or not known:
                chosen = sync_targets(given or [resolve_path(".", Path.cwd())], known)
            else:
                chosen = self._again(known, run.report)
            self._remember(run)
            sync(run, chosen)
            if embed:
                self._embed(run)
        return run.report

    def _remember(self, run: IndexRun) -> None:
        """Keep what this run was told, for later runs that are told nothing."""
        text_only = self.embedder is None and self._stored is None
        identity = self.embedder.identity if self.embedder else ""
        choices = Choices(text_only, identity, **self._globs)
        if choices != self._choices:
            with run.writer.batch():
                run.writer.remember(choices)
            self._choices = choices

    def embed(self, progress: Progress | None) -> Report:
        self._check_loadable()
        with self._running(progress) as run:
            self._embed(run)
        return run.report

    def reembed(self, embedder: Any, progress: Progress | None) -> Report:
        chosen = self._chosen(embedder)
        if chosen is None:
            raise UsageError("re-embedding needs an embedder; name one, such as 'granite'")
        with self._running(progress) as run, run.report.stage("embed"):
            run.report.embedded = reembed(run, chosen)
        self.embedder, self._stored, self._unloadable = chosen, chosen.identity, False
        return run.report

    @contextmanager
    def _running(self, progress: Progress | None, force: bool = False) -> Iterator[IndexRun]:
        start = time.perf_counter()
        with self.store.writer(self.settings.writer_timeout) as writer, collect_garbage_rarely():
            run = IndexRun(writer, self.settings, self._clock_ns, progress or _silent, Report(), force)
            yield run
            writer.settle()
            run.report.pending = writer.count_pending() if self.embedder else 0
        run.report.seconds = time.perf_counter() - start

    def _embed(self, run: IndexRun) -> None:
        if self.embedder is None:
            return
        with self.store.snapshot() as snapshot:
            stored = snapshot.catalog.embedder
        check_embedder(self.embedder, stored)
        with run.report.stage("embed"):
            run.report.embedded = embed_pending(run, self.embedder, stored)
        self._stored = self.embedder.identity

    def _check_loadable(self) -> None:
        if self._unloadable:
            identity = self._stored or self._choices.embedder
            raise Conflict(
                f"the vectors of this index are those of {identity!r}, which Quintet cannot load by itself; "
                "open it with embedder=<that embedder>, or with embedder=None to index text only"
            )

    @staticmethod
    def _again(known: Sequence[Root], report: Report) -> list[SyncTarget]:
        """Every root that is still there. One that is gone keeps its documents until it is forgotten."""
        for root in known:
            if not Path(root.location).is_dir():
                reason = "the folder of this root is gone; bring it back, or run 'quintet forget' on it"
                report.problems.append(FileProblem(root.location, reason))
        return all_targets([root for root in known if Path(root.location).is_dir()])

    def forget(self, path: str) -> int:
        path = encodable(path)
        with self.store.writer(self.settings.writer_timeout) as writer:
            with self.store.snapshot() as snapshot:
                root = root_named(path, snapshot.catalog.roots(), Path.cwd())
                documents = [] if root else documents_in_one_root(path, snapshot.catalog, Path.cwd())
            if root is None and not documents:
                raise NotFound(
                    f"nothing indexed is called {path!r}; 'quintet status' lists the roots",
                    code="document_not_found",
                )
            with writer.batch():
                gone = writer.drop_root(root.name) if root else len(documents)
                for name, document in documents:
                    writer.remove(name, [document])
                writer.drop_unused_vectors()
                writer.forget_names()
            writer.settle()
        return gone

    def clear(self) -> int:
        with self.store.writer(self.settings.writer_timeout) as writer:
            with writer.batch():
                gone = writer.clear()
                writer.forget_names()
            writer.settle()
        return gone


def _silent(stage: str, done: int, total: int) -> None:
    pass
