"""The composition root: only this module knows which store and which embedder are in use."""

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from quintet.codegraph.map import OutlineMap, outline_map, unfound
from quintet.codegraph.related import RelatedSymbols, related_symbols
from quintet.collection import Collection
from quintet.contracts import HOUSE, check_defaults, contract_named
from quintet.contracts import knowledge as retrieval
from quintet.contracts.bases import DEFAULT_INDEX
from quintet.contracts.contract import Expansion, Strategy
from quintet.embed import STORED, choose_embedder, embedder_for, load_embedder
from quintet.errors import Conflict, NotFound, UsageError
from quintet.evaluation.backends import Backends
from quintet.evaluation.tuning.tuned_numbers import TunedNumbers
from quintet.indexing.disk import SourceFiles
from quintet.indexing.embedding import check_embedder, reembed
from quintet.indexing.removal import clear, remove
from quintet.indexing.roots import GivenPath, given_paths, targets_of_run
from quintet.indexing.run import IndexRun, Progress, Report
from quintet.indexing.sync import sync
from quintet.knowledge import KnowledgeBases
from quintet.knowledge.context import context, context_params
from quintet.knowledge.document_store import IndexParts
from quintet.knowledge.references import FileUrl
from quintet.memory import Memory
from quintet.model.documents import Passage
from quintet.model.tokens import checked_budget
from quintet.ports.health import HealthCheck
from quintet.ports.reading import Approximation, Embedder, Root
from quintet.ports.store_files import INDEX_FILE, KNOWLEDGE_FILES, MEMORY_FILES
from quintet.ports.writing import Choices
from quintet.processes.garbage import collect_garbage_rarely
from quintet.query.cache import QueryCache
from quintet.query.code_and_memory import merge_answers
from quintet.query.context_snapshot import Context, Parameters, in_context
from quintet.query.explain import Explanation, why
from quintet.query.places import Paths, encodable, find_place, ids_below, locate, names_of, root_or_documents
from quintet.query.search import Response
from quintet.query.trials import Trials
from quintet.receipts.receipts import Receipts
from quintet.settings import Settings, load_settings
from quintet.status import IndexStatus, index_status
from quintet.storage.sqlite.doctor import examine_memory, examine_permissions
from quintet.storage.sqlite.migrations import MIGRATIONS
from quintet.storage.sqlite.store import SqliteStore

MAP_SEEDS = 20  # results of a query that a map starts from


