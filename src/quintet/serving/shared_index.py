"""What the servers share: one open index, the folders clients may reach, embedding in the background."""

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import quintet
from quintet.contracts import HOUSE
from quintet.errors import AccessError, LimitError, UsageError
from quintet.index import Index
from quintet.indexing.allowed_folders import resolve_allowed
from quintet.indexing.run import Progress, Report
from quintet.knowledge.registration import RegistrationFile
from quintet.ports.reading import Root
from quintet.ports.store_files import INDEX_FILE
from quintet.query.explain import Explanation
from quintet.query.search import Response
from quintet.receipts.replay import Verdict
from quintet.serving.background_embedding import Embedding
from quintet.serving.results import Reindexed
from quintet.serving.warm_up import Ready

OTHERS_MAX = 16  # indexes beside the server's own that clients may have opened by db_path


class SharedIndex:
    """The index behind a server. Every method may be called from any thread; `close` ends all of it.

    `base` is the server's working folder: relative paths start there, and clients may reach what lies in
    it, in the index's registered roots and in `allow`.
    """

    def __init__(self, index: Index, *, base: Path | None = None, allow: Sequence[Path] = ()) -> None:
        self.index = index
        self.base = (base or Path.cwd()).resolve()
        self._allow = tuple(folder.resolve() for folder in allow)
        self._ready = Ready(index)
        self._others: dict[Path, Ready] = {}
        self._opening = threading.Lock()
        self._embedding = Embedding(index)

    @property
    def allowed(self) -> list[Path]:
        """Where a client's paths may lie. A working folder that is the whole disk was not chosen."""
        base = () if self.base == Path(self.base.anchor) else (self.base,)
        roots = (Path(root.location) for root in self.roots())
        return list(dict.fromkeys([*base, *self._allow, *roots]))

    @property
    def folder(self) -> Path:
        return self.index.folder

    def roots(self) -> list[Root]:
        return self.index.roots()

    def resolve(self, path: str) -> Path:
        """A path from a client as a real location it may reach."""
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
        """While the model loads, an answer from text alone with the note `embedder_loading`."""
        given = _parameters(params or {})
        ready = self._ready if db_path is None else self._other(db_path)
        return (ready.witnessed if receipt else ready.search)(query, contract, given)

    def verify(self, receipt: object) -> Verdict:
        return self._ready.whole().receipts.verify(receipt)

    def why(self, query: str, reference: str, contract: str, params: Mapping[str, object]) -> Explanation:
        return self._ready.whole().why(query, reference, contract, **_parameters(params))

    def search_all(self, query: str, code: Mapping[str, object], memory: Mapping[str, object]) -> Response:
        """Code and memory ranked together, once the model is loaded: half an answer would rank wrongly."""
        asked = _parameters(code, "code"), _parameters(memory, "memory")
        return self._ready.whole().search_all(query, *asked)

    def reindex(
        self,
        path: str | None = None,
        paths: Sequence[str] | None = None,
        *,
        force: bool = False,
        progress: Progress | None = None,
    ) -> Reindexed:
        """Index what is named: `paths` if any, else `path`, else the working folder (spec 000, 4.5).

        All are checked before any is indexed. Returns when their text is searchable; vectors follow in the
        background. An exception raised from `progress` ends the run with what was committed so far.
        """
        chosen = [self.resolve(one) for one in (paths or [path or "."])]
        report = self.sync([str(one) for one in chosen], force=force, progress=progress)
        embedder = self.index.embedder
        return Reindexed(
            report,
            tuple(chosen) if paths else None,
            embedder.identity if embedder else "none",
            str(getattr(embedder, "kind", "custom")) if embedder else "none",
            report.pending if embedder else 0,
        )

    def sync(
        self, paths: Sequence[str] | None = None, *, force: bool = False, progress: Progress | None = None
    ) -> Report:
        """`Index.sync` of the text, one at a time; the background embedding steps aside meanwhile."""
        with self._embedding.aside(progress):
            return self.index.sync(paths, force=force, embed=False, progress=progress)

    def _other(self, db_path: str) -> Ready:
        """Another index under the folder that holds this one; it is only ever read."""
        folder = self._folder_of(db_path)
        if folder == self.index.folder.resolve():
            return self._ready
        with self._opening:
            if folder not in self._others:
                if len(self._others) >= OTHERS_MAX:
                    raise LimitError(
                        f"this server has {OTHERS_MAX} other indexes open; ask one of those, or restart it",
                        code="too_many",
                    )
                self._others[folder] = Ready(quintet.open(folder, create=False))
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

    def close(self) -> None:
        """Stop embedding after the batch at hand, then close every index."""
        self._embedding.close()
        for ready in (self._ready, *self._others.values()):
            ready.close()


def _parameters(given: Mapping[str, object], holder: str = "params") -> dict[str, Any]:
    if taken := sorted({"query", "reference", "contract", "self"} & set(given)):
        raise UsageError(
            f"{taken[0]} is not a parameter of a contract; give it beside {holder}",
            details={"parameter": taken[0]},
        )
    return dict(given)
