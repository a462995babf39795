"""The application: everything put together around one `SharedIndex`."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp

import quintet
from quintet.http.authentication import Guard
from quintet.http.config import Config
from quintet.http.docs_page import PAGE, POLICY
from quintet.http.events import Streams
from quintet.http.gauges import Gauges
from quintet.http.jobs import Jobs
from quintet.http.limits import Workers
from quintet.http.mcp_endpoint import McpEndpoint
from quintet.http.metrics import Metrics
from quintet.http.middleware import Front
from quintet.http.routes.index import Routes, Site
from quintet.http.schema.openapi import document
from quintet.http.uploads import Uploads
from quintet.http.wire import answered
from quintet.serving.keys import Keys
from quintet.serving.shared_index import SharedIndex


class Application:
    """An ASGI application."""

    def __init__(self, shared: SharedIndex, config: Config) -> None:
        limits = config.limits
        guard, metrics = Guard(config, Keys(shared.index.folder)), Metrics()
        workers, probes = Workers(limits), Workers(replace(limits, workers=1, waiting=16))
        writers = Workers(replace(limits, workers=2, seconds=limits.upload_seconds))
        jobs, streams = Jobs(limits.jobs), Streams(limits.streams)
        gauges = Gauges(shared, workers, jobs)
        uploads = Uploads(limits)
        site = Site(shared, guard, limits, workers, writers, probes, uploads, jobs, streams, metrics, gauges)
        tools = McpEndpoint(shared, guard, limits)
        about = [Route("/openapi.json", _described), Route("/docs", _shown)]
        router = Router(
            [*Routes(site).all(), *about, Route("/mcp", tools, methods=["GET", "POST", "DELETE"])],
            redirect_slashes=False,
            lifespan=_closing(tools.close, jobs.close, writers.close, workers.close, probes.close),
        )
        self._front, self._streams = Front(router, guard, metrics), streams
        self.asgi: ASGIApp = self._front

    def let_go(self) -> None:
        """The server is about to stop: end the streams, which would hold it up."""
        self._front.stopping = True
        self._streams.close()


def _closing(
    tools: Callable[[], Awaitable[None]], *rest: Callable[[], None]
) -> Callable[[Router], AbstractAsyncContextManager[None]]:
    """A lifespan that ends what runs in threads, in this order."""

    @asynccontextmanager
    async def lifespan(_: Router) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await tools()
            for close in rest:
                await asyncio.to_thread(close)

    return lifespan


async def _described(request: Request) -> Response:
    return answered(document(quintet.__version__))


async def _shown(request: Request) -> Response:
    return Response(PAGE, headers={"Content-Security-Policy": POLICY}, media_type="text/html")
