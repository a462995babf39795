"""How a server holds up: many requests from several clients on this machine, and what they cost.

    python bench/soak.py            20,000 requests from 16 clients
    python bench/soak.py --quick    1,000 requests

Every answer must be 200 and must parse. Memory is that of the server, after a warm-up and at the end.
It stops by itself, at the latest after --minutes.
"""

import argparse
import json
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from itertools import islice
from pathlib import Path
from typing import Any

import quintet
from speed import CORPUS, HERE, commit, passages, queries, write_files

SEED = 20_24
WARM_UP = 2_000
PASSAGES = 5_000
CONTRACTS = ("quintet", "rifflux", "harness", "mcb", "knowledge", "cfs")

Request = tuple[str, str, bytes | None]


@dataclass
class Tally:
    """What the clients saw."""

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    guard: threading.Lock = field(default_factory=threading.Lock)

    def add(self, status: str, seconds: float) -> None:
        with self.guard:
            self.statuses[status] += 1
            self.seconds.append(seconds)


def requests(asked: Sequence[str], seed: int) -> Iterator[Request]:
    """Mostly searches by every contract; now and then somebody looks after the server."""
    chance = random.Random(seed)
    while True:
        if chance.random() < 0.02:
            yield "GET", chance.choice(("/healthz", "/readyz", "/metrics", "/openapi.json")), None
            continue
        body = {"query": chance.choice(asked), "limit": chance.choice((1, 5, 10, 20))}
        yield "POST", f"/v1/contracts/{chance.choice(CONTRACTS)}/search", json.dumps(body).encode()


def client(port: int, todo: Iterator[Request], tally: Tally, deadline: float) -> None:
    """One connection, kept open; an error is counted and the connection made anew."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    for method, path, body in todo:
        if time.monotonic() > deadline:
            tally.add("out of time", 0.0)
            break
        start = time.perf_counter()
        try:
            connection.request(method, path, body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            content = answer.read()
            status = str(answer.status)
            if path != "/metrics":
                json.loads(content)
        except (OSError, ValueError) as error:
            status = type(error).__name__
            connection.close()
        tally.add(status, time.perf_counter() - start)
    connection.close()


def crowd(port: int, asked: Sequence[str], clients: int, count: int, seed: int, deadline: float) -> Tally:
    tally = Tally()
    shares = [count // clients + (number < count % clients) for number in range(clients)]
    threads = [
        threading.Thread(
            target=client, args=(port, islice(requests(asked, seed + number), share), tally, deadline)
        )
        for number, share in enumerate(shares)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return tally


@contextmanager
def serving(folder: Path) -> Iterator[tuple["subprocess.Popen[str]", int]]:
    """`quintet serve` on a free port, ended by its own id."""
    words = [sys.executable, "-m", "quintet", "serve", "--port", "0", "--db", str(folder)]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, cwd=folder.parent)
    assert process.stderr is not None
    try:
        told = process.stderr.readline()
        assert told.startswith("listening on "), told
        yield process, int(told.rpartition(":")[2])
    finally:
        process.terminate()
        process.communicate()


def resident_mb(process_id: int) -> float:
    """Of the server and its reader processes, which share some of it."""
    tasks = Path(f"/proc/{process_id}/task")
    children = [int(pid) for task in tasks.iterdir() for pid in (task / "children").read_text().split()]
    return sum(map(_resident_mb, [process_id, *children]))


def _resident_mb(process_id: int) -> float:
    status = Path(f"/proc/{process_id}/status").read_text("ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:")) / 1000


def measure(corpus: Path, clients: int, count: int, minutes: float) -> dict[str, Any]:
    texts = passages(corpus, PASSAGES)
    place = Path(tempfile.mkdtemp(prefix="quintet-soak-"))
    deadline = time.monotonic() + 60 * minutes
    memory = []
    try:
        write_files(place / "files", texts)
        with quintet.open(place / "index", embedder="hashing") as index:
            index.sync([place / "files"])
        asked = queries(texts)
        with serving(place / "index") as (process, port):
            warm = crowd(port, asked, clients, min(WARM_UP, count), SEED, deadline)
            memory.append(resident_mb(process.pid))
            start = time.perf_counter()
            tally = Tally()
            for quarter in range(4):
                part = crowd(port, asked, clients, count // 4, SEED + 100 * (quarter + 1), deadline)
                tally.seconds += part.seconds
                tally.statuses += part.statuses
                memory.append(resident_mb(process.pid))
            seconds = time.perf_counter() - start
    finally:
        shutil.rmtree(place)
    cuts = statistics.quantiles(tally.seconds, n=100)
    return {
        "requests": sum(tally.statuses.values()),
        "clients": clients,
        "statuses": dict(tally.statuses),
        "errors": sum(n for status, n in (tally.statuses + warm.statuses).items() if status != "200"),
        "seconds": seconds,
        "per_second": len(tally.seconds) / seconds,
        "p50_ms": 1000 * cuts[49],
        "p95_ms": 1000 * cuts[94],
        "p99_ms": 1000 * cuts[98],
        "rss_mb": memory,
    }


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--corpus", type=Path, default=CORPUS, help="JSON lines with a `text`, .gz or not")
    arguments.add_argument("--quick", action="store_true", help="1,000 requests only")
    arguments.add_argument("--requests", type=int, default=20_000)
    arguments.add_argument("--clients", type=int, default=16)
    arguments.add_argument("--minutes", type=float, default=15, help="stop after this long, finished or not")
    arguments.add_argument("--out", type=Path, default=HERE / "results", help="folder of the JSON result")
    given = arguments.parse_args()
    count = 1_000 if given.quick else given.requests
    result = {
        "commit": commit(),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "passages": PASSAGES,
        **measure(given.corpus, given.clients, count, given.minutes),
    }
    for name, value in result.items():
        print(f"{name:<12}{value}")
    given.out.mkdir(parents=True, exist_ok=True)
    target = given.out / f"soak-{result['commit']}.json"
    target.write_text(json.dumps(result, indent=2) + "\n", "utf-8")
    return 1 if result["errors"] else 0


if __name__ == "__main__":
    sys.exit(main())
