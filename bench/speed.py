"""How long indexing, searching and starting take, and what they cost in memory and on disk.

    python bench/speed.py            10,000 and 100,000 chunks
    python bench/speed.py --quick    1,000 chunks

Every passage of the corpus becomes a small .txt file; vectors are hashed, so that no model is timed.
Each part runs in a process of its own, so that memory is that part's own.
"""

import argparse
import gzip
import json
import platform
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import quintet

HERE = Path(__file__).resolve().parent
CORPUS = HERE.parent.parent / "shared" / "data" / "scale-100k.jsonl.gz"
SIZES = (10_000, 100_000)
QUICK = (1_000,)
PER_FOLDER = 1_000
QUERIES = 200
TERMS = 5
REPEATS = 3
SEED = 20_24
MODES = ("lexical", "semantic", "hybrid")
WORD = re.compile(r"[A-Za-z]{3,}")

HOSTILE = {
    "operators": "AND OR NOT NEAR ( ) : ^ * + - \" '",
    "unclosed quote": 'the "network protocol of the',
    "sql": "'; DROP TABLE chunks; --",
    "one letter": "a",
    "stop words": "the of and to in is that for it as",
    "64 common words": " ".join(f"{word} the{word}" for word in ["the", "of", "and", "to", "in", "is"] * 6),
    "100 KB of words": "network protocol host message " * 3_400,
    "100 KB without a space": "network.protocol." * 6_000,
    "100 KB of one letter": "a " * 50_000,
    "one phrase of 20,000 words": '"' + "the network " * 10_000 + '"',
    "CJK and Latin by turns": "\u7d22a" * 5_000,
    "CJK": "\u691c\u7d22" * 5_000,
    "emoji": "\U0001f50d" * 1_000,
}


def passages(corpus: Path, count: int) -> list[str]:
    """The first `count` passages, one after another; made-up text where there is no corpus."""
    source = _stored(corpus) if corpus.is_file() else _made_up()
    found = list(islice(source, count))
    if len(found) < count:
        raise SystemExit(f"{corpus} holds {len(found)} passages; {count} are wanted")
    return found


def _stored(corpus: Path) -> Iterator[str]:
    opened = gzip.open if corpus.suffix == ".gz" else open
    with opened(corpus, "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            yield f"{record.get('title', '')}\n\n{record['text']}\n"


def _made_up() -> Iterator[str]:
    """Words by Zipf's law: the n-th is n times rarer than the first."""
    chance = random.Random(SEED)
    syllables = [consonant + vowel for consonant in "bcdfghjklmnprstvwz" for vowel in "aeiou"]
    words = ["".join(chance.choices(syllables, k=chance.randint(1, 4))) for _ in range(30_000)]
    weights = [1 / (place + 1) for place in range(len(words))]
    while True:
        yield " ".join(chance.choices(words, weights, k=90)) + "\n"


def write_files(folder: Path, texts: Sequence[str]) -> None:
    for number, text in enumerate(texts):
        place = folder / f"{number // PER_FOLDER:04d}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{number:06d}.txt").write_text(text, "utf-8")


