"""What the routes of one server share."""

from dataclasses import dataclass
from typing import Any

from starlette.routing import Route

from quintet.http.access import guarded_route
from quintet.http.authentication import Guard
from quintet.http.changes import ChangeJobs
from quintet.http.config import Limits
from quintet.http.events import Streams
from quintet.http.gauges import Gauges
from quintet.http.jobs import Jobs
from quintet.http.metrics import Metrics
from quintet.http.uploads import Uploads
from quintet.http.workers import Workers
from quintet.serving.shared_index import SharedIndex


@dataclass(frozen=True, slots=True)
class ServerState:
    """The parts of one server."""

    shared: SharedIndex
    guard: Guard
    limits: Limits
    workers: Workers
    probes: Workers  # for health checks and metrics, however busy the server is
    uploads: Uploads
    jobs: Jobs
    changes: ChangeJobs
    streams: Streams
    metrics: Metrics
    gauges: Gauges


class Routes:
    """Some routes of a server; `all` lists them."""

    for_bases = False  # whether a key for knowledge bases opens them

    def __init__(self, state: ServerState) -> None:
        self._state = state

    def route(self, path: str, *, for_bases: bool | None = None, **handlers: Any) -> Route:
        """A route by `guarded_route`: each method with the scope of the key it needs and its handler."""
        opens = self.for_bases if for_bases is None else for_bases
        return guarded_route(self._state.shared, self._state.guard, path, for_bases=opens, **handlers)
