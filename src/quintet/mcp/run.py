"""Running the MCP server in a process of its own."""

import logging
import signal
import socket
import sys
from contextlib import nullcontext, suppress

import anyio
from mcp.shared.message import SessionMessage

from quintet.cli.terminal import tell
from quintet.errors import UsageError
from quintet.mcp.server import build_server
from quintet.mcp.stdio import hand_on
from quintet.serving.service import Doors

LOOPBACK = ("127.0.0.1", "localhost", "::1")
MAX_BODY_BYTES = 1_000_000


def quiet_logging() -> None:
    """To standard error only, and nothing of what clients send or files hold."""
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s", force=True
    )
    for name in ("mcp", "client", "uvicorn"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # they log messages with their contents


def serve_stdio(doors: Doors) -> None:
    """Until standard input ends. Everything is committed as it goes, so a signal may end it at once."""
    from mcp.server.stdio import stdio_server

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a thread waits on standard input and would hold us up
    server = build_server(doors)

    async def run() -> None:
        told, hearing = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        async with stdio_server() as (incoming, outgoing), anyio.create_task_group() as tasks:
            tasks.start_soon(hand_on, incoming, told, outgoing)
            await server.run(hearing, outgoing, server.create_initialization_options())

    with suppress(BrokenPipeError):
        anyio.run(run)


def serve_http(doors: Doors, host: str, port: int) -> None:
    """Streamable HTTP at /mcp until SIGINT or SIGTERM. Host and Origin are checked by the SDK."""
    import uvicorn

    app = build_server(doors).streamable_http_app(host=host, max_request_body_size=MAX_BODY_BYTES)
    listener = bound(host, port)
    config = uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=5)
    server = uvicorn.Server(config)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, server.handle_exit)
    # uvicorn would raise the signal once more when it is done, before the index is closed.
    server.capture_signals = nullcontext  # type: ignore[method-assign,assignment]
    shown = f"[{host}]" if ":" in host else host
    tell(f"listening on http://{shown}:{listener.getsockname()[1]}/mcp")
    server.run(sockets=[listener])


def address(given: str) -> tuple[str, int]:
    """`HOST:PORT`, loopback only: other addresses need keys, which `quintet serve` checks.

    >>> address("127.0.0.1:8080"), address("[::1]:0")
    (('127.0.0.1', 8080), ('::1', 0))
    """
    host, separator, port = given.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not separator or not port.isdecimal() or int(port) > 65535:
        raise UsageError(f"--http is {given!r}; it must be HOST:PORT, e.g. 127.0.0.1:8080")
    if host not in LOOPBACK:
        raise UsageError(
            f"--http is {given!r}; it must be on this machine ({', '.join(LOOPBACK)}): "
            "for others use 'quintet serve', which asks for keys"
        )
    return host, int(port)


def bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    try:
        if sys.platform != "win32":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise UsageError(f"port {port} of {host} cannot be used: {error.strerror}; choose another") from error
    return listener
