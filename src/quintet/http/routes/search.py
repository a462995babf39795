"""The routes that search, and those that explain a search: /v1/search, /v1/retrieval, /v1/verify, /v1/why."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from quintet.contracts import CONTRACTS, HOUSE, Contract, contract_named
from quintet.contracts.bases import DEFAULT_INDEX
from quintet.errors import UsageError
from quintet.http import reads
from quintet.http.access import Access
from quintet.http.requests import (
    check_fields,
    parameter_names,
    read_json,
    read_object,
    read_text,
    take_flag,
    take_query,
)
from quintet.http.schema.requests import HALVES
from quintet.http.state import Routes
from quintet.serving.keys import Scope
from quintet.serving.reply import Read

RETRIEVAL = CONTRACTS["knowledge"]  # its canonical request has a route of its own
MEMORY_SCOPE: Scope = "write"  # as `recall` at /mcp: a key that only reads never sees memories


class SearchRoutes(Routes):
    def all(self) -> list[Route]:
        return [
            self.route("/v1/search", POST=("read", self.search), for_bases=True),
            self.route("/v1/contracts/{name}/search", POST=("read", self.search_by), for_bases=True),
            self.route("/v1/search/all", POST=(MEMORY_SCOPE, self.search_all)),
            self.route("/v1/retrieval", POST=("read", self.retrieval), for_bases=True),
            self.route("/v1/verify", POST=("read", self.verify)),
            self.route("/v1/why", POST=("read", self.why)),
        ]

    async def search(self, request: Request, access: Access) -> Response:
        """By the contract that the body names."""
        body = await read_json(request, self._state.limits)
        receipt = take_flag(body, "receipt")
        contract = contract_named(body.pop("contract", HOUSE))
        known = ["contract", *parameter_names(contract)]
        return await self._run(access, contract, body, known, receipt)

    async def search_by(self, request: Request, access: Access) -> Response:
        """By the contract that the path names."""
        contract = contract_named(request.path_params["name"])
        body = await read_json(request, self._state.limits)
        receipt = take_flag(body, "receipt")
        return await self._run(access, contract, body, parameter_names(contract), receipt)

    async def retrieval(self, request: Request, access: Access) -> Response:
        """Spec 003: the canonical request to the canonical result."""
        body = await read_json(request, self._state.limits)
        receipt = take_flag(body, "receipt")
        references = take_flag(body, "references")
        check_fields(body, ["retrieval"], "the request")
        retrieval = body.get("retrieval")
        if not isinstance(retrieval, dict):
            raise UsageError(
                'the body must be {"retrieval": {"query": ...}}', details={"parameter": "retrieval"}
            )
        known = parameter_names(RETRIEVAL)
        return await self._run(access, RETRIEVAL, retrieval, known, receipt, references)

    async def _run(
        self,
        access: Access,
        contract: Contract,
        body: dict[str, Any],
        known: list[str],
        receipt: bool,
        references: bool = False,
    ) -> Response:
        access.check_search(contract.name, body.get("index", DEFAULT_INDEX))
        check_fields(body, ["query", *known], f"a search by contract {contract.name}")
        query = take_query(body)
        work = partial(self._search, contract.name, query, body, receipt, references)
        return await self._state.workers.run(work)

    def _search(
        self, contract: str, query: Any, params: Mapping[str, object], receipt: bool, references: bool
    ) -> Response:
        reply = self._state.shared.read(
            reads.search,
            query=query,
            contract=contract,
            params=params,
            receipt=receipt,
            references=references,
            max_bytes=self._state.limits.result_bytes,
        )
        self._state.metrics.search(contract, reply.seconds, reply.legs)
        return Response(reply.content, media_type="application/json")

    async def search_all(self, request: Request, access: Access) -> Response:
        body = await read_json(request, self._state.limits)
        check_fields(body, ["query", "context", *HALVES], "a search of code and memory")
        query = take_query(body)
        context = read_object(body, "context", 'an object, such as {"project": "app"}')
        halves = {}
        for name, contract in HALVES.items():
            halves[name] = read_object(body, name, 'an object of parameters, such as {"limit": 5}')
            check_fields(halves[name], parameter_names(contract), name)
        return await self._reply(reads.search_all, query=query, context=context, **halves)

    async def verify(self, request: Request, access: Access) -> Response:
        """The body is a receipt that a search gave."""
        receipt = await read_json(request, self._state.limits, as_written=True)
        return await self._reply(reads.verify, receipt=receipt)

    async def why(self, request: Request, access: Access) -> Response:
        body = await read_json(request, self._state.limits)
        check_fields(body, ["query", "reference", "contract", "params"], "a request for an explanation")
        query, reference = read_text(body, "query"), read_text(body, "reference")
        params = read_object(body, "params", "an object of parameters")
        contract = body.get("contract", HOUSE)
        return await self._reply(
            reads.why, query=query, reference=reference, contract=contract, params=params
        )

    async def _reply(self, read: Read, **arguments: Any) -> Response:
        max_bytes = self._state.limits.result_bytes
        work = partial(self._state.shared.read, read, **arguments, max_bytes=max_bytes)
        reply = await self._state.workers.run(work)
        return Response(reply.content, media_type="application/json")