def open(
    path: str | os.PathLike[str],
    embedder: Any = STORED,
    *,
    create: bool = True,
    clock_ns: Callable[[], int] = time.time_ns,
    **settings: object,
) -> "Index":
    """Open the index in folder `path`, and create it if it is missing.

    `embedder` is None (text only), a name, the folder of a model, or any object that implements the port;
    by default it is the one that the index was built with. `clock_ns` is the clock for freshness. Other
    keyword arguments are settings.
    """
    name = os.fspath(path)
    if not name or "\0" in name:
        raise UsageError(f"the folder of the index is {name!r}; name one, such as '.quintet'")
    folder = Path(name).absolute()
    loaded = load_settings(folder.parent, os.environ, **settings)
    check_defaults(loaded.contracts)
    if not create and not (folder / INDEX_FILE).is_file():
        inside = folder / ".quintet"
        is_inside = (inside / INDEX_FILE).is_file()
        way_out = f"there is one in {inside}" if is_inside else "make one with 'quintet index'"
        raise NotFound(f"there is no index in {folder}; {way_out}")
    if isinstance(embedder, str | os.PathLike):  # a wrong name leaves no folder behind
        embedder = load_embedder(embedder)
    store = SqliteStore(folder, text_index=loaded.text_index)
    store.create()
    try:
        return Index(store, embedder, loaded, settings.get("include"), settings.get("exclude"), clock_ns)
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
        """Where `include` or `exclude` is None, the globs of the last run apply."""
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
        self.tuned = TunedNumbers(store.folder)
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

    def __repr__(self) -> str:
        embedder = self.embedder.identity if self.embedder else "none"
        return f"Index({str(self.folder)!r}, embedder={embedder!r})"

    def _current_embedder(self) -> Embedder | None:
        return self.embedder

    def _now_ms(self) -> int:
        return self._clock_ns() // 1_000_000

    @property
    def folder(self) -> Path:
        return self._store.folder

    def sync(
        self,
        paths: Paths | Sequence[str | GivenPath] | None = None,
        *,
        force: bool = False,
        embed: bool = True,
        within: Path | None = None,
        progress: Progress | None = None,
    ) -> Report:
        """Index folders and files; without `paths`, what is indexed already, or else the current folder.

        Returns when everything is searchable and embedded; with `embed=False` when it is searchable by
        text. A path may be written `name=path`. `within` leaves out roots elsewhere. `progress` is called
        with stage, done and total; an exception from it ends the run with what was committed so far.
        """
        self._check_loadable()
        locations = given_paths(paths or (), Path.cwd())
        with self._run(progress, force) as run:
            targets = targets_of_run(locations, run.writer.roots(), within, run.report)
            self._remember_choices(run)
            sync(run, targets)
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
        new_embedder = choose_embedder(embedder, self._collection.stored_embedder(), self._choices)
        if new_embedder is None:
            raise UsageError("re-embedding needs an embedder; name one, such as 'granite'")
        with self._run(progress) as run, run.report.stage("embed"):
            run.report.embedded = reembed(run, new_embedder)
        self.embedder, self._unloadable = new_embedder, ""
        return run.report

    @contextmanager
    def _run(self, progress: Progress | None, force: bool = False) -> Iterator[IndexRun]:
        start = time.perf_counter()
        with self._collection.run(progress, force=force) as run, collect_garbage_rarely():
            yield run
            run.writer.settle()
            run.report.pending = run.writer.vectors.count_pending() if self.embedder else 0
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
                run.writer.put_choices(choices)
            self._choices = choices

    def forget(self, path: str) -> int:
        """Remove a document, a folder of documents or a whole root; returns how many documents went.

        Files stay where they are, so a later run over the same folder brings them back.
        """
        path = encodable(path)
        with self._collection.writer() as writer:
            with self._collection.snapshot() as snapshot:
                root, documents = root_or_documents(path, snapshot.catalog, Path.cwd())
            return remove(writer, root, documents)

    def clear(self) -> int:
        """Empty the index: documents, text, vectors, graph and roots; returns how many documents went.

        Files stay where they are, and so do memories.
        """
        with self._collection.writer() as writer:
            return clear(writer)

    def search(self, query: str, contract: str = HOUSE, **params: object) -> Response:
        """Search by one of the contracts. `params` are those of the contract, or `limit` and `mode`."""
        if contract in (HOUSE, retrieval.CONTRACT.name):
            base = params.get("index", self.settings.contracts.get(contract, {}).get("index"))
            if isinstance(base, str) and base.strip() not in ("", DEFAULT_INDEX):
                return self.knowledge.get(base).search(query, contract, **{**params, "index": base})
        return self._collection.search(query, contract_named(contract), params)

    def tried(self, query: str, requests: Sequence[Mapping[str, object]], contract: str = HOUSE) -> Trials:
        """Search with each of these parameters. Faster than many searches; files are not compared."""
        return self._collection.trials(query, requests, contract_named(contract))

    def why(self, query: str, reference: str, contract: str = HOUSE, **params: object) -> Explanation:
        """Why a chunk, or the best chunk of a document, is among the results of a search, or is not."""
        chunk_ids = [passage.chunk.id for passage in self.get(reference)]
        with self._collection.snapshot() as snapshot:
            ask = partial(self._collection.search_in, snapshot, query, contract_named(contract))
            embedder = self._collection.usable_embedder(snapshot)
            return why(snapshot, embedder, ask, params, chunk_ids, self.settings.max_terms)

    @property
    def receipts(self) -> Receipts:
        """Searches with receipts, the replay of receipts, and proofs that a chunk is in the index."""
        return Receipts(self._collection, len(MIGRATIONS), self._store.tokenizer, self._now_ms)

    @property
    def memory(self) -> Memory:
        """The memories beside the index, in a database of their own that no run touches."""
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
                store_in = partial(SqliteStore, files=KNOWLEDGE_FILES)
                parts = IndexParts(store_in, self._current_embedder, self.settings, self._clock_ns)
                self._knowledge = KnowledgeBases(self.folder, parts)
            return self._knowledge

    def context(
        self,
        query: str,
        budget: int = 2000,
        index: str = DEFAULT_INDEX,
        file_url: FileUrl | None = None,
        **params: object,
    ) -> Response:
        """The context for a model: the best passages with citations, without duplicates, in a token budget.

        `params` are those of contract knowledge; `file_url` makes the address of the file of a result.
        """
        checked_budget(budget)
        response = self.search(query, retrieval.CONTRACT.name, **context_params(params), index=index)
        body, notes = context(response.body, budget, file_url)
        return replace(response, body=body, notes=[*response.notes, *notes])

    def search_all(
        self, query: str, context: Context = None, *, code: Parameters = None, memory: Parameters = None
    ) -> Response:
        """Search code and memory (spec 002, section 4): the results of each, and both in one ranking.

        `context` is where the asker is: its project scopes the code, and the graph is walked from what it
        names. `code` and `memory` are more parameters for the mcb contract and for `memory.recall`.
        """
        with self._collection.snapshot() as snapshot:
            params, notes = in_context(snapshot, context, code or {}, self.memory.get, Path.cwd())
        by_code, by_memory = self.search(query, "mcb", **params), self.memory.recall(query, **(memory or {}))
        return merge_answers({"code": by_code, "memory": by_memory}, notes)

    def related(
        self,
        reference: str,
        strategy: Strategy = "related",
        depth: int = 1,
        *,
        possible: bool = False,
        limit: int = 100,
    ) -> RelatedSymbols:
        """The neighbours of a symbol, `PATH` or `PATH:LINE` in the code graph, breadth first.

        `strategy` is callers, dependencies or related; `possible` also follows uncertain edges.
        """
        reference, expansion = encodable(reference), Expansion(strategy, depth, possible)
        with self._collection.snapshot() as snapshot:
            find = partial(find_place, documents=snapshot.catalog, base=Path.cwd())
            return related_symbols(snapshot.graph, reference, find, expansion, limit)

    def map(self, paths: Paths = (), *, query: str | None = None, budget: int = 1024) -> OutlineMap:
        """An outline of the index, or of these files and folders, within a budget of tokens.

        The most referenced definitions come first; with a query, those that its results lead to.
        """
        answer = None if query is None else self.search(query, limit=MAP_SEEDS).answer
        ranked = answer.ranked if answer else []
        with self._collection.snapshot() as snapshot:
            within = ids_below(names_of(paths), snapshot.catalog, Path.cwd())
            towards = {item.best_chunk: 1 / rank for rank, item in enumerate(ranked, start=1)}
            several_roots = len(snapshot.catalog.roots()) > 1
            outline = outline_map(snapshot.graph, towards, within, budget, several_roots=several_roots)
        return unfound(outline, query) if query is not None and not towards else outline

    def roots(self) -> list[Root]:
        """The indexed folders."""
        with self._collection.snapshot() as snapshot:
            return snapshot.catalog.roots()

    def status(self) -> IndexStatus:
        with self._collection.snapshot() as snapshot:
            tuned = self.tuned.numbers_in_use(snapshot.catalog.embedder)
            return index_status(snapshot, self.settings, self.cache.figures(), tuned)

    def get(self, reference: str) -> list[Passage]:
        """The chunk with that id, or the passages of `PATH` or `PATH:FIRST-LAST`."""
        reference = encodable(reference)
        with self._collection.snapshot() as snapshot:
            by_id = snapshot.catalog.passages([reference])
            if by_id:
                return list(by_id.values())
            place = locate(reference, snapshot.catalog, Path.cwd())
            return place.cut(snapshot.catalog.passages_of(place.root, place.path))

    def build_hnsw(self) -> Approximation | None:
        """Build the HNSW graph over all vectors and measure it; None if there are no vectors."""
        with self._store.snapshot() as snapshot:
            snapshot.vectors.build_approximation()
            return snapshot.vectors.approximation

    def doctor(self, *, fix: bool = False) -> list[HealthCheck]:
        """Check the index. A failed check says what to do. `fix` keeps other accounts out of its files."""
        memory = examine_memory(self.folder / MEMORY_FILES.database)
        tuned = self.tuned.examine(self._collection.stored_embedder())
        rest = (memory, self.knowledge.examine(), tuned, examine_permissions(self.folder, fix))
        return [*self._store.examine(), *rest]

    def close(self) -> None:
        close_embedder = getattr(self.embedder, "close", None)
        if close_embedder is not None:
            close_embedder()
        for part in (self._memory, self._knowledge, self._collection):
            if part is not None:
                part.close()

    def __enter__(self) -> "Index":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


BACKENDS = Backends(open, SqliteStore, embedder_for)  # evaluation opens indexes and corpora with it
