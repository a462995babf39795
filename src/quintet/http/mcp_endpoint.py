"""The MCP endpoint of this process. The SDK takes a second to import, so the first request imports it."""

import asyncio

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from quintet.errors import MissingExtra
from quintet.http.access import hide_paths
from quintet.http.authentication import Guard
from quintet.http.config import Limits
from quintet.http.requests import read_body
from quintet.serving.shared_index import SharedIndex

IDLE_SECONDS = 1800.0  # the SDK's own
SESSIONS = 256


class McpEndpoint:
    """An ASGI application. Its tools can reindex, so where keys are needed it takes one made with --write."""

    def __init__(self, shared: SharedIndex, guard: Guard, limits: Limits, toolset: str) -> None:
        self._shared = shared
        self._guard = guard
        self._limits = limits
        self._toolset = toolset
        self._app: Starlette | None = None
        self._starting = asyncio.Lock()
        self._stopping = asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with hide_paths(self._shared):
            await self._guard.admit(Headers(scope=scope), "write")
        body = await read_body(Request(scope, receive), self._limits)
        app = await self._started()
        await app(scope, _again(body, receive), send)

    async def _started(self) -> Starlette:
        async with self._starting:
            if self._app is None:
                app = await asyncio.to_thread(self._built)
                ready = asyncio.Event()
                self._running = asyncio.create_task(self._run(app, ready))
                await ready.wait()
                self._app = app
            return self._app

    def _built(self) -> Starlette:
        try:
            from quintet.mcp.server import mountable_app
            from quintet.mcp.tools import toolset_named
        except ModuleNotFoundError as error:
            raise MissingExtra(
                f"MCP needs {error.name!r}, which is not installed; run pip install 'quintet[server]'"
            ) from error
        return mountable_app(
            self._shared,
            toolset_named(self._toolset),
            body_bytes=self._limits.body_bytes,
            idle_seconds=IDLE_SECONDS,
            sessions=SESSIONS,
        )

    async def _run(self, app: Starlette, ready: asyncio.Event) -> None:
        """The SDK's sessions live in one task, from the first request to the last."""
        async with app.router.lifespan_context(app):
            ready.set()
            await self._stopping.wait()

    async def close(self) -> None:
        self._stopping.set()
        if self._running is not None:
            await self._running


def _again(body: bytes, rest: Receive) -> Receive:
    """Receives a body that was read already, then whatever else comes."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        return waiting.pop() if waiting else await rest()

    return receive
