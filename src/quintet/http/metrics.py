"""Counters and histograms for Prometheus. No label holds text from a client."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from threading import Lock
from typing import Final

from quintet.model.results import Signal

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

Labels = tuple[tuple[str, str], ...]


class Histogram:
    """Counts of durations by upper bound, for each set of labels."""

    def __init__(self, name: str, help: str) -> None:
        self.name = name
        self.help = help
        self._counts: dict[Labels, list[int]] = {}
        self._sums: dict[Labels, float] = {}

    def observe(self, labels: Labels, seconds: float) -> None:
        counts = self._counts.setdefault(labels, [0] * (len(BUCKETS) + 1))
        counts[bisect_left(BUCKETS, seconds)] += 1
        self._sums[labels] = self._sums.get(labels, 0.0) + seconds

    def lines(self) -> Iterator[str]:
        yield from _head(self.name, "histogram", self.help)
        for labels, counts in sorted(self._counts.items()):
            totals = list(accumulate(counts))
            for edge, total in zip((*map(str, BUCKETS), "+Inf"), totals, strict=True):
                yield _line(f"{self.name}_bucket", (*labels, ("le", edge)), total)
            yield _line(f"{self.name}_sum", labels, self._sums[labels])
            yield _line(f"{self.name}_count", labels, totals[-1])


class Metrics:
    """The counts of this process since it started."""

    def __init__(self) -> None:
        self._guard = Lock()
        self._requests: Counter[Labels] = Counter()
        self._times = Histogram("quintet_http_request_seconds", "Time to answer a request, by route.")
        self._searches = Histogram("quintet_search_seconds", "Time of a search in the engine, by contract.")
        self._legs = Histogram("quintet_leg_seconds", "Time of one leg of a search, by contract and leg.")

    def request(self, route: str, method: str, status: int, seconds: float) -> None:
        with self._guard:
            self._requests[("method", method), ("route", route), ("status", str(status))] += 1
            self._times.observe((("route", route),), seconds)

    def search(self, contract: str, seconds: float, legs: Mapping[Signal, float]) -> None:
        with self._guard:
            self._searches.observe((("contract", contract),), seconds)
            for leg, taken in legs.items():
                self._legs.observe((("contract", contract), ("leg", leg)), taken)

    def text(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        """All counts, and `gauges`: help and value by name. A name that ends in `_total` is a counter."""
        with self._guard:
            lines = [
                *_head("quintet_http_requests_total", "counter", "Requests answered."),
                *(_line("quintet_http_requests_total", *item) for item in sorted(self._requests.items())),
                *self._times.lines(),
                *self._searches.lines(),
                *self._legs.lines(),
            ]
        for name, (help, value) in {**gauges, **_memory()}.items():
            kind = "counter" if name.endswith("_total") else "gauge"
            lines += [*_head(name, kind, help), _line(name, (), value)]
        return "\n".join(lines) + "\n"


def _head(name: str, kind: str, help: str) -> Sequence[str]:
    return (f"# HELP {name} {help}", f"# TYPE {name} {kind}")


def _line(name: str, labels: Labels, value: float) -> str:
    shown = ",".join(f'{label}="{_quoted(text)}"' for label, text in labels)
    return f"{name}{{{shown}}} {value}" if shown else f"{name} {value}"


def _quoted(text: str) -> str:
    r"""
    >>> print(_quoted('a"b\\c'))
    a\"b\\c
    """
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _memory() -> dict[str, tuple[str, float]]:
    """Resident memory, on systems with /proc."""
    try:
        status = Path("/proc/self/status").read_text("ascii")
    except OSError:
        return {}
    kilobytes = next((line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:")), None)
    if kilobytes is None:
        return {}
    return {"process_resident_memory_bytes": ("Resident memory of the process.", 1024 * int(kilobytes))}
