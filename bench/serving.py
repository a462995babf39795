"""How many answers a second a server gives one client and eight, with and without reader processes.

    python bench/serving.py            hashed vectors: five rounds, then 20,000 requests
    python bench/serving.py --model    the default model; the index takes minutes
    python bench/serving.py --quick    one short round, 1,000 requests

A round measures one client, then eight, on a server with readers and on one without, by turns. Two kinds of
requests: `mixed` are searches by every contract as bench/soak.py sends them, of which the cache knows some;
`new` are queries by the house ranking that nobody sent before. The load is one thread of its own process on
plain sockets, which takes about 0.1 ms a request, because it shares the cores with the server.

`cpu_ms` is the processor time of server, readers and load for one request. On two cores, eight clients can
get no more than two seconds' worth of it a second. Memory counts a page that processes share once.
"""

import argparse
import json
import os
import platform
import random
import selectors
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import quintet
from soak import CONTRACTS
from speed import CORPUS, HERE, WORD, commit, passages, queries, write_files

SEED = 20_24
CLIENTS = 8
PASSAGES = {"hashing": 5_000, "granite": 1_000}
KINDS = ("mixed", "new")
CYCLE = 40_000  # requests before the first comes again
QUARTERS = 4


@dataclass
class Load:
    """What the clients saw, and the processor time of all processes for it."""

    seconds: float = 0.0
    waits: list[float] = field(default_factory=list)
    errors: int = 0
    processor: dict[str, float] = field(default_factory=dict)

    @property
    def per_second(self) -> float:
        return len(self.waits) / self.seconds

    def wait_ms(self, percent: int) -> float:
        return 1000 * statistics.quantiles(self.waits, n=100)[percent - 1]


@dataclass
class Connection:
    """A client: one request at a time on a connection that stays open."""

    socket: socket.socket
    received: bytes = b""
    asked: float = 0.0

    def ask(self, request: bytes) -> None:
        self.received, self.asked = b"", time.perf_counter()
        self.socket.sendall(request)

    def is_answered(self) -> bool:
        """Whether the whole response is there."""
        part = self.socket.recv(1 << 18)
        if not part:
            raise ConnectionError("the server closed the connection")
        self.received += part
        head, end, body = self.received.partition(b"\r\n\r\n")
        if not end:
            return False
        length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
        return len(body) >= int(length)


def send_load(port: int, requests: Sequence[bytes], clients: int, count: int, seconds: float) -> Load:
    """So many clients at once, until `count` requests are answered or `seconds` have passed."""
    load, todo = Load(), iter(requests)
    start, processor = time.perf_counter(), time.process_time()
    with ExitStack() as stack, selectors.DefaultSelector() as selector:
        for _ in range(clients):
            opened = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = Connection(opened)
            selector.register(opened, selectors.EVENT_READ, connection)
            connection.ask(next(todo))
        while selector.get_map():
            for key, _ in selector.select():
                if not key.data.is_answered():
                    continue
                now = time.perf_counter()
                load.waits.append(now - key.data.asked)
                load.errors += not key.data.received.startswith(b"HTTP/1.1 200 ")
                if len(load.waits) + len(selector.get_map()) <= count and now - start < seconds:
                    key.data.ask(next(todo))
                else:
                    selector.unregister(key.data.socket)
    load.seconds = time.perf_counter() - start
    load.processor["load"] = time.process_time() - processor
    return load


