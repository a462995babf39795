"""Where a server listens, and what it logs."""

import logging
import socket
import sys

from quintet.errors import UsageError

BACKLOG = 2048
# These libraries log messages and addresses of clients.
TALKATIVE = ("uvicorn", "mcp", "client")


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens there. Port 0 takes any free port."""
    listener = None
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        if sys.platform != "win32":  # there it would let two servers share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)  # from here on clients may connect, even before the loop runs
    except (OSError, OverflowError) as error:
        if listener is not None:
            listener.close()
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"port {port} of {host} cannot be used: {reason}; choose another") from error
    return listener


def announce(host: str, listener: socket.socket, path: str = "") -> None:
    """Write to standard error where the server listens."""
    name = f"[{host}]" if ":" in host else host
    print(f"listening on http://{name}:{listener.getsockname()[1]}{path}", file=sys.stderr, flush=True)


def log_to_stderr() -> None:
    """Warnings go to standard error; nothing that clients send or files hold is logged."""
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s", force=True
    )
    for name in TALKATIVE:
        logging.getLogger(name).setLevel(logging.CRITICAL)
