"""The configuration of a server: where it listens, which clients it accepts, and its limits."""

import ipaddress
import re
from dataclasses import dataclass, field

from quintet.errors import UsageError
from quintet.settings import Settings

LOOPBACK = ("localhost", "127.0.0.1", "::1")
ORIGIN = re.compile(r"https?://([a-z0-9.-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")  # as browsers write it


@dataclass(frozen=True, slots=True)
class Limits:
    """All limits, with the status of a request beyond each."""

    body_bytes: int = 1_000_000  # 413
    result_bytes: int = 16_000_000  # 413
    workers: int = 4  # engine calls at once: on two processors, 4 are faster than 8 and need less memory
    waiting: int = 256  # calls that wait for one of those; 429 beyond
    seconds: float = 30.0  # for one call, waiting included; 503
    body_seconds: float = 10.0  # to send a body; 408
    head_seconds: float = 10.0  # to send a request's first lines; the connection is closed
    write_seconds: float = 30.0  # for the client to read a response; the connection is closed
    idle_seconds: int = 15  # between requests; the connection is closed
    grace_seconds: int = 30  # for running requests when a signal comes; 503
    connections: int = 1000  # 429 beyond
    streams: int = 64  # clients that follow a job; 429 beyond
    jobs: int = 8  # unfinished jobs of one knowledge base, or of the folders; 429 beyond
    changes: int = 32  # unfinished changes of one knowledge base; 429 beyond
    waiting_bytes: int = 400_000_000  # of unfinished changes of one knowledge base; 429 beyond
    document_bytes: int = 50_000_000  # of one uploaded file; 413
    upload_bytes: int = 200_000_000  # of all files of one call; 413
    texts_bytes: int = 8_000_000  # of the documents sent as JSON in one call; 413
    documents: int = 500  # in one call; 413
    upload_seconds: float = 300.0  # to send documents; 408
    upload_grace_seconds: float = 10.0  # then an upload must have arrived at the rate below; 408
    upload_rate: int = 10_000  # bytes a second
    wait_seconds: float = 2.0  # for a change of a knowledge base, unless the client says otherwise; 202
    uploads: int = 16  # running at once; 429 beyond
    uploads_of_base: int = 4  # of these, into one knowledge base; 429 beyond
    uploads_of_key: int = 8  # of these, with one API key; 429 beyond
    calls_of_key: int = 64  # engine calls of one key that run or wait; 429 beyond
    jobs_of_key: int = 64  # unfinished jobs and changes of one key; 429 beyond
    bytes_of_key: int = 800_000_000  # of unfinished changes of one key; 429 beyond
    seconds_of_key: int = 1800  # that jobs of one key may work within an hour; 429 beyond

    @classmethod
    def of(cls, settings: Settings) -> "Limits":
        return cls(
            seconds=settings.call_seconds,
            calls_of_key=settings.key_calls,
            jobs_of_key=settings.key_jobs,
            bytes_of_key=settings.key_bytes,
            seconds_of_key=settings.key_seconds,
        )


@dataclass(frozen=True, slots=True)
class Config:
    host: str = "127.0.0.1"
    port: int = 8765
    require_key: bool = False
    allow_hosts: tuple[str, ...] = ()
    cors: tuple[str, ...] = ()
    access_log: bool = False
    toolset: str = "agent"  # of the MCP endpoint
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        for origin in self.cors:
            _check_origin(origin)

    @property
    def is_loopback(self) -> bool:
        return is_loopback(self.host)

    @property
    def needs_key(self) -> bool:
        """On loopback a key is optional, unless `require_key` is set."""
        return self.require_key or not self.is_loopback


def is_loopback(host: str) -> bool:
    """Names other than localhost do not count: they may point elsewhere tomorrow.

    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "my.machine")]
    [True, True, True, False, False]
    """
    address = address_of(host)
    return host == "localhost" if address is None else address.is_loopback


def address_of(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The IP address in `host`; None if it is a name."""
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None


def _check_origin(origin: str) -> None:
    if not ORIGIN.fullmatch(origin):
        raise UsageError(
            f"--cors is {origin!r}; it must be one origin such as https://app.example, without a path"
        )
