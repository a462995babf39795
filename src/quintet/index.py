"""The one composition root: which store, which embedder, which settings."""

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from quintet.codegraph.map import OutlineMap, outline_map, unfound
from quintet.codegraph.related import Related, related
from quintet.collection import STORED, Upkeep
from quintet.contracts import HOUSE, contract_named, read
from quintet.contracts import knowledge as retrieval
from quintet.contracts.contract import Expansion, Strategy
from quintet.embed import load_embedder
from quintet.errors import NotFound, UsageError
from quintet.evaluation.tuning.tuned import Tuned
from quintet.indexing.disk import SourceFiles
from quintet.indexing.drift import Drift, measure_drift
from quintet.indexing.run import Progress, Report
from quintet.knowledge import KnowledgeBases
from quintet.knowledge.context import RESULTS, context
from quintet.knowledge.references import FileUrl
from quintet.knowledge.shelf import Tools
from quintet.memory import Memory
from quintet.model.documents import Passage
from quintet.model.results import Note
from quintet.model.tokens import checked_budget
from quintet.ports.reading import Approximation, Embedder, Root
from quintet.query.cache import CacheFigures, QueryCache
from quintet.query.code_and_memory import merge_answers
from quintet.query.explain import Explanation, why
from quintet.query.places import Paths, encodable, ids_below, locate, names_of
from quintet.query.search import Response, search
from quintet.query.trials import Trials, run_trials
from quintet.receipts.issue import Receipts
from quintet.settings import load_settings
from quintet.storage.sqlite.doctor import Check, examine_memory
from quintet.storage.sqlite.store import FILE, MEMORY, SqliteSnapshot, SqliteStore

MAP_SEEDS = 20  # results of a query from which a map is seen


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """What `quintet status` tells. `lag` counts files on disk that differ from what is indexed."""

    files: int
    chunks: int
    embedded: int
    embedder: str | None
    roots: list[Root]
    generation: int
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
    if not create and not (folder / FILE).is_file():
        inside = folder / ".quintet"
        there_is = (inside / FILE).is_file()
        way_out = f"there is one in {inside}" if there_is else "make one with 'quintet index'"
        raise NotFound(f"there is no index in {folder}; {way_out}")
    if isinstance(embedder, str):  # a wrong name leaves no folder behind
        embedder = load_embedder(embedder)
    store = SqliteStore(folder, text_index=chosen.text_index)
    store.create()
    try:
        told: dict[str, Any] = {name: settings.get(name) for name in ("include", "exclude")}
        return Index(Upkeep(store, embedder, chosen, told, clock_ns), clock_ns)
    except BaseException:
        store.close()
        raise


