"""Start-up and small things: how soon a command, a server and an edited file are there; what idling costs.

    python bench/startup.py            7 of each, over 10,000 files of one chunk each
    python bench/startup.py --quick    3 of each, over 1,000 files; nothing is written

Every start is a new process; what it reads lies in the system's cache, and bytecode is kept, as it is in an
installed package. CPU seconds are the process's own: on a busy machine they say more than the clock. Vectors
are hashed, so that no model is in these figures; loading one is a line of its own.
"""

import argparse
import json
import os
import platform
import queue
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import quintet
from growth import passages, write_files
from speed import CORPUS, HERE, commit

PAGE = HERE / "results" / "startup.md"
BEGIN, END = "<!-- startup:begin -->", "<!-- startup:end -->"
SECTION = f"\n## Start-up and small things\n\n{BEGIN}\n{END}\n"
QUINTET = [sys.executable, "-m", "quintet"]
ENGINE = "from quintet import open"
MODEL = (
    "import time; from quintet.embed import DEFAULT, load_embedder; start = time.perf_counter(); "
    "load_embedder(DEFAULT).embed_query('how long are answers cached'); print(time.perf_counter() - start)"
)
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
}
PATIENCE = 60.0  # seconds until something that never comes is given up


@dataclass(frozen=True, slots=True)
class Line:
    """One figure: what it is called, its unit, and what it must stay below, if anything."""

    name: str
    unit: str = "s"
    below: float | None = None


LINES = {
    "import": Line("`import quintet`"),
    "engine": Line("`from quintet import open`: the whole engine"),
    "help": Line("`quintet --help`"),
    "lexical": Line("`quintet search --mode lexical`, cold", below=0.6),
    "hybrid": Line("`quintet search`, hybrid, cold, without a model"),
    "model": Line("loading the default model and embedding one query"),
    "mcp": Line("`quintet mcp`, until it has answered `initialize`"),
    "noop": Line("a run over all files that finds nothing new", below=1.0),
    "noop_command": Line("the same as `quintet index`, from start to end"),
    "edited": Line("an edited file, from its save until it is found, under `quintet watch`", below=0.5),
    "serve": Line("`quintet serve`, until it has answered"),
    "idle": Line("memory of an idle `quintet serve`, no model loaded", "MB", below=150.0),
}


