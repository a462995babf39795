"""What happens in a process of its own, so that memory, caches and crashes are one engine's alone."""

import os
import random
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any

from . import Given, load, unit
from .family import Family
from .material import SEED, Material, Query

K = 10
CLIENTS = 8
PROBES = 50  # asked first in every process: they warm it up, and show whether a restart changes answers
WORTH_AGAIN = 30.0  # seconds of building beyond which giving everything again is not waited for
LEAVING = 5.0  # seconds for a process that has answered to end by itself
Answers = list[list[int]]


class EngineError(Exception):
    """An engine that could not be installed, or did not do what it was asked; the reason."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What came back, the seconds each query took, and the processor's seconds that all of them took."""

    answers: Answers
    seconds: list[float]
    processor: float


@dataclass(frozen=True, slots=True)
class Turn:
    """Which queries are asked in one process, and how many seconds may go by in each part of it."""

    probes: range
    timed: range
    pasted: range
    patience: float


def alone(work: Callable[..., Any], *arguments: object, patience: float) -> Any:
    """The answer of `work` in a new process, which is ended when it takes longer than `patience`."""
    spawn = get_context("spawn")
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=_answer, args=(theirs, work, arguments))
    process.start()
    theirs.close()
    try:
        if not ours.poll(patience):
            raise EngineError(f"no answer after {patience:.0f} s")
        failed, answer = ours.recv()
    except EOFError:
        process.join()
        raise EngineError(f"the process ended with code {process.exitcode}") from None
    else:
        process.join(LEAVING)
    finally:
        process.kill()
        process.join()
    if failed:
        raise EngineError(answer)
    return answer


def _answer(pipe: Connection, work: Callable[..., Any], arguments: Sequence[object]) -> None:
    try:
        pipe.send((False, work(*arguments)))
    except BaseException as error:  # whatever a peer raises is a line of the table
        reason = " ".join(str(error).split()) or "no reason given"
        pipe.send((True, f"{type(error).__name__}: {reason[:300]}"))


def build(name: str, material: Material, folder: Path) -> dict[str, Any]:
    """Index all passages once."""
    engine, given = load(name), material.given()
    folder.mkdir(parents=True)
    engine.prepare(folder, given)
    given_rss, processor = peak_rss_mb(), _processor_s()
    start = time.perf_counter()
    with Family() as family:
        phases = engine.build(folder, given)
        seconds = time.perf_counter() - start
    on_disk = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return {
        "seconds": seconds,
        "cpu_s": _processor_s() - processor,
        "phases": phases,
        "rss_mb": max(peak_rss_mb(), family.peak_mb),
        "given_rss_mb": given_rss,
        "disk_mb": (on_disk - engine.not_counted(folder)) / 1e6,
    }


def small(name: str, material: Material, folder: Path, count: int, patience: float) -> dict[str, Any]:
    """Over fewer passages: put in in order and in another, and everything once more, unchanged."""
    given = material.given(count)
    order = list(range(count))
    random.Random(SEED).shuffle(order)
    result = _small(name, material, folder / "in-order", given, patience)
    result["again_s"] = _again(name, folder / "in-order", given) if result["build_s"] < WORTH_AGAIN else None
    other = _small(name, material, folder / "shuffled", given.in_order(order), patience)
    return {**result, "shuffled": other["answers"]}


def _small(name: str, material: Material, place: Path, given: Given, patience: float) -> dict[str, Any]:
    engine = load(name)
    place.mkdir(parents=True)
    engine.prepare(place, given)
    start = time.perf_counter()
    engine.build(place, given)
    built = time.perf_counter() - start
    asking = Asking(engine, material, place)
    probed = {mode: asking.answers(mode, range(PROBES), patience) for mode in engine.modes}
    engine.close()
    return {
        "build_s": built,
        "answers": {mode: probe.answers for mode, probe in probed.items()},
        "p50_ms": {mode: 1e3 * median(probe.seconds) for mode, probe in probed.items()},
        "cpu_ms": {mode: 1e3 * probe.processor / len(probe.seconds) for mode, probe in probed.items()},
    }


