"""Searching a knowledge base at rest, and while documents are put into it.

python bench/knowledge.py [DOCUMENTS] [THREADS]
"""

import statistics
import sys
import tempfile
import threading
import time
from itertools import count
from pathlib import Path

import quintet
from quintet.knowledge import KnowledgeBase, Upload

SOME = "harbour lantern tide signal engine ledger orchard granite meadow copper valley thunder"
WORDS = SOME.split()
BATCH = 100
IDLE_SECONDS = 5.0


def upload(number: int) -> Upload:
    some = [WORDS[(number * step + step) % len(WORDS)] for step in range(1, 60)]
    return Upload(
        f"# Document {number}\n\n{' '.join(some)} n{number}\n".encode(), f"{number}.md", id=f"d{number}"
    )


def asked(base: KnowledgeBase, threads: int, done: threading.Event) -> list[float]:
    """How long each search of `threads` clients took until `done`."""
    seconds: list[float] = []
    failed: list[BaseException] = []
    numbers = count()

    def ask() -> None:
        while not done.is_set():
            number = next(numbers)
            query = f"{WORDS[number % len(WORDS)]} {WORDS[number // 7 % len(WORDS)]} n{number}"
            start = time.perf_counter()
            try:
                base.search(query, mode="hybrid")
            except BaseException as error:
                failed.append(error)
                return
            seconds.append(time.perf_counter() - start)

    workers = [threading.Thread(target=ask) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if failed:
        raise failed[0]
    return seconds


def told(name: str, seconds: list[float]) -> float:
    cuts = statistics.quantiles(seconds, n=20)
    p50, p95 = statistics.median(seconds) * 1000, cuts[18] * 1000
    print(f"{name:8} {len(seconds):6} searches  p50 {p50:7.1f} ms  p95 {p95:7.1f} ms")
    return p95


def main(documents: int, threads: int) -> None:
    with tempfile.TemporaryDirectory() as folder, quintet.open(Path(folder) / "index", "hashing") as index:
        base = index.knowledge.create("bench")
        base.put_many([upload(number) for number in range(BATCH)])
        done = threading.Event()
        threading.Timer(IDLE_SECONDS, done.set).start()
        idle = told("idle", asked(base, threads, done))
        done = threading.Event()
        start = time.perf_counter()

        def put() -> None:
            try:
                for first in range(BATCH, documents + BATCH, BATCH):
                    base.put_many([upload(number) for number in range(first, first + BATCH)])
            finally:
                done.set()

        writer = threading.Thread(target=put)
        writer.start()
        busy = told("putting", asked(base, threads, done))
        writer.join()
        took = time.perf_counter() - start
        there = base.describe()["documents"]
        print(
            f"{documents} documents in {took:.1f} s, {there} there; p95 {busy / idle:.1f} times that at rest"
        )


if __name__ == "__main__":
    main(*(int(number) for number in (sys.argv[1:3] + ["2000", "8"][len(sys.argv) - 1 :])))
