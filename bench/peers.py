"""Quintet beside what people would use instead: one corpus, the same vectors, the same queries, one run.

    python bench/peers.py                       100,000 passages: tables, JSON and chart are written
    python bench/peers.py --quick               10,000 passages, printed only
    python bench/peers.py --vectors FILE.npy    vectors made before, a row a passage; or `synthetic`

Every engine works in processes of its own, and they take turns. The vectors of queries are made beforehand:
embedding a query is in nobody's time. A peer that is missing or fails becomes a line with its reason.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import quintet
from peer_engines import DEPTH, ENGINES, child, figures, material, report
from peer_engines.chart import Point, bars, scatter
from peer_engines.child import EngineError, Turn, alone
from peer_engines.figures import OURS
from peer_engines.material import Material

HERE = Path(__file__).resolve().parent
DATA = HERE.parent.parent / "shared" / "data"
PAGE = HERE / "results" / "peers.md"
BEGIN, END = "<!-- peers:begin -->", "<!-- peers:end -->"
TURNS = 5
ONCE_S = 30.0  # an index that takes longer is made once
TOO_SLOW_MS = 50.0  # of the processor, a query over the few passages; over all it would take a second
SMALL_PATIENCE, TURN_PATIENCE = 400.0, 180.0


@dataclass(frozen=True, slots=True)
class Size:
    """How much is done: `build` is seconds for one index, `patience` for one mode of one engine in a turn."""

    passages: int
    small: int
    queries: int
    pasted: int
    build: float
    patience: float

    def too_slow(self, found: dict[str, Any]) -> bool:
        """Would an engine that did this over the few passages take too long over all of them?"""
        slowest = max(found["cpu_ms"].values(), default=0.0)
        return slowest > TOO_SLOW_MS or found["build_s"] * self.passages / self.small > self.build


FULL = Size(100_000, 5_000, 2_000, 100, 480.0, 3.0)
QUICK = Size(10_000, 1_000, 500, 25, 120.0, 1.0)


class Run:
    """One run: what was measured of each engine so far, and why others dropped out."""

    def __init__(self, kept: Material, place: Path, names: list[str], size: Size) -> None:
        self.kept, self.place, self.size = kept, place, size
        self.names = names
        self.small: dict[str, Any] = {}
        self.builds: dict[str, list[Any]] = {name: [] for name in names}
        self.turns: dict[str, list[Any]] = {name: [] for name in names}
        self.failed: dict[str, str] = {}
        self.slow: dict[str, Any] = {}

    def each(self, stage: str, work: Callable[[str], str], first: int = 0) -> None:
        """Let every engine that is still in take its turn, beginning with another one each time."""
        still = [name for name in self.names if name not in self.failed and name not in self.slow]
        for at in range(len(still)):
            name = still[(at + first) % len(still)]
            try:
                told = work(name)
            except EngineError as error:
                self.failed[name] = f"{stage}: {error}"
                told = f"left out: {error}"
            print(f"{stage:<12} {name:<28} {told}", flush=True)

    def folder(self, name: str, kind: str = "full") -> Path:
        return self.place / kind / name.replace(" ", "_")

    def index_of(self, name: str) -> str:
        """The engine whose index this one asks: its own, or that of another one that takes part."""
        other = ENGINES[name].index_of
        return other if other in self.names else name

    def run_small(self, name: str) -> str:
        count, folder = self.size.small, self.folder(name, "small")
        found = alone(
            child.small, name, self.kept, folder, count, self.size.patience, patience=SMALL_PATIENCE
        )
        shutil.rmtree(folder)
        self.small[name] = found
        if not name.startswith(OURS) and self.size.too_slow(found):
            self.slow[name] = found
        medians = (f"{mode} {median:.2f} ms" for mode, median in found["p50_ms"].items())
        return ", ".join([f"{found['build_s']:.2f} s", *medians])

    def run_build(self, name: str) -> str:
        owner = self.index_of(name)
        if owner in self.failed:
            raise EngineError(f"it asks the index of {owner}, which has none")
        if owner != name:
            return f"asks the index of {owner}"
        nth = len(self.builds[name])
        if nth and self.builds[name][0]["seconds"] > ONCE_S:
            return "is made once"
        folder = self.folder(name, "full" if nth == 0 else "again")
        found = alone(child.build, name, self.kept, folder, patience=self.size.build)
        if nth:
            shutil.rmtree(folder)
        self.builds[name].append(found)
        return f"{found['seconds']:.2f} s, {found['disk_mb']:.0f} MB, RSS {found['rss_mb']:.0f} MB"

    def run_turn(self, name: str) -> str:
        if not self.small[name]["answers"]:
            return "is not asked"
        nth = len(self.turns[name])
        asked = self.kept.queries()
        pasted = sum(query.kind == "200 terms" for query in asked)
        each, each_pasted = (len(asked) - pasted - child.PROBES) // TURNS, pasted // TURNS
        first, first_pasted = child.PROBES + nth * each, len(asked) - pasted + nth * each_pasted
        wanted = Turn(
            range(child.PROBES),
            range(first, first + each),
            range(first_pasted, first_pasted + each_pasted),
            self.size.patience,
        )
        folder = self.folder(self.index_of(name))
        found = alone(child.turn, name, self.kept, folder, wanted, patience=TURN_PATIENCE)
        self.turns[name].append({**found, "first": first})
        return ", ".join(
            f"{mode} {figures.percentiles(timing.seconds)['p50']:.2f} ms"
            for mode, timing in found["modes"].items()
        )

    def figures(self, judge: figures.Judge) -> dict[str, Any]:
        ours = self.turns.get(OURS) if OURS not in self.failed else None
        return {
            name: figures.engine_figures(self.builds[name], self.small[name], turns, ours, judge)
            for name, turns in self.turns.items()
            if name not in self.failed and name not in self.slow
        }


def measured(given: argparse.Namespace, size: Size, place: Path) -> dict[str, Any]:
    measured_commit, busy = commit(), os.getloadavg()[0]  # both may be others when the run ends
    texts = material.passages(given.corpus, size.passages)
    vectors, whose, embedding = material.vectors_of(texts, given.vectors)
    queries = material.drawn(texts, size.queries, size.pasted, given.query_sets)
    asked = material.query_vectors_of(queries, vectors, given.vectors, given.query_vectors)
    kept = Material(place)
    kept.keep(texts, vectors, queries, asked)
    judge = figures.Judge(queries, vectors, asked, material.tenth_best(vectors, asked, child.K))
    print(f"{len(texts):,} passages, {len(queries):,} queries are ready", flush=True)
    run = Run(kept, place, given.engines or list(ENGINES), size)
    run.each(f"{size.small:,}", run.run_small)
    for nth in range(TURNS):
        run.each(f"index {nth + 1}", run.run_build, first=nth)
    for nth in range(TURNS):
        run.each(f"turn {nth + 1}", run.run_turn, first=nth)
    slow = {**{name: run.small[name] for name in (OURS,) if name in run.small and run.slow}, **run.slow}
    told = ("build_s", "p50_ms", "again_s")
    return {
        "commit": measured_commit,
        "load_at_start": busy,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
        "corpus": given.corpus.name if given.corpus.is_file() else "made-up text",
        "passages": len(texts),
        "small": size.small,
        "vectors": whose,
        "embedding_s": embedding,
        "k": child.K,
        "depth": DEPTH,
        "turns": TURNS,
        "too_slow_ms": TOO_SLOW_MS,
        "build_patience_s": size.build,
        "queries": dict(sorted(Counter(query.kind for query in queries).items())),
        "versions": versions(run.names),
        "engines": run.figures(judge),
        "slow": {name: {key: timing[key] for key in told} for name, timing in slow.items()},
        "failed": run.failed,
    }


def versions(names: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for package in sorted({ENGINES[name].package for name in names}):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def commit() -> str:
    """Of the Quintet that is measured, wherever it is installed; marked where its files differ from it."""
    package = Path(quintet.__file__).parent
    command = ["git", "describe", "--always", "--dirty", "--exclude", "*"]
    answer = subprocess.run(command, cwd=package, capture_output=True, text=True, check=False)
    return answer.stdout.strip() or "unknown"


def charts(result: dict[str, Any]) -> dict[str, str]:
    """SVG by file name: hybrid search as bars, and what recall costs."""
    found = {
        mode: [
            Point(name, figures["p50"], figures["p95"], report.recall(engine))
            for name, engine in result["engines"].items()
            if (figures := engine["modes"].get(mode))
        ]
        for mode in ("hybrid", "dense")
    }
    over = f"over {result['passages']:,} passages, best {result['k']}"
    drawn = {
        "peers.svg": bars(f"Hybrid search {over}", found["hybrid"]) if found["hybrid"] else None,
        "peers-recall.svg": scatter(f"Vectors alone {over}", found["dense"]) if found["dense"] else None,
    }
    return {name: svg for name, svg in drawn.items() if svg}


def write(result: dict[str, Any], out: Path, page: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    target = out / f"peers-{result['commit']}.json"
    target.write_text(json.dumps(result, indent=2) + "\n", "utf-8")
    for name, svg in charts(result).items():
        (page.parent / name).write_text(svg, "utf-8")
    before, _, rest = page.read_text("utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n\n{report.tables(result)}\n{END}{after}", "utf-8")
    print(f"written to {target.name} and {page.name}")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument(
        "--corpus",
        type=Path,
        default=DATA / "scale-100k.jsonl.gz",
        help="JSON lines with a `text`, .gz or not",
    )
    arguments.add_argument("--vectors", help="a .npy file, or `synthetic`; else they are made first")
    arguments.add_argument("--query-vectors", type=Path, help="a .npz file to keep the vectors of queries in")
    arguments.add_argument("--query-sets", type=Path, default=DATA, help="folder of */queries.jsonl")
    arguments.add_argument("--engines", nargs="+", choices=list(ENGINES), help="only these")
    arguments.add_argument("--quick", action="store_true", help="10,000 passages, printed only unless --page")
    arguments.add_argument("--out", type=Path, default=HERE / "results", help="folder of the JSON result")
    arguments.add_argument("--page", type=Path, help="Markdown to write the tables into; charts go beside it")
    given = arguments.parse_args()
    place = Path(tempfile.mkdtemp(prefix="quintet-peers-"))
    try:
        result = measured(given, QUICK if given.quick else FULL, place)
        print(report.tables(result), flush=True)
        if given.page or not given.quick:
            write(result, given.out, given.page or PAGE)
    finally:
        shutil.rmtree(place)


if __name__ == "__main__":
    main()