class Index:
    """An open index. Safe to search from many threads; use as a context manager, or call `close`."""

    def __init__(self, upkeep: Upkeep, clock_ns: Callable[[], int]) -> None:
        self._store = upkeep.store
        self._upkeep = upkeep
        self.settings = upkeep.settings
        self.tuned = Tuned(self._store.folder)
        self.cache = QueryCache(self.settings.cache_entries)
        self._clock_ns = clock_ns
        self._disk = SourceFiles(self.settings, clock_ns)
        self._memory: Memory | None = None
        self._knowledge: KnowledgeBases | None = None
        self._opening = threading.Lock()

    @property
    def embedder(self) -> Embedder | None:
        """What makes the vectors of this index; None where text alone is searched."""
        return self._upkeep.embedder

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
        """Index folders and files; without `paths`, what is indexed already, else the current folder.

        Returns when everything is searchable and embedded; with `embed=False` when it is searchable by
        text. A path may be written `name=path`. `progress` is called with stage, done and total; an
        exception raised from it ends the run with what was committed so far.
        """
        return self._upkeep.sync(paths, force, embed, progress)

    def embed(self, *, progress: Progress | None = None) -> Report:
        """Embed what has no vector yet."""
        return self._upkeep.embed(progress)

    def reembed(self, embedder: Any, *, progress: Progress | None = None) -> Report:
        """Make every vector anew with another embedder. The old ones are used until all are there."""
        return self._upkeep.reembed(embedder, progress)

    def forget(self, path: str) -> int:
        """Remove a document, a folder of documents or a whole root from the index; how many went.

        Files stay where they are, so a later run over the same folder brings them back.
        """
        return self._upkeep.forget(path)

    def clear(self) -> int:
        """Empty the index: documents, text, vectors, graph and roots; how many documents went.

        Files stay where they are, and so do memories.
        """
        return self._upkeep.clear()

    def search(self, query: str, contract: str = HOUSE, **params: object) -> Response:
        """Search by one of the contracts. `params` are the contract's own, or `limit` and `mode`."""
        if contract == retrieval.CONTRACT.name:
            named = params.get("index", self.settings.contracts.get(contract, {}).get("index"))
            if isinstance(named, str) and named.strip() not in ("", retrieval.DEFAULT_INDEX):
                return self.knowledge.get(named).search(query, **{**params, "index": named})
        with self._store.snapshot() as snapshot:
            return self._ask(snapshot, query, contract, params)

    def _ask(
        self,
        snapshot: SqliteSnapshot,
        query: str,
        contract: str,
        params: Mapping[str, object],
        *,
        alone: bool = False,
    ) -> Response:
        """`alone`: by these parameters only, whatever the settings say; a receipt holds all of them."""
        cache = self.cache if self.settings.cache_entries else None
        if alone:
            settings, notes = replace(self.settings, contracts={}), tuple[Note, ...]()
        else:
            settings, notes = self.tuned.under(self.settings, contract, snapshot.catalog.embedder)
        named = contract_named(contract)
        found = search(snapshot, self.embedder, named, query, params, settings, self._disk, cache)
        return replace(found, notes=[*found.notes, *notes]) if notes else found

    def tried(self, query: str, requests: Sequence[Mapping[str, object]], contract: str = HOUSE) -> Trials:
        """What each of these requests would find. Sooner than one search each; files are not looked at."""
        with self._store.snapshot() as snapshot:
            settings, _ = self.tuned.under(self.settings, contract, snapshot.catalog.embedder)
            return run_trials(snapshot, self.embedder, contract_named(contract), query, requests, settings)

    def why(self, query: str, reference: str, contract: str = HOUSE, **params: object) -> Explanation:
        """Why a chunk, or the nearest chunk of a document, is among the results of a search, or not."""
        chunk_ids = [passage.chunk.id for passage in self.get(reference)]
        with self._store.snapshot() as snapshot:
            return why(
                snapshot,
                self.embedder,
                lambda given: self._ask(snapshot, query, contract, given),
                params,
                chunk_ids,
                self.settings.max_terms,
            )

    @property
    def receipts(self) -> Receipts:
        """Answers with receipts, their replay, and proofs that a chunk is in the index."""
        return Receipts(
            self._store,
            self._ask,
            partial(self._ask, alone=True),
            self.settings,
            lambda: self._clock_ns() // 1_000_000,
        )

    @property
    def memory(self) -> Memory:
        """What is remembered beside the index, in a database of its own that no run touches."""
        with self._opening:
            if self._memory is None:
                self._memory = Memory(
                    self._store, lambda: self.embedder, self.settings, lambda: self._clock_ns() // 1_000_000
                )
            return self._memory

    @property
    def knowledge(self) -> KnowledgeBases:
        """The knowledge bases beside the index, each in a store of its own that no run touches."""
        with self._opening:
            if self._knowledge is None:
                tools = Tools(lambda: self.embedder, self.settings, self._clock_ns)
                self._knowledge = KnowledgeBases(self.folder, tools)
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
    ) -> Related:
        """What is around a symbol, `PATH` or `PATH:LINE` in the code graph, breadth first.

        `strategy` is callers, dependencies or related; `possible` also follows edges that are a guess.
        """
        expansion = Expansion(strategy, depth, possible)
        with self._store.snapshot() as snapshot:
            return related(snapshot.graph, snapshot.catalog, Path.cwd(), reference, expansion, limit)

    def map(self, paths: Paths = (), *, query: str | None = None, budget: int = 1024) -> OutlineMap:
        """An outline of what is indexed, or of these files and folders, within a budget of tokens.

        What much points at comes first; with a query, as seen from what the query finds.
        """
        found = () if query is None else self._found(query)
        with self._store.snapshot() as snapshot:
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
        with self._store.snapshot() as snapshot:
            return snapshot.catalog.roots()

    def status(self) -> IndexStatus:
        with self._store.snapshot() as snapshot:
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
        with self._store.snapshot() as snapshot:
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

    def doctor(self) -> list[Check]:
        """Is everything in order? One check a line, with what to do about it."""
        with self._store.snapshot() as snapshot:
            tuned = self.tuned.examine(snapshot.catalog.embedder)
        return [*self._store.examine(), examine_memory(self.folder / MEMORY.database), tuned]

    def close(self) -> None:
        close = getattr(self.embedder, "close", None)
        if close is not None:
            close()
        if self._memory is not None:
            self._memory.close()
        if self._knowledge is not None:
            self._knowledge.close()
        self._store.close()

    def __enter__(self) -> "Index":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
