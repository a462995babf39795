"""The index that a server shares among its clients, with the folders they may reach."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import quintet
from quintet.contracts import HOUSE
from quintet.errors import AccessError, LimitError, UsageError
from quintet.index import Index
from quintet.indexing.allowed_folders import resolve_allowed
from quintet.indexing.roots import GivenPath, disk_spelling
from quintet.indexing.run import Progress, Report
from quintet.knowledge.registration import RegistrationFile
from quintet.ports.reading import Root
from quintet.ports.store_files import INDEX_FILE
from quintet.query.cache import CacheFigures
from quintet.query.explain import Explanation
from quintet.query.search import Response
from quintet.receipts.replay import Verdict
from quintet.serving.background_embedding import BackgroundEmbedding
from quintet.serving.readers import Readers, reader_count
from quintet.serving.reply import Read, Reply
from quintet.serving.results import Reindexed, ReindexTargets
from quintet.serving.warm_up import WarmIndex
from quintet.status import IndexStatus

MAX_PATHS = 1_000  # in one reindex
OTHERS_MAX = 16  # indexes beside the server's own that clients may have opened by db_path


class SharedIndex:
    """The index behind a server. Every method may be called from any thread.

    `base` is the server's working folder: relative paths start there. Clients may reach files in it, or in
    the folders of `allow` if there are any, and in the roots of the index.
    """

    def __init__(self, index: Index, *, base: Path | None = None, allow: Sequence[Path] = ()) -> None:
        self.index = index
        self.base = (base or Path.cwd()).resolve()
        self._allow = tuple(folder.resolve() for folder in allow)
        self._warm = WarmIndex(index)
        self._others: dict[Path, WarmIndex] = {}
        self._opening = threading.Lock()
        self._embedding = BackgroundEmbedding(index)
        self.readers: Readers | None = None

    def start_readers(self) -> None:
        """From now on `read` uses reader processes, as many as the settings say."""
        count = reader_count(self.index.settings.readers)
        if count:
            settings = asdict(self.index.settings)
            how = {"folder": str(self.folder), "base": str(self.base), "settings": settings}
            self.readers = Readers(count, how, seconds=self.index.settings.call_seconds)

    @property
    def most_readers(self) -> int:
        return 0 if self.readers is None else self.readers.most

    def read(self, read: Read, **arguments: Any) -> Reply:
        """`read(self, **arguments)`, in a reader process if there are any. Arguments are JSON values."""
        reply = None if self.readers is None else self.readers.run(read, arguments)
        return read(self, **arguments) if reply is None else reply

    def load_model(self) -> None:
        self._warm.wait()

    def cache_figures(self) -> CacheFigures:
        """Of this process and its readers."""
        own = self.index.cache.figures()
        return own if self.readers is None else own + self.readers.cache_figures()

    def status(self) -> IndexStatus:
        return replace(self.index.status(), cache=self.cache_figures())

    @property
    def allowed(self) -> list[Path]:
        """The folders that clients may reach: those of `allow`, or else the working folder unless it is the
        whole disk; and the roots."""
        base = () if self._allow or self.base == Path(self.base.anchor) else (self.base,)
        roots = (Path(root.location) for root in self.roots())
        return list(dict.fromkeys([*base, *self._allow, *roots]))

    @property
    def folder(self) -> Path:
        return self.index.folder

    def roots(self) -> list[Root]:
        return self.index.roots()

    def resolve(self, path: str) -> Path:
        """The location of a client's path, if clients may reach it."""
        return resolve_allowed(path, self.allowed, self.base)

    def search(
        self,
        query: str,
        contract: str = HOUSE,
        params: Mapping[str, object] | None = None,
        *,
        db_path: str | None = None,
        receipt: bool = False,
    ) -> Response:
        """If the model takes longer than `model_seconds` to load, the answer is from text alone, with a
        note."""
        checked = _parameters(params or {})
        warm = self._warm if db_path is None else self._other(db_path)
        if receipt:
            return warm.search_with_receipt(query, contract, checked)
        if warm.loaded.is_set():
            return warm.index.search(query, contract, **checked)
        return warm.search(query, contract, checked)

    def index_at(self, db_path: str | None) -> Index:
        """The index that `search` asks for this `db_path`."""
        return self.index if db_path is None else self._other(db_path).index

    def verify(self, receipt: object) -> Verdict:
        return self._warm.wait().receipts.verify(receipt)

    def why(self, query: str, reference: str, contract: str, params: Mapping[str, object]) -> Explanation:
        return self._warm.wait().why(query, reference, contract, **_parameters(params))

    def search_all(
        self,
        query: str,
        context: Mapping[str, object] | None,
        code: Mapping[str, object],
        memory: Mapping[str, object],
    ) -> Response:
        """Code and memory in one ranking. It waits for the model: text alone would rank wrongly."""
        halves = {"code": _parameters(code, "code"), "memory": _parameters(memory, "memory")}
        return self._warm.wait().search_all(query, context, **halves)

    def targets(self, path: str | None = None, paths: Sequence[str] | None = None) -> ReindexTargets:
        """`paths` if any, else `path`, else the roots in the working folder, else that folder (spec 000,
        section 4.5, AC-010). All are checked and resolved here, once."""
        if paths and len(paths) > MAX_PATHS:
            raise LimitError(
                f"paths names {len(paths)} files and folders; at most {MAX_PATHS} are allowed in one call: "
                "name the folders that hold them",
                details={"parameter": "paths"},
            )
        given = paths or ([path] if path else [])
        if not given and any(Path(root.location).is_relative_to(self.base) for root in self.roots()):
            return ReindexTargets((), is_list=False)
        allowed = self.allowed
        locations = tuple(resolve_allowed(one, allowed, self.base) for one in given or ["."])
        return ReindexTargets(locations, is_list=bool(paths))

    def reindex(
        self,
        targets: ReindexTargets | None = None,
        *,
        force: bool = False,
        progress: Progress | None = None,
    ) -> Reindexed:
        """Index the targets. It returns when the text is searchable; vectors follow in the background. An
        exception from `progress` ends the run and keeps what was committed."""
        targets = targets or self.targets()
        given = [GivenPath(None, disk_spelling(location)) for location in targets.locations]
        report = self.sync(given, force=force, within=self.base, progress=progress)
        embedder = self.index.embedder
        return Reindexed(
            report,
            targets.locations if targets.is_list else None,
            embedder.identity if embedder else "none",
            str(getattr(embedder, "kind", "custom")) if embedder else "none",
            report.pending if embedder else 0,
        )

    def sync(
        self,
        paths: Sequence[str | GivenPath] | None = None,
        *,
        force: bool = False,
        within: Path | None = None,
        progress: Progress | None = None,
    ) -> Report:
        """`Index.sync` of the text, one run at a time. The background embedding pauses meanwhile."""
        with self._embedding.paused(progress):
            return self.index.sync(paths, force=force, embed=False, within=within, progress=progress)

    def forget(self, path: str, progress: Progress | None = None) -> int:
        """`Index.forget`; the background embedding pauses meanwhile."""
        with self._embedding.paused(progress):
            return self.index.forget(path)

    def _other(self, db_path: str) -> WarmIndex:
        """Another index under the folder that holds this one, only for reading."""
        folder = self._folder_of(db_path)
        if folder == self.index.folder.resolve():
            return self._warm
        with self._opening:
            if folder not in self._others:
                if len(self._others) >= OTHERS_MAX:
                    raise LimitError(
                        f"this server has {OTHERS_MAX} other indexes open; ask one of those, or restart it",
                        code="too_many",
                    )
                self._others[folder] = WarmIndex(quintet.open(folder, create=False))
            return self._others[folder]

    def _folder_of(self, db_path: str) -> Path:
        own = self.index.folder.resolve()
        try:
            place = resolve_allowed(db_path, [own.parent], self.base)
        except AccessError:
            raise AccessError(
                f"db_path is {db_path!r}; it must lie under {own.parent}, "
                "the folder that holds this server's index",
                details={"parameter": "db_path"},
            ) from None
        folder = place.parent if place.name == INDEX_FILE and place.is_file() else place
        is_part = own in folder.parents or RegistrationFile(folder).exists()
        if is_part or folder.is_file():
            raise UsageError(
                f"db_path is {db_path!r}; it must be the folder of an index or the {INDEX_FILE} in it, "
                "and neither a knowledge base nor another part of an index",
                code="invalid_path",
                details={"parameter": "db_path"},
            )
        return folder

    def stop(self) -> None:
        """Embed no more documents: the server is about to stop. Searches work as before."""
        self._embedding.stop()

    def close(self) -> None:
        """Stop the readers and embedding, then close every index."""
        if self.readers is not None:
            self.readers.close()
        self._embedding.close()
        for warm in (self._warm, *self._others.values()):
            warm.close()


def _parameters(given: Mapping[str, object], holder: str = "params") -> dict[str, Any]:
    if taken := sorted({"query", "reference", "contract", "self"} & set(given)):
        raise UsageError(
            f"{taken[0]} is not a parameter of a contract; give it beside {holder}",
            details={"parameter": taken[0]},
        )
    return dict(given)
