"""The one composition root: which store, which embedder, which settings."""

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from quintet.codegraph.map import OutlineMap, outline_map, unfound
from quintet.codegraph.related import (
    RelatedSymbols,
    check_walk,
    clean_reference,
    node_at,
    node_named,
    unknown_symbol,
    walk_from,
)
from quintet.collection import Collection
from quintet.contracts import HOUSE, contract_named, read
from quintet.contracts import knowledge as retrieval
from quintet.contracts.contract import Expansion, Strategy
from quintet.embed import STORED, choose_embedder, load_embedder
from quintet.errors import Conflict, NotFound, UsageError
from quintet.evaluation.tuning.tuned import Tuned
from quintet.indexing.disk import SourceFiles
from quintet.indexing.drift import Drift, measure_drift
from quintet.indexing.embedding import check_embedder, reembed
from quintet.indexing.removal import clear, remove
from quintet.indexing.roots import all_targets, present, resolve_path, sync_targets
from quintet.indexing.run import IndexRun, Progress, Report
from quintet.indexing.sync import sync
from quintet.knowledge import KnowledgeBases
from quintet.knowledge.context import RESULTS, context
from quintet.knowledge.document_store import IndexParts
from quintet.knowledge.references import FileUrl
from quintet.memory import Memory
from quintet.model.documents import Passage
from quintet.model.schema import Count
from quintet.model.tokens import checked_budget
from quintet.ports.health import HealthCheck
from quintet.ports.reading import Approximation, Embedder, Root
from quintet.ports.store_files import INDEX_FILE, KNOWLEDGE_FILES, MEMORY_FILES
from quintet.ports.writing import Choices
from quintet.processes.garbage import collect_garbage_rarely
from quintet.query.cache import CacheFigures, QueryCache
from quintet.query.code_and_memory import merge_answers
from quintet.query.explain import Explanation, why
from quintet.query.places import (
    Paths,
    documents_in_one_root,
    encodable,
    find_place,
    ids_below,
    locate,
    names_of,
    root_named,
)
from quintet.query.search import Response
from quintet.query.trials import Trials
from quintet.receipts.receipts import Receipts
from quintet.settings import Settings, load_settings
from quintet.storage.sqlite.doctor import examine_memory
from quintet.storage.sqlite.migrations import MIGRATIONS
from quintet.storage.sqlite.store import SqliteStore

MAP_SEEDS = 20  # results of a query from which a map is seen


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """What `quintet status` tells. `lag` counts files on disk that differ from what is indexed."""

    files: Count
    chunks: Count
    embedded: Count
    embedder: str | None
    roots: list[Root]
    generation: Count
    state_root: str
    lag: Drift
    cache: CacheFigures
    hnsw: Approximation | None
    tuned: Mapping[str, float]


def open(
    path: str | os.PathLike[str],
    embedder: Any = STORED,
    *,
    create: bool = True,
    clock_ns: Callable[[], int] = time.time_ns,
    **settings: object,
) -> "Index":
    """Open the index in folder `path`, making it if it is missing.

    `embedder` is None (text only), a name, or any object of the port; left out it is the one the index
    was built with. `clock_ns` tells the time that freshness is measured by. Other keyword arguments are
    settings.
    """
    given = os.fspath(path)
    if not given or "\0" in given:
        raise UsageError(f"the index's folder is {given!r}; name one, such as '.quintet'")
    folder = Path(given).absolute()
    chosen = load_settings(folder.parent, os.environ, **settings)
    for name, table in chosen.contracts.items():
        try:
            read(name, contract_named(name).parameters, {}, table)
        except UsageError as error:
            where = f"[contracts.{name}] of quintet.toml"
            raise UsageError(f"{where}: {error.message}", code=error.code, details=error.details) from error
    if not create and not (folder / INDEX_FILE).is_file():
        inside = folder / ".quintet"
        there_is = (inside / INDEX_FILE).is_file()
        way_out = f"there is one in {inside}" if there_is else "make one with 'quintet index'"
        raise NotFound(f"there is no index in {folder}; {way_out}")
    if isinstance(embedder, str):  # a wrong name leaves no folder behind
        embedder = load_embedder(embedder)
    store = SqliteStore(folder, text_index=chosen.text_index)
    store.create()
    try:
        return Index(store, embedder, chosen, settings.get("include"), settings.get("exclude"), clock_ns)
    except BaseException:
        store.close()
        raise