def _again(name: str, place: Path, given: Given) -> float | None:
    """Seconds; None where all there is to do is to build anew."""
    engine, start = load(name), time.perf_counter()
    possible = engine.again(place, given)
    return time.perf_counter() - start if possible else None


def turn(name: str, material: Material, folder: Path, asked: Turn) -> dict[str, Any]:
    """Start, first answer, then every mode warm, pasted paragraphs, and eight clients at once."""
    start = time.perf_counter()
    engine = load(name)
    imported = time.perf_counter()
    asking = Asking(engine, material, folder)
    opened = time.perf_counter()
    best = engine.modes[-1]
    asking.answers(best, asked.probes[:1], asked.patience)
    first = time.perf_counter()
    result: dict[str, Any] = {
        "import_s": imported - start,
        "open_s": opened - imported - asking.reading,
        "first_s": first - opened,
        "modes": {},
        "note": engine.note,
        "probes": {},
    }
    for mode in engine.modes:
        result["probes"][mode] = asking.answers(mode, asked.probes, asked.patience / 2).answers
        result["modes"][mode] = asking.answers(mode, asked.timed, asked.patience)
    if "lexical" in engine.modes:
        result["pasted"] = asking.answers("lexical", asked.pasted, asked.patience).seconds
    result["qps_8"] = asking.clients(best, asked.timed, asked.patience / 2)
    result["rss_mb"] = peak_rss_mb()
    engine.close()
    return result


class Asking:
    """An opened engine, and the queries with their vectors."""

    def __init__(self, engine: Any, material: Material, folder: Path) -> None:
        start = time.perf_counter()
        self._queries = material.queries()
        exact = material.query_vectors()
        self._vectors = unit(exact)
        by_text = {query.text: vector for query, vector in zip(self._queries, exact, strict=True)}
        self.reading = time.perf_counter() - start
        self._engine = engine
        engine.open(folder, by_text)

    def _ask(self, mode: str, number: int) -> list[int]:
        query: Query = self._queries[number]
        if mode == "lexical":
            found: list[int] = self._engine.lexical(query.text, K)
            return found
        return list(getattr(self._engine, mode)(query.text, self._vectors[number], K))

    def answers(self, mode: str, numbers: range, patience: float) -> Answered:
        """As many of these queries as patience allows, one after another, each timed."""
        found, seconds, end = list[list[int]](), list[float](), time.perf_counter() + patience
        before = time.process_time()
        for number in numbers:
            start = time.perf_counter()
            if start > end:
                break
            found.append(self._ask(mode, number))
            seconds.append(time.perf_counter() - start)
        return Answered(found, seconds, time.process_time() - before)

    def clients(self, mode: str, numbers: range, patience: float) -> float:
        """Queries a second that eight threads get answered together."""
        todo, taking, counts, failures = _round(numbers), threading.Lock(), [0] * CLIENTS, list[str]()
        start = time.perf_counter()

        def client(nth: int) -> None:
            while time.perf_counter() - start < patience:
                with taking:
                    number = next(todo)
                try:
                    self._ask(mode, number)
                except Exception as error:  # an engine that is not safe to ask from threads
                    failures.append(f"{type(error).__name__}: {error}")
                    return
                counts[nth] += 1

        threads = [threading.Thread(target=client, args=(nth,)) for nth in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return 0.0 if failures else sum(counts) / (time.perf_counter() - start)


def _round(numbers: range) -> Iterator[int]:
    while True:
        yield from numbers


def _processor_s() -> float:
    """Seconds of this process and of those it started and waited for."""
    return sum(os.times()[:4])


def peak_rss_mb() -> float:
    """Of this process alone: what getrusage tells may be the memory of the process that started it."""
    status = Path("/proc/self/status")
    if status.is_file():
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e6
    unit_bytes = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit_bytes / 1e6
