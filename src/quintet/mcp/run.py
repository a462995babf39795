"""Runs the MCP server as a separate process."""

import signal
from contextlib import nullcontext, suppress

import anyio
from mcp.shared.message import SessionMessage

from quintet.errors import UsageError
from quintet.mcp.server import build_server
from quintet.mcp.stdio import forward
from quintet.mcp.tools import Toolset
from quintet.serving.listening import announce, bind
from quintet.serving.shared_index import SharedIndex

LOOPBACK = ("127.0.0.1", "localhost", "::1")
MAX_BODY_BYTES = 1_000_000


def serve_stdio(shared: SharedIndex, toolset: Toolset) -> None:
    """Serve until standard input ends. Every change is committed at once, so a signal may end it any time."""
    from mcp.server.stdio import stdio_server

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)  # the thread that reads standard input would block the exit
    server = build_server(shared, toolset)

    async def run() -> None:
        send, receive = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        async with stdio_server() as (incoming, outgoing), anyio.create_task_group() as tasks:
            tasks.start_soon(forward, incoming, send, outgoing)
            await server.run(receive, outgoing, server.create_initialization_options())

    with suppress(BrokenPipeError):
        anyio.run(run)


def serve_http(shared: SharedIndex, toolset: Toolset, host: str, port: int) -> None:
    """Streamable HTTP at /mcp until SIGINT or SIGTERM. Host and Origin are checked by the SDK."""
    import uvicorn

    app = build_server(shared, toolset).streamable_http_app(host=host, max_request_body_size=MAX_BODY_BYTES)
    listener = bind("127.0.0.1" if host == "localhost" else host, port)
    config = uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=5)
    server = uvicorn.Server(config)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, server.handle_exit)
    # uvicorn would raise the signal once more when it is done, before the index is closed.
    server.capture_signals = nullcontext  # type: ignore[method-assign,assignment]
    announce(host, listener, "/mcp")
    server.run(sockets=[listener])


def parse_address(text: str) -> tuple[str, int]:
    """`HOST:PORT`, loopback only: other addresses need keys, which `quintet serve` checks.

    >>> parse_address("127.0.0.1:8080"), parse_address("[::1]:0")
    (('127.0.0.1', 8080), ('::1', 0))
    """
    host, separator, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not separator or not port.isdecimal() or int(port) > 65535:
        raise UsageError(f"--http is {text!r}; it must be HOST:PORT, e.g. 127.0.0.1:8080")
    if host not in LOOPBACK:
        raise UsageError(
            f"--http is {text!r}; it must be on this machine ({', '.join(LOOPBACK)}): "
            "for others use 'quintet serve', which asks for keys"
        )
    return host, int(port)