class Index:
    """An open index. Safe to search from many threads; use it as a context manager, or call `close`."""

    def __init__(
        self,
        store: SqliteStore,
        embedder: Any,
        settings: Settings,
        include: Any,
        exclude: Any,
        clock_ns: Callable[[], int],
    ) -> None:
        """`include` and `exclude` are None to use the globs of the last run."""
        with store.snapshot() as snapshot:
            stored, self._choices = snapshot.catalog.embedder, snapshot.catalog.choices
        self._globs: dict[str, Any] = {
            "include": tuple(filter(None, self._choices.include if include is None else include)),
            "exclude": tuple(filter(None, self._choices.exclude if exclude is None else exclude)),
        }
        self.settings = replace(settings, **{name: globs for name, globs in self._globs.items() if globs})
        self.embedder: Embedder | None = choose_embedder(embedder, stored, self._choices)
        check_embedder(self.embedder, stored)
        is_missing = embedder is STORED and self.embedder is None
        self._unloadable = (stored or self._choices.embedder) if is_missing else ""
        self.tuned = Tuned(store.folder)
        self.cache = QueryCache(self.settings.cache_entries)
        self._store = store
        self._clock_ns = clock_ns
        self._collection = Collection(
            store,
            self._current_embedder,
            self.settings,
            clock_ns,
            disk=SourceFiles(self.settings, clock_ns),
            cache=self.cache if self.settings.cache_entries else None,
            tuning=self.tuned,
        )
        self._memory: Memory | None = None
        self._knowledge: KnowledgeBases | None = None
        self._opening = threading.Lock()

    def _current_embedder(self) -> Embedder | None:
        return self.embedder

    def _now_ms(self) -> int:
        return self._clock_ns() // 1_000_000

    @property
    def folder(self) -> Path:
        return self._store.folder

    def sync(
        self,
        paths: Paths | None = None,
        *,
        force: bool = False,
        embed: bool = True,
        progress: Progress | None = None,
    ) -> Report:
        """Index folders and files; without `paths`, what is indexed already, or else the current folder.

        Returns when everything is searchable and embedded; with `embed=False` when it is searchable by
        text. A path may be written `name=path`. `progress` is called with stage, done and total; an
        exception raised from it ends the run with what was committed so far.
        """
        self._check_loadable()
        given = [resolve_path(path, Path.cwd()) for path in names_of(paths or ())]
        with self._run(progress, force) as run:
            known = run.writer.roots()
            if given or not known:
                chosen = sync_targets(given or [resolve_path(".", Path.cwd())], known)
            else:
                chosen = all_targets(present(known, run.report))
            self._remember_choices(run)
            sync(run, chosen)
            if embed:
                self._embed(run)
        return run.report

    def embed(self, *, progress: Progress | None = None) -> Report:
        """Embed the chunks that have no vector yet."""
        self._check_loadable()
        with self._run(progress) as run:
            self._embed(run)
        return run.report

    def reembed(self, embedder: Any, *, progress: Progress | None = None) -> Report:
        """Make all vectors with another embedder. The old ones are used until all new ones are there."""
        chosen = choose_embedder(embedder, self._collection.stored_embedder(), self._choices)
        if chosen is None:
            raise UsageError("re-embedding needs an embedder; name one, such as 'granite'")
        with self._run(progress) as run, run.report.stage("embed"):
            run.report.embedded = reembed(run, chosen)
        self.embedder, self._unloadable = chosen, ""
        return run.report

    @contextmanager
    def _run(self, progress: Progress | None, force: bool = False) -> Iterator[IndexRun]:
        start = time.perf_counter()
        with self._collection.run(progress, force=force) as run, collect_garbage_rarely():
            yield run
            run.writer.settle()
            run.report.pending = run.writer.count_pending() if self.embedder else 0
        run.report.seconds = time.perf_counter() - start

    def _embed(self, run: IndexRun) -> None:
        if self.embedder is not None:
            check_embedder(self.embedder, self._collection.stored_embedder())
            with run.report.stage("embed"):
                run.report.embedded = self._collection.embed(run)

    def _check_loadable(self) -> None:
        if self._unloadable:
            raise Conflict(
                f"the vectors of this index are those of {self._unloadable!r}, which Quintet cannot load by "
                "itself; open it with embedder=<that embedder>, or with embedder=None to index text only"
            )

    def _remember_choices(self, run: IndexRun) -> None:
        """Store the embedder and the globs of this run, for later runs that are given none."""
        text_only = self.embedder is None and self._collection.stored_embedder() is None
        identity = self.embedder.identity if self.embedder else ""
        choices = Choices(text_only, identity, **self._globs)
        if choices != self._choices:
            with run.writer.batch():
                run.writer.remember(choices)
            self._choices = choices

    def forget(self, path: str) -> int:
        """Remove a document, a folder of documents or a whole root; returns how many documents went.

        Files stay where they are, so a later run over the same folder brings them back.
        """
        path = encodable(path)
        with self._collection.writer() as writer:
            with self._collection.snapshot() as snapshot:
                root = root_named(path, snapshot.catalog.roots(), Path.cwd())
                documents = [] if root else documents_in_one_root(path, snapshot.catalog, Path.cwd())
            if root is None and not documents:
                raise NotFound(
                    f"nothing indexed is called {path!r}; 'quintet status' lists the roots",
                    code="document_not_found",
                )
            return remove(writer, root, documents)

    def clear(self) -> int:
        """Empty the index: documents, text, vectors, graph and roots; returns how many documents went.

        Files stay where they are, and so do memories.
        """
        with self._collection.writer() as writer:
            return clear(writer)

    def search(self, query: str, contract: str = HOUSE, **params: object) -> Response:
        """Search by one of the contracts. `params` are the contract's own, or `limit` and `mode`."""
        if contract == retrieval.CONTRACT.name:
            named = params.get("index", self.settings.contracts.get(contract, {}).get("index"))
            if isinstance(named, str) and named.strip() not in ("", retrieval.DEFAULT_INDEX):
                return self.knowledge.get(named).search(query, **{**params, "index": named})
        return self._collection.search(query, contract_named(contract), params)

    def tried(self, query: str, requests: Sequence[Mapping[str, object]], contract: str = HOUSE) -> Trials:
        """What each of these requests would find. Sooner than one search each; files are not looked at."""
        return self._collection.trials(query, requests, contract_named(contract))

    def why(self, query: str, reference: str, contract: str = HOUSE, **params: object) -> Explanation:
        """Why a chunk, or the nearest chunk of a document, is among the results of a search, or not."""
        chunk_ids = [passage.chunk.id for passage in self.get(reference)]
        with self._collection.snapshot() as snapshot:
            ask = partial(self._collection.search_in, snapshot, query, contract_named(contract))
            embedder = self._collection.usable_embedder(snapshot)
            return why(snapshot, embedder, ask, params, chunk_ids, self.settings.max_terms)

    @property
    def receipts(self) -> Receipts:
        """Answers with receipts, their replay, and proofs that a chunk is in the index."""
        return Receipts(self._collection, len(MIGRATIONS), self._store.tokenizer, self._now_ms)

    @property
    def memory(self) -> Memory:
        """What is remembered beside the index, in a database of its own that no run touches."""
        with self._opening:
            if self._memory is None:
                store = SqliteStore(self.folder, MEMORY_FILES)
                store.create()
                memories = Collection(store, self._current_embedder, self.settings, self._clock_ns)
                self._memory = Memory(memories, self._collection, self._now_ms)
            return self._memory

    @property
    def knowledge(self) -> KnowledgeBases:
        """The knowledge bases beside the index, each in a store of its own that no run touches."""
        with self._opening:
            if self._knowledge is None:
                parts = IndexParts(_base_store, self._current_embedder, self.settings, self._clock_ns)
                self._knowledge = KnowledgeBases(self.folder, parts)
            return self._knowledge

    def context(
        self,
        query: str,
        budget: int = 2000,
        index: str = retrieval.DEFAULT_INDEX,
        file_url: FileUrl | None = None,
        **params: object,
    ) -> Response:
        """What a model is given to answer from: the best passages, each once, cited, in a token budget.

        `params` are those of contract knowledge; `file_url` makes the address of a result's file.
        """
        given: dict[str, object] = {"mode": "hybrid"} if "search_method" not in params else {}
        given |= {"limit": RESULTS} if "top_k" not in params else {}
        checked_budget(budget)
        found = self.search(query, retrieval.CONTRACT.name, **{**given, **params}, index=index)
        return replace(found, body=context(found.body, budget, file_url))

    def search_all(
        self, query: str, code: Mapping[str, object] | None = None, memory: Mapping[str, object] | None = None
    ) -> Response:
        """Code and memory in one answer (spec 002, section 4): each best first, and both in one ranking.

        `code` and `memory` are further parameters of the mcb contract and of `memory.recall`.
        """
        return merge_answers(
            {
                "code": self.search(query, "mcb", **(code or {})),
                "memory": self.memory.recall(query, **(memory or {})),
            }
        )

    def related(
        self,
        reference: str,
        strategy: Strategy = "related",
        depth: int = 1,
        *,
        possible: bool = False,
        limit: int = 100,
    ) -> RelatedSymbols:
        """What is around a symbol, `PATH` or `PATH:LINE` in the code graph, breadth first.

        `strategy` is callers, dependencies or related; `possible` also follows edges that are a guess.
        """
        expansion = Expansion(strategy, depth, possible)
        check_walk(expansion, limit)
        reference = clean_reference(encodable(reference))
        with self._collection.snapshot() as snapshot:
            graph = snapshot.graph
            start = node_named(graph, reference)
            if start is None:
                place = find_place(reference, snapshot.catalog, Path.cwd())
                if place is not None:
                    start = node_at(graph, place.root, place.path, place.first, place.last)
            if start is None:
                raise unknown_symbol(graph, reference)
            return walk_from(graph, start, expansion, limit)

    def map(self, paths: Paths = (), *, query: str | None = None, budget: int = 1024) -> OutlineMap:
        """An outline of what is indexed, or of these files and folders, within a budget of tokens.

        What much points at comes first; with a query, as seen from what the query finds.
        """
        found = () if query is None else self._found(query)
        with self._collection.snapshot() as snapshot:
            within = ids_below(names_of(paths), snapshot.catalog, Path.cwd())
            towards = {chunk_id: 1 / rank for rank, chunk_id in enumerate(found, start=1)}
            made = outline_map(
                snapshot.graph, towards, within, budget, several_roots=len(snapshot.catalog.roots()) > 1
            )
        return unfound(made, query) if query is not None and not towards else made

    def _found(self, query: str) -> list[str]:
        answer = self.search(query, limit=MAP_SEEDS).answer
        return [item.best_chunk for item in answer.ranked] if answer else []

    def roots(self) -> list[Root]:
        """The folders that are indexed."""
        with self._collection.snapshot() as snapshot:
            return snapshot.catalog.roots()

    def status(self) -> IndexStatus:
        with self._collection.snapshot() as snapshot:
            catalog = snapshot.catalog
            counts = catalog.counts()
            roots = catalog.roots()
            known = {root.name: catalog.known(root.name) for root in roots}
            return IndexStatus(
                counts.documents,
                counts.chunks,
                counts.embedded,
                catalog.embedder or catalog.choices.embedder or None,
                roots,
                catalog.generation,
                snapshot.tree.root,
                measure_drift(roots, known, catalog.refused(), self.settings),
                self.cache.figures(),
                snapshot.vectors.approximation,
                self.tuned.numbers_in_use(catalog.embedder),
            )

    def get(self, reference: str) -> list[Passage]:
        """The chunk of that id, or the passages of `PATH` or `PATH:FIRST-LAST`."""
        reference = encodable(reference)
        with self._collection.snapshot() as snapshot:
            found = snapshot.catalog.passages([reference])
            if found:
                return list(found.values())
            where = locate(reference, snapshot.catalog, Path.cwd())
            return where.cut(snapshot.catalog.passages_of(where.root, where.path))

    def build_hnsw(self) -> Approximation | None:
        """Build the HNSW graph over all vectors and measure it; None where there are no vectors."""
        with self._store.snapshot() as snapshot:
            snapshot.vectors.build_approximation()
            return snapshot.vectors.approximation

    def doctor(self) -> list[HealthCheck]:
        """Is everything in order? One check a line, with what to do about it."""
        with self._collection.snapshot() as snapshot:
            tuned = self.tuned.examine(snapshot.catalog.embedder)
        return [*self._store.examine(), examine_memory(self.folder / MEMORY_FILES.database), tuned]

    def close(self) -> None:
        close_embedder = getattr(self.embedder, "close", None)
        if close_embedder is not None:
            close_embedder()
        if self._memory is not None:
            self._memory.close()
        if self._knowledge is not None:
            self._knowledge.close()
        self._collection.close()

    def __enter__(self) -> "Index":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _base_store(folder: Path) -> SqliteStore:
    """The store of a knowledge base."""
    return SqliteStore(folder, KNOWLEDGE_FILES)
