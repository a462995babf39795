"""A guard against slow-downs: how much longer each thing takes than the plain way to do it, in one run.

    python bench/check.py            compare with bench/baseline.json; exit code 1 if something got dearer
    python bench/check.py --write    make what is measured now the baseline

Milliseconds of another day tell nothing, so none are compared. A ratio is of processor time in this process,
ours against a plain way that does not change, in turns on the same small made-up corpus; the median over the
turns is compared, the best of up to three attempts. Calls are counted by the interpreter, and are the same
in every run. On another processor or Python than the baseline's, what is compared may differ without
anybody's fault: then more is allowed.
"""

import argparse
import cProfile
import gc
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from math import nan
from pathlib import Path
from random import Random
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: the processor time of one thread is asked

import apsw
import numkong
import numpy as np

import quintet
from peer_engines import material
from quintet.model.text_query import TextQuery
from quintet.model.vector import quantise
from quintet.storage.sqlite.store import SqliteStore
from quintet.storage.vectors.matrix import Matrix, coarsened

BASELINE = Path(__file__).resolve().parent / "baseline.json"
NO_CORPUS = Path("/nonexistent")
PASSAGES, PER_FILE, QUERIES, DEPTH = 2_000, 10, 40, 50
WIDE = 20_000  # vectors of the product that is timed by itself
TURNS, RUNS, ATTEMPTS = 15, 5, 3
ALLOWED, ALLOWED_ELSEWHERE = 0.20, 1.0
NAMED = ("model name", "cpu family", "model", "stepping", "cache size")  # a name alone is of many
SETTINGS: dict[str, Any] = {"git_timeout": 0.0, "processes": 1}  # of other processes nothing is counted
SEED = 20_24
Work = Callable[[], object]


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--write", action="store_true", help="renew bench/baseline.json")
    given = arguments.parse_args()
    start = time.perf_counter()
    found = measured()
    if given.write:
        BASELINE.write_text(json.dumps({"on": here(), "figures": found}, indent=1) + "\n", "utf-8")
    stored = json.loads(BASELINE.read_text("utf-8"))
    allowed = ALLOWED if stored["on"] == here() else ALLOWED_ELSEWHERE
    for _ in range(ATTEMPTS - 1):  # what got dearer is dearer every time, a disturbance is not
        if complaints(found, stored["figures"], allowed):
            found = {name: min(found[name], value) for name, value in measured().items()}
    for name, value in found.items():
        print(f"{name:<46}{value:>12.6g}   baseline {stored['figures'].get(name, nan):.6g}")
    wrong = complaints(found, stored["figures"], allowed)
    for sentence in wrong:
        print(sentence, file=sys.stderr)
    print(f"{len(found)} figures in {time.perf_counter() - start:.0f} s; {allowed:.0%} above is allowed")
    return 1 if wrong else 0


def here() -> str:
    """What figures hang on beside the code: the processor and the version of Python."""
    file = Path("/proc/cpuinfo")
    lines = file.read_text("utf-8").splitlines() if file.is_file() else []
    about = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    processor = " ".join(about[name] for name in NAMED if name in about) or platform.machine()
    return f"{processor}, Python {sys.version_info.major}.{sys.version_info.minor}"


def complaints(found: dict[str, float], baseline: dict[str, float], allowed: float) -> list[str]:
    """A sentence for each figure that is further above its baseline than is allowed."""
    if found.keys() != baseline.keys():
        differing = ", ".join(sorted(found.keys() ^ baseline.keys()))
        return [f"bench-check: the baseline is not of these figures ({differing}); renew it with --write."]
    return [
        f"bench-check: {name} is {value:.6g}, {value / baseline[name] - 1:.0%} above the baseline of "
        f"{baseline[name]:.6g}, and {allowed:.0%} is allowed; mend it, or renew the baseline with --write "
        "and say why."
        for name, value in found.items()
        if value > baseline[name] * (1 + allowed)
    ]


def measured() -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="quintet-check-") as folder:
        found = measured_in(Path(folder))
    return {name: float(f"{value:.4g}") for name, value in found.items()}


def measured_in(place: Path) -> dict[str, float]:
    texts = material.passages(NO_CORPUS, PASSAGES)
    questions = drawn(texts)
    write_files(place / "files", texts)
    found = {"index run / plain inserts into FTS5": index_ratio(place, texts)}
    with quintet.open(place / "text", embedder=None, **SETTINGS) as index:
        found["calls of an index run"] = calls(lambda: index.sync([place / "files"]))
        found["calls of a run that finds nothing new"] = calls(index.sync)
    with quintet.open(place / "index", embedder="hashing", cache_entries=0, **SETTINGS) as index:
        index.sync([place / "files"])
        found |= text_ratios(place / "index", questions)
        found["hybrid, quintet / rifflux"] = in_turns(
            asking(index, questions, "quintet"), asking(index, questions, "rifflux")
        )
        for mode in ("lexical", "semantic", "hybrid"):
            found[f"calls of a {mode} search"] = (
                calls(asking(index, questions, "quintet", mode=mode)) / QUERIES
            )
    found["exact vectors / coarse products alone"] = vector_ratio(place / "wide")
    return found


