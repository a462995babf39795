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
from peer_engines import DEPTH, ENGINES, PACKAGES, child, material, report
from peer_engines.chart import Bar, bars
from peer_engines.child import EngineError, Turn, alone
from peer_engines.material import Material

HERE = Path(__file__).resolve().parent
DATA = HERE.parent.parent / "shared" / "data"
PAGE = HERE.parent / "docs" / "benchmarks.md"
CHART = HERE.parent / "docs" / "peers.svg"
BEGIN, END = "<!-- peers:begin -->", "<!-- peers:end -->"
TURNS = 5
TOO_SLOW_MS = 100.0  # a median over the few passages; at the full size minutes would go by for a few answers
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
        last = list(found["p50_ms"].values())[-1]
        return last > TOO_SLOW_MS or found["build_s"] * self.passages / self.small > self.build


FULL = Size(100_000, 5_000, 2_000, 100, 900.0, 3.0)
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
            print(f"{stage:<12} {name:<22} {told}", flush=True)

    def folder(self, name: str, kind: str = "full") -> Path:
        return self.place / kind / name.replace(" ", "_")

    def run_small(self, name: str) -> str:
        count, folder = self.size.small, self.folder(name, "small")
        found = alone(
            child.small, name, self.kept, folder, count, self.size.patience, patience=SMALL_PATIENCE
        )
        shutil.rmtree(folder)
        self.small[name] = found
        if name != report.OURS and self.size.too_slow(found):
            self.slow[name] = found
        return f"{found['build_s']:.2f} s, p50 {list(found['p50_ms'].values())[-1]:.2f} ms"

    def run_build(self, name: str) -> str:
        nth = len(self.builds[name])
        folder = self.folder(name, "full" if nth == 0 else "again")
        found = alone(child.build, name, self.kept, folder, patience=self.size.build)
        if nth:
            shutil.rmtree(folder)
        self.builds[name].append(found)
        return f"{found['seconds']:.2f} s, {found['disk_mb']:.0f} MB, RSS {found['rss_mb']:.0f} MB"

    def run_turn(self, name: str) -> str:
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
        found = alone(child.turn, name, self.kept, self.folder(name), wanted, patience=TURN_PATIENCE)
        self.turns[name].append({**found, "first": first})
        return ", ".join(
            f"{mode} {report.percentiles(one.seconds)['p50']:.2f} ms" for mode, one in found["modes"].items()
        )

    def figures(self, judge: report.Judge) -> dict[str, Any]:
        ours = self.turns.get(report.OURS) if report.OURS not in self.failed else None
        return {
            name: report.engine_figures(self.builds[name], self.small[name], turns, ours, judge)
            for name, turns in self.turns.items()
            if turns and name not in self.failed
        }


def measured(given: argparse.Namespace, size: Size, place: Path) -> dict[str, Any]:
    measured_commit, busy = commit(), os.getloadavg()[0]  # both may be others when the run ends
    texts = material.passages(given.corpus, size.passages)
    vectors, whose, embedding = material.vectors_of(texts, given.vectors)
    queries = material.drawn(texts, size.queries, size.pasted, given.query_sets)
    asked = material.query_vectors_of(queries, vectors, given.vectors, given.query_vectors)
    kept = Material(place)
    kept.keep(texts, vectors, queries, asked)
    judge = report.Judge(queries, vectors, asked, material.tenth_best(vectors, asked, child.K))
    print(f"{len(texts):,} passages, {len(queries):,} queries are ready", flush=True)
    run = Run(kept, place, given.engines or list(ENGINES), size)
    run.each(f"{size.small:,}", run.run_small)
    for nth in range(given.builds):
        run.each("index", run.run_build, first=nth)
    for nth in range(TURNS):
        run.each(f"turn {nth + 1}", run.run_turn, first=nth)
    slow = {report.OURS: run.small[report.OURS], **run.slow} if run.slow and report.OURS in run.small else {}
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
        "queries": dict(sorted(Counter(query.kind for query in queries).items())),
        "versions": versions(run.names),
        "engines": run.figures(judge),
        "slow": {name: {key: one[key] for key in told} for name, one in slow.items()},
        "failed": run.failed,
    }


def versions(names: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for package in sorted({PACKAGES[name] for name in names}):
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


def chart(result: dict[str, Any]) -> str:
    rows = [
        Bar(name, mode["p50"], mode["p95"], one["modes"].get("dense", {}).get("recall"))
        for name, one in result["engines"].items()
        if (mode := one["modes"].get("hybrid"))
    ]
    return bars(f"Hybrid search over {result['passages']:,} passages, best {result['k']}", rows)


def write(result: dict[str, Any], out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    target = out / f"peers-{result['commit']}.json"
    target.write_text(json.dumps(result, indent=2) + "\n", "utf-8")
    CHART.write_text(chart(result), "utf-8")
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{report.tables(result)}\n{END}{after}", "utf-8")
    print(f"written to {target.name}, {PAGE.name} and {CHART.name}")


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
    arguments.add_argument("--builds", type=int, default=1, help="how often each engine indexes everything")
    arguments.add_argument("--quick", action="store_true", help="10,000 passages, nothing is written")
    arguments.add_argument("--out", type=Path, default=HERE / "results", help="folder of the JSON result")
    given = arguments.parse_args()
    place = Path(tempfile.mkdtemp(prefix="quintet-peers-"))
    try:
        result = measured(given, QUICK if given.quick else FULL, place)
        print(report.tables(result), flush=True)
        if not given.quick:
            write(result, given.out)
    finally:
        shutil.rmtree(place)


if __name__ == "__main__":
    main()
