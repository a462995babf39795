"""Where a server listens, and what it logs."""

import json
import logging
import socket
import sys
from datetime import UTC, datetime

from quintet.errors import UsageError
from quintet.settings import Settings

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


class JsonLines(logging.Formatter):
    """Each record as one line of JSON: time, level, logger, message."""

    def format(self, record: logging.LogRecord) -> str:
        fields = {"time": _utc(record), "level": record.levelname, "logger": record.name}
        trace = {"trace": self.formatException(record.exc_info)} if record.exc_info else {}
        return json.dumps({**fields, "message": record.getMessage(), **trace}, ensure_ascii=False)


class TextLines(logging.Formatter):
    """Each record as one line: the same fields, separated by spaces."""

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: N802
        return _utc(record)


def _utc(record: logging.LogRecord) -> str:
    """The time of a record in UTC, to the millisecond."""
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def log_to_stderr(settings: Settings) -> None:
    """Log to standard error as the settings say. Nothing that clients send or files hold is logged."""
    handler = logging.StreamHandler(sys.stderr)
    text = TextLines("%(asctime)s %(levelname)s %(name)s: %(message)s")
    handler.setFormatter(JsonLines() if settings.log_format == "json" else text)
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    logging.basicConfig(handlers=[handler], level=max(level, logging.WARNING), force=True)
    logging.getLogger("quintet").setLevel(level)
    for name in TALKATIVE:
        logging.getLogger(name).setLevel(logging.CRITICAL)