def bodies(kind: str, texts: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    chance = random.Random(SEED)
    known = queries(texts)
    wordy = [words for text in texts if len(words := WORD.findall(text)) >= 5]
    while True:
        if kind == "mixed":
            body = {"query": chance.choice(known), "limit": chance.choice((1, 5, 10, 20))}
            yield f"/v1/contracts/{chance.choice(CONTRACTS)}/search", body
        else:
            yield "/v1/search", {"query": " ".join(chance.sample(chance.choice(wordy), 5))}


def http_request(path: str, body: dict[str, Any]) -> bytes:
    content = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content


class Server:
    """`quintet serve` on a free port; `readers` is the setting. `generator` is the process of the load."""

    def __init__(self, folder: Path, readers: int, generator: ProcessPoolExecutor) -> None:
        words = [sys.executable, "-m", "quintet", "serve", "--port", "0", "--db", str(folder)]
        environment = {**os.environ, "QUINTET_READERS": str(readers)}
        self.process = subprocess.Popen(
            words, stderr=subprocess.PIPE, text=True, cwd=folder.parent, env=environment
        )
        assert self.process.stderr is not None
        told = self.process.stderr.readline()
        assert told.startswith("listening on "), told
        self.port = int(told.rpartition(":")[2])
        self._generator = generator

    def children(self) -> list[int]:
        tasks = Path(f"/proc/{self.process.pid}/task")
        return [int(pid) for task in tasks.iterdir() for pid in (task / "children").read_text().split()]

    def load(self, requests: Sequence[bytes], clients: int, count: int, seconds: float) -> Load:
        children = self.children()
        before = processor_seconds(self.process.pid), sum(map(processor_seconds, children))
        load = self._generator.submit(send_load, self.port, requests, clients, count, seconds).result()
        load.processor["server"] = processor_seconds(self.process.pid) - before[0]
        load.processor["readers"] = sum(map(processor_seconds, children)) - before[1]
        return load

    def memory_mb(self) -> float:
        """What server and readers have for themselves, and their parts of what they share."""
        return sum(map(proportional_mb, [self.process.pid, *self.children()]))

    def close(self) -> None:
        self.process.terminate()
        self.process.communicate()


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def proportional_mb(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1000


@contextmanager
def indexed(embedder: str, texts: Sequence[str]) -> Iterator[Path]:
    place = Path(tempfile.mkdtemp(prefix="quintet-serving-"))
    try:
        write_files(place / "files", texts)
        with quintet.open(place / "index", embedder=embedder) as index:
            index.sync([place / "files"])
        yield place / "index"
    finally:
        shutil.rmtree(place)


def compare(servers: dict[str, Server], requests: list[bytes], rounds: int, seconds: float) -> dict[str, Any]:
    """Rounds of one client and eight on each server by turns; medians, and medians of the rounds' ratios."""
    at, loads = 0, {name: {1: [], CLIENTS: []} for name in servers}  # type: ignore[var-annotated]
    for number in range(rounds + 1):
        for name, server in servers.items():
            for clients in (CLIENTS, 1) if number % 2 else (1, CLIENTS):
                part = requests[at:] + requests[:at]
                load = server.load(part, clients, CYCLE, seconds)
                at = (at + len(load.waits)) % len(requests)
                if number:  # the first round warms up
                    loads[name][clients].append(load)
    return {name: _figures(of_one[1], of_one[CLIENTS]) for name, of_one in loads.items()}


def _figures(of_one: list[Load], of_many: list[Load]) -> dict[str, Any]:
    pairs = list(zip(of_one, of_many, strict=True))
    return {
        "1 client": _medians(of_one),
        f"{CLIENTS} clients": _medians(of_many),
        "times the answers": statistics.median(
            eight.per_second / single.per_second for single, eight in pairs
        ),
        "times the p95": statistics.median(eight.wait_ms(95) / single.wait_ms(95) for single, eight in pairs),
        "errors": sum(load.errors for load in (*of_one, *of_many)),
    }


def _medians(loads: list[Load]) -> dict[str, float]:
    figures = [
        {
            "per_second": load.per_second,
            "p50_ms": load.wait_ms(50),
            "p95_ms": load.wait_ms(95),
            **{f"{name}_cpu_ms": 1000 * spent / len(load.waits) for name, spent in load.processor.items()},
        }
        for load in loads
    ]
    return {name: statistics.median(each[name] for each in figures) for name in figures[0]}


def hold(server: Server, requests: list[bytes], count: int) -> dict[str, Any]:
    """Many requests from eight clients: errors, and memory after a warm-up and after each quarter."""
    warm_up = server.load(requests, CLIENTS, count // 10, 600)
    memory, loads = [server.memory_mb()], [warm_up]
    for quarter in range(QUARTERS):
        at = (quarter * count // QUARTERS) % len(requests)
        loads.append(server.load(requests[at:] + requests[:at], CLIENTS, count // QUARTERS, 600))
        memory.append(server.memory_mb())
    return {
        "requests": sum(len(load.waits) for load in loads[1:]),
        "errors": sum(load.errors for load in loads),
        "memory_mb": memory,
    }


def measure(embedder: str, rounds: int, seconds: float, count: int) -> dict[str, Any]:
    texts = passages(CORPUS, PASSAGES[embedder])
    result: dict[str, Any] = {}
    generator = ProcessPoolExecutor(1, get_context("spawn"))
    with indexed(embedder, texts) as folder, generator, ExitStack() as stack:
        servers = {"readers": Server(folder, 0, generator), "one process": Server(folder, 1, generator)}
        for server in servers.values():
            stack.callback(server.close)
        for kind in KINDS:
            source = bodies(kind, texts)
            requests = [http_request(*next(source)) for _ in range(CYCLE)]
            result[kind] = compare(servers, requests, rounds, seconds)
            _show(kind, result[kind])
        result["held"] = hold(servers["readers"], requests, count)
        print("held", json.dumps(result["held"]))
    return result


def _show(kind: str, figures: dict[str, Any]) -> None:
    for name, of_one in figures.items():
        print(f"{kind}, {name}")
        for label, value in of_one.items():
            print(f"    {label:<20}{json.dumps(_rounded(value))}")


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return round(value, 2)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--model", action="store_true", help="with the default model")
    arguments.add_argument("--quick", action="store_true", help="one short round, 1,000 requests")
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--seconds", type=float, default=5.0, help="of each measurement")
    arguments.add_argument("--requests", type=int, default=20_000)
    arguments.add_argument("--out", type=Path, default=HERE / "results", help="folder of the JSON result")
    given = arguments.parse_args()
    embedder = "granite" if given.model else "hashing"
    rounds, seconds, count = (1, 1.0, 1_000) if given.quick else (given.rounds, given.seconds, given.requests)
    result = {
        "commit": commit(),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "embedder": embedder,
        "passages": PASSAGES[embedder],
        **measure(embedder, rounds, seconds, count),
    }
    given.out.mkdir(parents=True, exist_ok=True)
    target = given.out / f"serving-{embedder}-{result['commit']}.json"
    target.write_text(json.dumps(result, indent=2) + "\n", "utf-8")
    print(target)
    return 1 if result["held"]["errors"] else 0


if __name__ == "__main__":
    sys.exit(main())
