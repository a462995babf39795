"""The routes that programs share with agents: memory, the code graph, reading, forgetting, context."""

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from typing import Any, TypedDict

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from quintet.contracts.knowledge import CONTRACT
from quintet.http.access import Access
from quintet.http.jobs import Forgotten
from quintet.http.requests import (
    check_fields,
    parameter_names,
    read_json,
    read_text,
    take_query,
    wrong_field,
)
from quintet.http.responses import json_response, limited_response
from quintet.http.routes.search import MEMORY_SCOPE
from quintet.http.state import Routes
from quintet.indexing.run import Progress
from quintet.memory.contract import MEMORY
from quintet.model.results import Note
from quintet.model.schema import Count
from quintet.model.tokens import checked_budget
from quintet.serving.results import passage_fields

REMEMBER = ("text", "kind", "tags", "about", "session", "metadata", "supersedes")
RELATED = ("reference", "strategy", "depth", "possible", "limit")
MAP = ("paths", "query", "budget")
CONTEXT = ["budget", *(name for name in parameter_names(CONTRACT) if name != "index")]


class MapSymbol(TypedDict):
    """A definition in a map."""

    line: Count
    kind: str
    name: str
    signature: str


class MappedFile(TypedDict):
    """A file in a map, with the definitions shown of it."""

    path: str
    symbols: list[MapSymbol]


class MapBody(TypedDict):
    """An outline, as text and as data: `shown` of `total` definitions fit into the budget."""

    map: str
    budget: Count
    tokens: Count
    shown: Count
    total: Count
    files: list[MappedFile]
    notes: list[Note]


class FolderRoutes(Routes):
    def all(self) -> list[Route]:
        return [
            self.route("/v1/remember", POST=("write", self.remember)),
            self.route("/v1/recall", POST=(MEMORY_SCOPE, self.recall)),
            self.route("/v1/related", POST=("read", self.related)),
            self.route("/v1/map", POST=("read", self.map)),
            self.route("/v1/read", POST=("read", self.read)),
            self.route("/v1/forget", POST=("write", self.forget)),
            self.route("/v1/context", POST=("read", self.context)),
        ]

    async def remember(self, request: Request, access: Access) -> Response:
        body = await self._body(request, REMEMBER, "a memory")
        text = read_text(body, "text")
        details = {name: value for name, value in body.items() if name != "text"}
        memory = self._state.shared.index.memory
        kept = await self._state.workers.run(partial(memory.remember, text, **details))
        return json_response(asdict(kept))

    async def recall(self, request: Request, access: Access) -> Response:
        body = await self._body(request, ["query", *parameter_names(MEMORY)], "a recall")
        query, memory = take_query(body), self._state.shared.index.memory
        return self._limited((await self._state.workers.run(partial(memory.recall, query, **body))).wire())

    async def related(self, request: Request, access: Access) -> Response:
        body = await self._body(request, RELATED, "a walk of the code graph")
        reference = read_text(body, "reference")
        if not isinstance(body.get("possible", False), bool):
            raise wrong_field("possible", "true or false")
        asked = {name: value for name, value in body.items() if name != "reference"}
        work = partial(self._state.shared.index.related, reference, **asked)
        return self._limited((await self._state.workers.run(work)).wire())

    async def map(self, request: Request, access: Access) -> Response:
        body = await self._body(request, MAP, "a map")
        paths, query, budget = body.get("paths", []), body.get("query"), body.get("budget", 1024)
        if not isinstance(paths, list) or not all(isinstance(path, str) and path.strip() for path in paths):
            raise wrong_field("paths", "a list of files and folders")
        if query is not None and not isinstance(query, str):
            raise wrong_field("query", "text")
        work = partial(self._state.shared.index.map, paths, query=query, budget=checked_budget(budget))
        return self._limited((await self._state.workers.run(work)).wire())

    async def read(self, request: Request, access: Access) -> Response:
        body = await self._body(request, ["reference"], "a read")
        reference = read_text(body, "reference")
        found = await self._state.workers.run(partial(self._state.shared.index.get, reference))
        passages = [passage_fields(passage) for passage in found]
        return self._limited({"reference": reference, "passages": passages})

    async def forget(self, request: Request, access: Access) -> Response:
        body = await self._body(request, ["path"], "a request to forget")
        path, shared = read_text(body, "path"), self._state.shared

        def work(progress: Progress) -> Forgotten:
            return {"forgotten": shared.forget(path, progress)}

        return await self._state.changes.make(request, None, work)

    async def context(self, request: Request, access: Access) -> Response:
        body = await self._body(request, ["query", *CONTEXT], "a context")
        query = take_query(body)
        work = partial(self._state.shared.index.context, query, **body)
        return self._limited((await self._state.workers.run(work)).wire())

    async def _body(self, request: Request, known: Any, owner: str) -> dict[str, Any]:
        body = await read_json(request, self._state.limits)
        check_fields(body, known, owner)
        return body

    def _limited(self, body: Mapping[str, Any]) -> Response:
        return limited_response(body, self._state.limits.result_bytes)
