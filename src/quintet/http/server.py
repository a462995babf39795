"""Running the application on uvicorn until a signal ends it."""

import logging
import socket
import sys
from types import FrameType

import uvicorn

from quintet.cli.terminal import tell
from quintet.errors import UsageError
from quintet.http.app import Application
from quintet.http.config import Config
from quintet.http.protocol import bounded_protocol
from quintet.serving.keys import Keys
from quintet.serving.service import Doors

BACKLOG = 2048


class _Server(uvicorn.Server):
    """Ends without raising the signal once more, so that the index is closed in order."""

    application: Application

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.force_exit = self.should_exit
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.application.let_go()
        await super().shutdown(sockets)


def serve(doors: Doors, config: Config) -> None:
    """Until SIGINT or SIGTERM. Where it listens is told on standard error."""
    _quiet(config.access_log)
    check_keys(config, Keys(doors.index.folder))
    listener = bound(config.host, config.port)
    limits = config.limits
    application = Application(doors, config)
    server = _Server(
        uvicorn.Config(
            application.asgi,
            http=bounded_protocol(limits),
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=limits.idle_seconds,
            timeout_graceful_shutdown=limits.grace_seconds,
            backlog=BACKLOG,
        )
    )
    server.application = application
    tell(f"listening on {address(config.host, listener.getsockname()[1])}")
    server.run(sockets=[listener])


def check_keys(config: Config, keys: Keys) -> None:
    """A server that needs a key and has none could answer nobody, or, worse, everybody."""
    if config.needs_key and not keys.all():
        why = "--require-key" if config.is_loopback else f"{config.host} can be reached by others; that"
        raise UsageError(
            f"{why} needs an API key, and there is none; make one with 'quintet keys add NAME --read'"
        )


def address(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def bound(host: str, port: int) -> socket.socket:
    listener = None
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        if sys.platform != "win32":  # there it would let two servers share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
        listener.listen(BACKLOG)  # from here on clients may come, even before the loop runs
    except (OSError, OverflowError) as error:
        if listener is not None:
            listener.close()
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"port {port} of {host} cannot be used: {reason}; choose another") from error
    return listener


def _quiet(access_log: bool) -> None:
    """To standard error. uvicorn would log addresses of clients and faults with what they quote."""
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s"
    )
    logging.getLogger("quintet.http").setLevel(logging.INFO if access_log else logging.WARNING)
    for name in ("uvicorn", "mcp", "client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