def queries(texts: Sequence[str]) -> list[str]:
    """Five terms each, all from one passage, so that something is found."""
    chance = random.Random(SEED)
    wordy = [
        words for text in texts[:: max(1, len(texts) // 2_000)] if len(words := WORD.findall(text)) >= TERMS
    ]
    return [" ".join(chance.sample(chance.choice(wordy), TERMS)) for _ in range(QUERIES)]


def index_files(files: Path, folder: Path) -> dict[str, Any]:
    """A first run, and runs over the same files that find nothing to do."""
    with quintet.open(folder, embedder="hashing") as index:
        report = index.sync([files])
        again = [_seconds(index.sync) for _ in range(REPEATS)]
        status = index.status()
    return {
        "files": status.files,
        "chunks": status.chunks,
        "seconds": report.seconds,
        "stages": report.stages,
        "noop_seconds": statistics.median(again),
        "bytes_on_disk": sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()),
        "peak_rss_mb": _peak_rss_mb(),
    }


def search_files(folder: Path, asked: Sequence[str]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    with quintet.open(folder) as index:
        result["first_ms"] = 1000 * _seconds(lambda: index.search(asked[0]))
        for mode in MODES:
            times = sorted(_median_ms(lambda q=q, m=mode: index.search(q, mode=m)) for q in asked)
            result[mode] = {"p50_ms": _share(times, 0.5), "p95_ms": _share(times, 0.95), "max_ms": times[-1]}
        hostile = {name: 1000 * _seconds(lambda q=q: index.search(q)) for name, q in HOSTILE.items()}
    result["hostile_ms"] = dict(sorted(hostile.items(), key=lambda item: -item[1]))
    return {**result, "peak_rss_mb": _peak_rss_mb()}


def start_seconds(command: Sequence[str]) -> float | None:
    """The median of five starts; None where the command does not work."""
    if subprocess.run(command, capture_output=True, check=False).returncode:
        return None
    return statistics.median(_seconds(lambda: subprocess.run(command, capture_output=True)) for _ in range(5))


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _median_ms(work: Callable[[], object]) -> float:
    return 1000 * statistics.median(_seconds(work) for _ in range(REPEATS))


def _share(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _peak_rss_mb() -> float:
    unit = 1 if sys.platform == "darwin" else 1024  # macOS counts bytes, Linux kilobytes
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def _alone(work: Callable[..., dict[str, Any]], *arguments: object) -> dict[str, Any]:
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def measure(corpus: Path, size: int) -> dict[str, Any]:
    texts = passages(corpus, size)
    place = Path(tempfile.mkdtemp(prefix="quintet-speed-"))
    try:
        write_files(place / "files", texts)
        indexing = _alone(index_files, place / "files", place / "index")
        searching = _alone(search_files, place / "index", queries(texts))
    finally:
        shutil.rmtree(place)
    return {"index": indexing, "search": searching}


def commit() -> str:
    answer = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True, text=True, check=False
    )
    return answer.stdout.strip() or "unknown"


def show(size: int, result: dict[str, Any]) -> None:
    indexing, searching = result["index"], result["search"]
    stages = ", ".join(f"{name} {seconds:.2f}" for name, seconds in indexing["stages"].items())
    print(f"\n{size:,} passages: {indexing['files']:,} files, {indexing['chunks']:,} chunks")
    print(f"  index       {indexing['seconds']:8.2f} s   ({stages})")
    print(f"  nothing new {indexing['noop_seconds']:8.2f} s")
    print(f"  on disk     {indexing['bytes_on_disk'] / 1e6:8.1f} MB")
    print(f"  memory      {indexing['peak_rss_mb']:8.0f} MB (search {searching['peak_rss_mb']:.0f})")
    print(f"  first query {searching['first_ms']:8.1f} ms")
    for mode in MODES:
        times = searching[mode]
        print(
            f"  {mode:<12}{times['p50_ms']:8.1f} ms p50, {times['p95_ms']:.1f} p95, {times['max_ms']:.1f} max"
        )
    slowest, *_ = searching["hostile_ms"]
    print(f"  hostile     {searching['hostile_ms'][slowest]:8.1f} ms slowest ({slowest})", flush=True)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--corpus", type=Path, default=CORPUS, help="JSON lines with a `text`, .gz or not")
    arguments.add_argument("--quick", action="store_true", help="1,000 chunks only")
    arguments.add_argument("--sizes", type=int, nargs="+", help="numbers of chunks")
    arguments.add_argument("--out", type=Path, default=HERE / "results", help="folder of the JSON result")
    given = arguments.parse_args()
    sizes = given.sizes or (QUICK if given.quick else SIZES)
    result: dict[str, Any] = {
        "commit": commit(),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "corpus": given.corpus.name if given.corpus.is_file() else "made up",
        "import_seconds": start_seconds([sys.executable, "-c", "import quintet"]),
        "help_seconds": start_seconds([str(Path(sys.executable).parent / "quintet"), "--help"]),
    }
    print(
        f"import quintet {result['import_seconds']:.3f} s; quintet --help {result['help_seconds']} s",
        flush=True,
    )
    for size in sizes:
        result[str(size)] = measure(given.corpus, size)
        show(size, result[str(size)])
    given.out.mkdir(parents=True, exist_ok=True)
    target = given.out / f"speed-{result['commit']}.json"
    target.write_text(json.dumps(result, indent=2) + "\n", "utf-8")
    print(f"\nwritten to {target.name}")


if __name__ == "__main__":
    main()