class Bench:
    """A folder of files with its index, and how often each thing is done."""

    def __init__(self, place: Path, repeats: int) -> None:
        self.place, self.repeats = place, repeats
        self.files, self.index = place / "files", place / "files" / ".quintet"
        kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        self._environment = {**kept, "PYTHONPYCACHEPREFIX": str(place / "bytecode")}

    def fill(self, corpus: Path, count: int) -> str:
        asked = write_files(self.files, passages(corpus, count))
        with quintet.open(self.index, embedder="hashing", chunk_chars=100_000) as index:
            index.sync([self.files])
        (self.files / "quintet.toml").write_text("chunk_chars = 100000\n", "utf-8")
        return asked[0][0]

    def started(self, command: Sequence[str]) -> dict[str, float]:
        """Median clock and CPU seconds of a command that must succeed; one start before warms the caches."""
        self._run(command)
        taken = [self._run(command) for _ in range(self.repeats)]
        return {"value": _median(wall for wall, _ in taken), "cpu": _median(cpu for _, cpu in taken)}

    def _run(self, command: Sequence[str]) -> tuple[float, float]:
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = subprocess.run(
            command, cwd=self.files, env=self._environment, capture_output=True, check=False
        )
        wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)} failed: {done.stderr.decode()[-500:]}")
        return wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime

    def model(self) -> dict[str, float] | None:
        """None where the weights are not installed."""
        found = []
        for _ in range(self.repeats):
            done = subprocess.run(
                [sys.executable, "-c", MODEL], env=self._environment, capture_output=True, check=False
            )
            if done.returncode:
                return None
            found.append(float(done.stdout))
        return {"value": _median(found)}

    @contextmanager
    def running(self, *arguments: str) -> Iterator["Running"]:
        process = subprocess.Popen(
            [*QUINTET, *arguments],
            cwd=self.files,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            yield Running(process)
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()

    def mcp(self) -> dict[str, float]:
        taken = []
        for _ in range(self.repeats):
            start = time.perf_counter()
            with self.running("mcp") as server:
                server.send(json.dumps(INITIALIZE) + "\n")
                server.line(lambda line: '"result"' in line)
                taken.append(time.perf_counter() - start)
        return {"value": _median(taken)}

    def serve(self) -> tuple[dict[str, float], dict[str, float] | None]:
        """Until the first answer, and what it holds in memory then; None where the system does not tell."""
        taken, idle = [], []
        for _ in range(self.repeats):
            start = time.perf_counter()
            with self.running("serve", "--port", "0") as server:
                address = server.line(lambda line: "listening on" in line).split()[-1]
                with urllib.request.urlopen(f"{address}/healthz") as answer:
                    answer.read()
                taken.append(time.perf_counter() - start)
                idle += server.resident_mb()
        return {"value": _median(taken)}, {"value": _median(idle)} if idle else None

    def noop(self) -> dict[str, float]:
        with quintet.open(self.index, chunk_chars=100_000) as index:
            taken = [_clocked(index.sync) for _ in range(self.repeats)]
        return {"value": _median(wall for wall, _ in taken), "cpu": _median(cpu for _, cpu in taken)}

    def edited(self) -> dict[str, float]:
        """By asking again and again from another process, every two milliseconds."""
        files = sorted(self.files.rglob("*.txt"))[:: max(1, 1000 // self.repeats)]
        taken = []
        with self.running("watch") as watcher, quintet.open(self.index, chunk_chars=100_000) as index:
            watcher.line(lambda line: "indexed" in line)
            for nth, file in enumerate(files[: self.repeats]):
                word = f"startupprobe{nth}{'abcdefghij'[nth % 10]}"
                file.write_text(f"{file.read_text('utf-8')}\n{word}\n", "utf-8")
                start = time.perf_counter()
                while not _found(index, word):
                    if time.perf_counter() - start > PATIENCE:
                        raise SystemExit(f"{file} was not found {PATIENCE:g} s after its save")
                    time.sleep(0.002)
                taken.append(time.perf_counter() - start)
                watcher.line(lambda line: "indexed" in line)
        return {"value": _median(taken), "slowest": max(taken)}


class Running:
    """A process whose output is read as it comes."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._lines: queue.Queue[str] = queue.Queue()
        for stream in (process.stdout, process.stderr):
            threading.Thread(target=self._read, args=(stream,), daemon=True).start()

    def _read(self, stream: Any) -> None:
        for line in stream:
            self._lines.put(line)

    def line(self, wanted: Callable[[str], bool]) -> str:
        seen = []
        while True:
            try:
                line = self._lines.get(timeout=PATIENCE)
            except queue.Empty:
                raise SystemExit(f"nothing came for {PATIENCE:g} s; before: {seen}") from None
            if wanted(line):
                return line
            seen.append(line)

    def send(self, text: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(text)
        self._process.stdin.flush()

    def resident_mb(self) -> list[float]:
        status = Path(f"/proc/{self._process.pid}/status")
        if not status.is_file():
            return []
        found = re.search(r"VmRSS:\s+(\d+) kB", status.read_text("ascii"))
        return [int(found[1]) * 1024 / 1e6] if found else []


def _found(index: quintet.Index, word: str) -> bool:
    body: Any = index.search(word, mode="lexical", limit=1).body
    return bool(body["results"])


def _clocked(work: Callable[[], object]) -> tuple[float, float]:
    start, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start, time.process_time() - cpu


def _median(values: Any) -> float:
    return statistics.median(values)


def measured(bench: Bench, query: str) -> dict[str, Any]:
    searching = [*QUINTET, "search", query]
    found: dict[str, Any] = {
        "import": bench.started([sys.executable, "-c", "import quintet"]),
        "engine": bench.started([sys.executable, "-c", ENGINE]),
        "help": bench.started([*QUINTET, "--help"]),
        "lexical": bench.started([*searching, "--mode", "lexical"]),
        "hybrid": bench.started(searching),
        "model": bench.model(),
        "mcp": bench.mcp(),
        "noop": bench.noop(),
        "noop_command": bench.started([*QUINTET, "index"]),
        "edited": bench.edited(),
    }
    found["serve"], found["idle"] = bench.serve()
    return {name: value for name, value in found.items() if value is not None}


def table(result: dict[str, Any]) -> str:
    lines = [
        f"Medians of {result['repeats']} over {result['files']:,} files of one chunk each; commit "
        f"{result['commit']}, Python {result['python']}, {result['machine']}, load {result['load']}. Every "
        "start is a new process; its files are in the system's cache (`bench/startup.py`).",
        "",
        "| what | measured | CPU | must be below |",
        "|---|---:|---:|---:|",
    ]
    for name, line in LINES.items():
        if (figures := result["figures"].get(name)) is not None:
            lines.append(f"| {line.name} | {' | '.join(_cells(line, figures))} |")
    return "\n".join(lines) + "\n"


def _cells(line: Line, figures: dict[str, float]) -> list[str]:
    digits = 2 if line.unit == "s" else 0
    value = f"{figures['value']:.{digits}f} {line.unit}"
    missed = line.below is not None and figures["value"] >= line.below
    return [
        f"**{value}**" if missed else value,
        f"{figures['cpu']:.2f} s" if "cpu" in figures else "",
        "" if line.below is None else f"{line.below:g} {line.unit}",
    ]


def write(result: dict[str, Any], out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    target = out / f"startup-{result['commit']}.json"
    target.write_text(json.dumps(result, indent=2) + "\n", "utf-8")
    page = PAGE.read_text("utf-8")
    before, _, rest = (page if BEGIN in page else page.rstrip("\n") + "\n" + SECTION).partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{table(result)}\n{END}{after}", "utf-8")
    print(f"written to {target.name} and {PAGE.name}")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--corpus", type=Path, default=CORPUS, help="JSON lines with a `text`, .gz or not")
    arguments.add_argument("--quick", action="store_true", help="1,000 files, 3 of each, nothing is written")
    arguments.add_argument("--out", type=Path, default=HERE / "results", help="folder of the JSON result")
    given = arguments.parse_args()
    files, repeats = (1_000, 3) if given.quick else (10_000, 7)
    place = Path(tempfile.mkdtemp(prefix="quintet-startup-"))
    try:
        bench = Bench(place, repeats)
        query = bench.fill(given.corpus, files)
        load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
        result = {
            "commit": commit(),
            "python": platform.python_version(),
            "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
            "corpus": given.corpus.name if given.corpus.is_file() else "made-up text",
            "load": load,
            "files": files,
            "repeats": repeats,
            "figures": measured(bench, query),
        }
    finally:
        shutil.rmtree(place)
    print(table(result))
    if not given.quick:
        write(result, given.out)


if __name__ == "__main__":
    main()
