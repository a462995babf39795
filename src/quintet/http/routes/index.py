"""The routes about the index and the server: chunks, status, metrics, health."""

import re
from dataclasses import asdict
from functools import partial
from typing import Literal, TypedDict

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from quintet.errors import NotFound
from quintet.http.access import Access, hide_paths
from quintet.http.metrics import MEDIA_TYPE
from quintet.http.responses import json_response, limited_response
from quintet.http.state import Routes
from quintet.serving.results import passage_fields

CHUNK_ID = re.compile(r"[0-9a-f]{32}")


class Health(TypedDict):
    """The state of the server."""

    status: Literal["ok", "ready"]


class IndexRoutes(Routes):
    def all(self) -> list[Route]:
        return [
            self.route("/v1/chunks/{id}", GET=("read", self.chunk)),
            self.route("/v1/status", GET=("read", self.status)),
            self.route("/metrics", GET=("read", self.metrics)),
            Route("/healthz", self.healthz),
            Route("/readyz", self.readyz),
        ]

    async def chunk(self, request: Request, access: Access) -> Response:
        chunk_id: str = request.path_params["id"]
        if not CHUNK_ID.fullmatch(chunk_id):
            raise NotFound(
                "a chunk id is 32 hexadecimal digits, as a search shows it", code="document_not_found"
            )
        (passage,) = await self._state.workers.run(partial(self._state.shared.index.get, chunk_id))
        return limited_response(passage_fields(passage), self._state.limits.result_bytes)

    async def status(self, request: Request, access: Access) -> Response:
        shared = self._state.shared
        status = await self._state.workers.run(shared.status)
        return json_response({**asdict(status), "index": str(shared.folder)})

    async def metrics(self, request: Request, access: Access) -> Response:
        gauges = await self._state.probes.run(self._state.gauges.now)
        return Response(self._state.metrics.text(gauges), headers={"Content-Type": MEDIA_TYPE})

    async def healthz(self, request: Request) -> Response:
        """The process answers."""
        return json_response({"status": "ok"})

    async def readyz(self, request: Request) -> Response:
        """The index can be read."""
        with hide_paths(self._state.shared):
            await self._state.probes.run(self._state.shared.index.roots)
        return json_response({"status": "ready"})
