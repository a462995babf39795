"""What the routes share."""

from dataclasses import dataclass

from quintet.http.authentication import Guard
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
    """What the routes of one server share."""

    shared: SharedIndex
    guard: Guard
    limits: Limits
    workers: Workers
    writers: Workers  # for changes of knowledge bases, which take longer than a search
    probes: Workers  # for health checks and metrics, however busy the server is
    uploads: Uploads
    jobs: Jobs
    streams: Streams
    metrics: Metrics
    gauges: Gauges
