"""The ASGI application: routes, limits and middleware around one `SharedIndex`."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp

import quintet
from quintet.http.authentication import Guard
from quintet.http.changes import ChangeJobs
from quintet.http.config import Config
from quintet.http.docs_page import PAGE, POLICY
from quintet.http.events import Streams
from quintet.http.gauges import Gauges
from quintet.http.jobs import Jobs
from quintet.http.mcp_endpoint import McpEndpoint
from quintet.http.metrics import Metrics
from quintet.http.middleware import RequestMiddleware
from quintet.http.responses import json_response
from quintet.http.routes.documents import DocumentRoutes
from quintet.http.routes.folders import FolderRoutes
from quintet.http.routes.index import IndexRoutes
from quintet.http.routes.jobs import JobRoutes
from quintet.http.routes.knowledge import KnowledgeRoutes, resume_syncs
from quintet.http.routes.search import SearchRoutes
from quintet.http.schema.openapi import document
from quintet.http.state import ServerState
from quintet.http.uploads import Uploads
from quintet.http.workers import Turns, Workers
from quintet.serving.keys import Keys
from quintet.serving.shared_index import SharedIndex

ROUTES = (SearchRoutes, FolderRoutes, JobRoutes, IndexRoutes, KnowledgeRoutes, DocumentRoutes)


class Application:
    """An ASGI application."""

    def __init__(self, shared: SharedIndex, config: Config) -> None:
        state = _state(shared, config)
        mcp = McpEndpoint(shared, state.guard, state.limits, config.toolset)
        router = Router(
            [
                *(route for routes in ROUTES for route in routes(state).all()),
                Route("/openapi.json", _openapi),
                Route("/docs", _docs),
                Route("/mcp", mcp, methods=["GET", "POST", "DELETE"]),
            ],
            redirect_slashes=False,
            lifespan=_lifespan(
                partial(resume_syncs, state),
                mcp.close,
                state.jobs.close,
                state.workers.close,
                state.probes.close,
            ),
        )
        self._middleware = RequestMiddleware(router, state.guard, state.metrics)
        self._streams = state.streams
        self._shared = shared
        self.asgi: ASGIApp = self._middleware

    def prepare_to_stop(self) -> None:
        """End the streams and the embedding of documents, which would delay the stop of the server."""
        self._middleware.stopping = True
        self._shared.stop()
        self._streams.close()


def _state(shared: SharedIndex, config: Config) -> ServerState:
    limits = config.limits
    threads = max(limits.workers, shared.most_readers + 1)  # each waits for a reader; one more for the rest
    workers, jobs = Workers(replace(limits, workers=threads)), Jobs(limits, Turns())
    return ServerState(
        shared=shared,
        guard=Guard(config, Keys(shared.folder)),
        limits=limits,
        workers=workers,
        probes=Workers(replace(limits, workers=1, waiting=16)),
        uploads=Uploads(limits),
        jobs=jobs,
        changes=ChangeJobs(shared, jobs, limits),
        streams=Streams(limits.streams),
        metrics=Metrics(),
        gauges=Gauges(shared, workers, jobs),
    )


def _lifespan(
    start: Callable[[], None], close_mcp: Callable[[], Awaitable[None]], *rest: Callable[[], None]
) -> Callable[[Router], AbstractAsyncContextManager[None]]:
    """Calls `start`, and in the end closes what runs in threads, in this order."""

    @asynccontextmanager
    async def lifespan(_: Router) -> AsyncIterator[None]:
        await asyncio.to_thread(start)
        try:
            yield
        finally:
            await close_mcp()
            for close in rest:
                await asyncio.to_thread(close)

    return lifespan


async def _openapi(request: Request) -> Response:
    return json_response(document(quintet.__version__))


async def _docs(request: Request) -> Response:
    return Response(PAGE, headers={"Content-Security-Policy": POLICY}, media_type="text/html")
