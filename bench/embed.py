"""How fast texts become vectors, beside onnxruntime in float32 on the same weights in the same run.

    python bench/embed.py            9 repeats
    python bench/embed.py --quick    3 repeats

Each engine runs in processes of its own with one thread each. The engines take turns, repeat by repeat, so
that a busy machine slows both; medians are compared. The ratio of processor times hardly depends on the load.
Without onnxruntime and onnx only our own are measured.
"""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when numpy is imported

import argparse
import json
import platform
import random
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, cast

HERE = Path(__file__).resolve().parent
PASSAGE, QUERY = 128, 16  # tokens
BATCH = 8  # passages at a time: the tokens quintet.embed.local puts together
BATCHES = 4  # timed in one repeat, by each process
QUERIES = 20
REPEATS, QUICK = 9, 3
REQUIRED = 2.0  # times onnxruntime's passages a second
SEED = 30
Encode = Callable[[Sequence[Sequence[int]]], object]


def sequences(count: int, length: int) -> list[list[int]]:
    """Made-up token ids between granite's marks: time does not depend on which."""
    chance = random.Random(SEED)
    return [[0, *(chance.randrange(5, 50_000) for _ in range(length - 2)), 2] for _ in range(count)]


def ours() -> Encode:
    from quintet.embed.models import MODELS, granite_file, local_embedder

    if granite_file() is None:
        raise SystemExit(f"the weights of {MODELS['granite'].title} are not installed")
    embedder = local_embedder("granite", processes=1)
    embedder.embed_here(["loads the model"])
    return embedder._model[0].encode


def onnxruntime() -> Encode:
    import numpy as np
    import onnxruntime as ort

    from onnx_graph import granite_graph

    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = ort.InferenceSession(granite_graph(), options, providers=["CPUExecutionProvider"])
    return lambda batch: session.run(None, {"ids": np.array(batch, np.int64)})[0]


ENGINES: dict[str, Callable[[], Encode]] = {"quintet": ours, "onnxruntime": onnxruntime}


def serve(engine: str) -> None:
    """Load, say what that cost, then time passages or queries whenever asked."""
    start = time.perf_counter()
    encode = ENGINES[engine]()
    loaded = time.perf_counter() - start
    batch, query = sequences(BATCH, PASSAGE), sequences(1, QUERY)
    encode(batch)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps({"load_s": loaded, "rss_mb": memory}), flush=True)
    for line in sys.stdin:
        work, times = (batch, BATCHES) if line.strip() == "passages" else (query, QUERIES)
        taken = []
        processor = time.process_time()
        for _ in range(times):
            start = time.perf_counter()
            encode(work)
            taken.append(time.perf_counter() - start)
        print(json.dumps({"s": taken, "processor_s": time.process_time() - processor}), flush=True)


class Engine:
    """Two processes of an engine, asked alone or together."""

    def __init__(self, name: str) -> None:
        self.name = name
        command = [sys.executable, __file__, "--serve", name]
        self._pair: list[subprocess.Popen[str]] = []
        self.costs: list[dict[str, float]] = []
        for _ in range(2):  # one after the other: loading is timed
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self._pair.append(process)
            self.costs.append(self._answer(process))
        self.single: list[float] = []
        self.double: list[float] = []
        self.queries: list[float] = []
        self.processor: list[float] = []  # milliseconds a passage

    def repeat(self) -> None:
        amount = BATCH * BATCHES
        (alone,) = self._ask("passages", 1)
        self.single.append(amount / sum(alone["s"]))
        self.processor.append(alone["processor_s"] * 1000 / amount)
        start = time.perf_counter()
        self._ask("passages", 2)
        self.double.append(2 * amount / (time.perf_counter() - start))
        self.queries.append(statistics.median(self._ask("query", 1)[0]["s"]) * 1000)

    def _ask(self, what: str, processes: int) -> list[dict[str, Any]]:
        for process in self._pair[:processes]:
            print(what, file=cast(IO[str], process.stdin), flush=True)
        return [self._answer(process) for process in self._pair[:processes]]

    def _answer(self, process: "subprocess.Popen[str]") -> Any:
        line = cast(IO[str], process.stdout).readline()
        if not line:
            raise SystemExit(f"the {self.name} process ended; see above")
        return json.loads(line)

    def result(self) -> dict[str, float]:
        return {
            "passages_per_s_1": round(statistics.median(self.single), 1),
            "passages_per_s_2": round(statistics.median(self.double), 1),
            "processor_ms": round(statistics.median(self.processor), 2),
            "best_passages_per_s_1": round(max(self.single), 1),
            "query_ms": round(statistics.median(self.queries), 2),
            "load_s": round(min(cost["load_s"] for cost in self.costs), 3),
            "rss_mb": max(cost["rss_mb"] for cost in self.costs),
        }

    def close(self) -> None:
        for process in self._pair:
            cast(IO[str], process.stdin).close()
            process.wait()


def measure(names: Sequence[str], repeats: int) -> dict[str, Any]:
    engines = [Engine(name) for name in names]
    try:
        for _ in range(repeats):
            for engine in engines:
                engine.repeat()
        return {
            **{engine.name: engine.result() for engine in engines},
            **({"ratio": _ratio(*engines)} if len(engines) == 2 else {}),
        }
    finally:
        for engine in engines:
            engine.close()


def _ratio(engine: Engine, other: Engine) -> dict[str, float]:
    """Medians of each repeat's own ratio: what slowed a repeat slowed both sides of it."""

    def median(mine: Sequence[float], theirs: Sequence[float]) -> float:
        return round(statistics.median(a / b for a, b in zip(mine, theirs, strict=True)), 3)

    return {
        "1 process": median(engine.single, other.single),
        "2 processes": median(engine.double, other.double),
        "processor time": median(other.processor, engine.processor),
    }


def commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    found = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} repeats instead of {REPEATS}")
    parser.add_argument("--serve", choices=sorted(ENGINES), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve)
        return
    names = ["quintet"]
    if find_spec("onnxruntime") and find_spec("onnx"):
        names.append("onnxruntime")
    else:
        print("onnxruntime and onnx are not installed: nothing to compare with", file=sys.stderr)
    machine = {"python": platform.python_version(), "machine": platform.machine(), "cores": os.cpu_count()}
    machine["load"] = round(os.getloadavg()[0], 1)
    found = {"machine": machine, "commit": commit(), **measure(names, QUICK if options.quick else REPEATS)}
    text = json.dumps(found, indent=2)
    print(text)
    target = HERE / "results" / f"embed-{found['commit']}.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(text + "\n", "utf-8")
    if "ratio" in found and min(found["ratio"].values()) < REQUIRED:
        raise SystemExit(f"less than {REQUIRED} times onnxruntime")


if __name__ == "__main__":
    main()