def drawn(texts: Sequence[str]) -> list[str]:
    chance = Random(SEED)
    return [" ".join(chance.sample(chance.choice(texts).split(), 5)) for _ in range(QUERIES)]


def write_files(folder: Path, texts: Sequence[str]) -> None:
    """Ten passages a file, each under a heading, so that each is a chunk."""
    folder.mkdir(parents=True)
    for at in range(0, len(texts), PER_FILE):
        sections = [f"# Passage {number}\n\n{texts[number]}" for number in range(at, at + PER_FILE)]
        (folder / f"{at:06d}.md").write_text("\n".join(sections), "utf-8")


def index_ratio(place: Path, texts: Sequence[str]) -> float:
    """A first run without vectors, against the same texts in one FTS5 table by themselves."""
    numbers = iter(range(10_000))

    def ours() -> None:
        with quintet.open(place / f"run-{next(numbers)}", embedder=None, **SETTINGS) as index:
            index.sync([place / "files"])

    def plain() -> None:
        connection = apsw.Connection(str(place / f"plain-{next(numbers)}.db"))
        connection.execute("CREATE VIRTUAL TABLE text USING fts5 (content)")
        with connection:
            connection.executemany("INSERT INTO text VALUES (?)", ((text,) for text in texts))
        connection.close()

    return in_turns(ours, plain, RUNS)


def text_ratios(folder: Path, questions: Sequence[str]) -> dict[str, float]:
    connection = apsw.Connection(str(folder / "index.db"), flags=apsw.SQLITE_OPEN_READONLY)
    connection.pragma("mmap_size", 1 << 30)
    best = "SELECT rowid FROM text WHERE text MATCH ? ORDER BY rank LIMIT ?"

    def plain() -> None:
        for question in questions:
            asked = " OR ".join(f'"{word}"' for word in question.split())
            connection.execute(f"SELECT id FROM chunks WHERE row IN ({best})", (asked, DEPTH)).fetchall()

    store = SqliteStore(folder)
    with store.snapshot() as snapshot:

        def ours(*, house: bool) -> Work:
            def search() -> None:
                for question in questions:
                    words = tuple(question.split())
                    snapshot.text.search(TextQuery(words, parts=house, stems=house), DEPTH)

            return search

        found = {
            "full text / bm25() of FTS5": in_turns(ours(house=False), plain),
            "full text with stems / bm25() of FTS5": in_turns(ours(house=True), plain),
        }
    store.close()
    connection.close()
    return found


def asking(index: quintet.Index, questions: Sequence[str], contract: str, mode: str = "hybrid") -> Work:
    def search() -> None:
        for question in questions:
            index.search(question, contract, mode=mode)

    return search


def vector_ratio(folder: Path) -> float:
    """The exact integer ranking, against the best fifty of the coarse products that it begins with."""
    vectors = material.clustered(WIDE, SEED)
    matrix = Matrix(folder, vectors.shape[1])
    matrix.append(vectors)
    coarse, places = np.asarray(matrix.coarse), np.arange(WIDE)
    chance = np.random.default_rng(SEED)
    near = vectors[:QUERIES] / 32767
    asked = quantise(near + 0.03 * chance.standard_normal(near.shape))
    asked_coarse, _ = coarsened(asked)

    def ours() -> None:
        for query in asked:
            matrix.best(query, DEPTH, places)

    def plain() -> None:
        for query in asked_coarse:
            products = np.asarray(numkong.cdist(query[np.newaxis], coarse, "dot"))[0]
            some = np.argpartition(-products, DEPTH)[:DEPTH]
            some[np.argsort(-products[some])].tolist()

    return in_turns(ours, plain)


def in_turns(ours: Work, plain: Work, turns: int = TURNS) -> float:
    """How many times the plain way's processor time ours takes: the median over the turns."""
    ours(), plain()
    gc.disable()
    try:
        return statistics.median(_seconds(ours) / _seconds(plain) for _ in range(turns))
    finally:
        gc.enable()
        gc.collect()


def _seconds(work: Work) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def calls(work: Work) -> float:
    """Of functions, ours and built in."""
    profile = cProfile.Profile()
    profile.runcall(work)
    profile.create_stats()
    return float(sum(stat[1] for stat in profile.stats.values()))  # type: ignore[attr-defined]


if __name__ == "__main__":
    sys.exit(main())
