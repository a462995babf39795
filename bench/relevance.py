"""How good the rankings are: every contract in every mode, on collections with judgements and on code.

    python bench/relevance.py                       the page bench/results/relevance.md and figures beside it
    python bench/relevance.py --embedder minilm     another model; the page is left as it is
    python bench/relevance.py --only scifact cosqa  some sets, shown and not written

Texts and vectors are kept in the folder `--work`, so that a second run only searches. Nothing of what is
written depends on the time or the machine: the same code on the same sets gives the same bytes.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import code_set
import quintet
import relevance_page
from quintet.contracts import HOUSE
from quintet.embed import DEFAULT, NAMES
from quintet.evaluation.beir import QUERIES, JudgedQueries, corpus_documents, has_corpus
from quintet.evaluation.evaluate import evaluate
from quintet.evaluation.metrics import Metric, metrics_named
from quintet.evaluation.rankings import ALL, SearchRun
from quintet.evaluation.report import RunScores, score_run
from quintet.evaluation.request import Request
from quintet.evaluation.statistics import intervals
from quintet.index import BACKENDS
from relevance_page import CODE, TEXT, Kind, Ranking, Result
from speed import commit

PROJECT = Path(__file__).resolve().parent.parent
DATA = PROJECT.parent / "shared" / "data"
WORK = Path(tempfile.gettempdir()) / "quintet-relevance"  # not below the project: ignore files would count
PAGE = PROJECT / "bench" / "results" / "relevance.md"
COLLECTIONS = ("scifact", "cranfield", "cacm", "cosqa", "hotpotqa-100")
PACKAGES = ("networkx==3.6.1", "trimesh==5.2.0", "textual==8.2.8")
FILES = " files"  # how a set is called whose package is indexed as a folder
FOLDERS = ("networkx==3.6.1",)
METRICS: tuple[Metric, ...] = metrics_named(("ndcg@10", "mrr@10", "r@100"))
SPLIT = "test"
# A query's products are small: threads would spend their time on waiting for one another.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


@dataclass(frozen=True, slots=True)
class Place:
    """Where things of one embedder are kept, and where collections are found."""

    data: Path
    work: Path
    embedder: str

    def kept(self, name: str) -> Path:
        return self.work / self.embedder / name

    def package(self, requirement: str) -> Path:
        """The folder of a package's set, which is made when it is not there."""
        folder = self.work / "sets" / code_set.name_of(requirement)
        if not folder.is_dir():
            code_set.make(requirement, folder)
        return folder


def known_sets() -> dict[str, Kind]:
    packages = [code_set.name_of(package) for package in PACKAGES]
    folders = [code_set.name_of(package) + FILES for package in FOLDERS]
    return {**dict.fromkeys(COLLECTIONS, TEXT), **dict.fromkeys([*packages, *folders], CODE)}


def request_for(name: str, place: Place) -> Request:
    ask = partial(Request, split=SPLIT, contracts=(ALL,), modes=(ALL,), embedder=place.embedder)
    if name in COLLECTIONS:
        return ask(place.data / name, db=place.kept(name))
    requirement = next(
        package for package in PACKAGES if code_set.name_of(package) == name.removesuffix(FILES)
    )
    folder = place.package(requirement)
    if not name.endswith(FILES):
        return ask(folder, db=place.kept(name))
    kept = place.kept(name.replace(" ", "-"))
    return ask(judged_chunks(folder, kept, place.embedder), db=kept / "index")


def judged_chunks(folder: Path, kept: Path, embedder: str) -> Path:
    """Index the package's files as anybody would; the collection whose judgements name functions' chunks."""
    judgements = kept / "judged"
    (judgements / "qrels").mkdir(parents=True, exist_ok=True)
    shutil.copyfile(folder / QUERIES, judgements / QUERIES)
    places = dict(_places(folder / code_set.PLACES))
    with quintet.open(kept / "index", embedder) as index:
        index.sync([folder / code_set.FILES])
        lines = (folder / "qrels" / f"{SPLIT}.tsv").read_text("utf-8").splitlines()[1:]
        targets = {
            query: _chunks(index, *places[query]) for query, *_ in (line.split("\t") for line in lines)
        }
    written = [f"{query}\t{chunk}\t1\n" for query, chunks in targets.items() for chunk in chunks]
    (judgements / "qrels" / f"{SPLIT}.tsv").write_text("".join(written), "utf-8")
    return judgements


def _places(file: Path) -> Iterator[tuple[str, tuple[str, int, int]]]:
    for line in file.read_text("utf-8").splitlines():
        function, path, first, last = line.split("\t")
        yield function, (path, int(first), int(last))


def _chunks(index: quintet.Index, path: str, first: int, last: int) -> list[str]:
    """The chunk that a function begins in, and those that hold nothing else."""
    chunks = [passage.chunk for passage in index.get(path)]
    return [
        chunk.id
        for chunk in chunks
        if chunk.first_line <= first <= chunk.last_line
        or first <= chunk.first_line <= chunk.last_line <= last
    ]


def measure(sets: Mapping[str, Kind], place: Place) -> list[Result]:
    """As many sets at a time as there are cores."""
    if CODE in sets.values():
        for requirement in PACKAGES:  # beforehand: two sets share the folder of a package
            place.package(requirement)
    os.environ.update(ONE_THREAD)
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        return list(pool.map(partial(result, place=place), sets, sets.values()))


def result(name: str, kind: Kind, place: Place) -> Result:
    start = time.perf_counter()
    request = request_for(name, place)
    judged, runs = evaluate(request, BACKENDS, silent)
    for note in (*judged.notes, *(note for run in runs for note in run.notes)):
        print(f"note: {name}: {note['message']} [{note['code']}]", file=sys.stderr)
    print(f"{name}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    assert request.folder is not None
    size = sum(1 for _ in corpus_documents(request.folder)) if has_corpus(request.folder) else None
    splits = sorted(file.stem for file in (request.folder / "qrels").glob("*.tsv"))
    return Result(name, kind, size, len(judged.queries), tuple(splits), rankings(judged, runs))


def rankings(judged: JudgedQueries, runs: Sequence[SearchRun]) -> dict[str, Ranking]:
    """Each run with its figures, and what the house ranking has over it, query by query."""
    done = [score_run(run, judged, METRICS) for run in runs]
    house = next(
        scores for scores in reversed(done) if scores.run.spec.contract == HOUSE
    )  # its fusion comes last
    gains = intervals(
        {
            f"{at} {metric}": list(_gains(house, scores, metric))
            for at, scores in enumerate(done)
            for metric in scores.values
        }
    )
    return {
        scores.run.spec.name: Ranking(
            scores.run.spec.contract,
            scores.run.spec.mode,
            scores.means,
            scores.intervals,
            {metric: house.means[metric] - scores.means[metric] for metric in scores.values},
            {metric: gains[f"{at} {metric}"] for metric in scores.values},
        )
        for at, scores in enumerate(done)
    }


def _gains(house: RunScores, other: RunScores, metric: str) -> Iterator[float]:
    return (value - other.values[metric][query] for query, value in house.values[metric].items())


def silent(stage: str, done: int, total: int) -> None:
    """Sets are measured side by side, and each says how long it took."""


def as_json(results: Sequence[Result], embedder: str) -> dict[str, Any]:
    return {
        "commit": commit(),
        "embedder": embedder,
        "split": SPLIT,
        "sets": {result.name: result.as_json() for result in results},
        "mean": relevance_page.means(results),
        "below": relevance_page.below(results),
    }


def write(results: Sequence[Result], embedder: str, out: Path) -> None:
    """The figures by commit, and the page if they are those of the default embedder."""
    model = "" if embedder == DEFAULT else f"-{embedder}"
    target = out / f"relevance-{commit()}{model}.json"
    out.mkdir(parents=True, exist_ok=True)
    replace_file(target, json.dumps(as_json(results, embedder), indent=1) + "\n")
    print(f"written: {target}", file=sys.stderr)
    if embedder == DEFAULT:
        replace_file(PAGE, relevance_page.renewed(PAGE.read_text("utf-8"), results))
        print(f"written: {PAGE}", file=sys.stderr)


def replace_file(file: Path, text: str) -> None:
    part = file.with_name(f".{file.name}.part")
    part.write_text(text, "utf-8", newline="")
    part.replace(file)


def chosen_sets(only: Sequence[str] | None) -> Mapping[str, Kind]:
    """Those named, else all but the folders, which take as long as the rest together."""
    known = known_sets()
    unknown = [name for name in only or () if name not in known]
    if unknown:
        raise SystemExit(f"there is no set {unknown[0]!r}; there are: {', '.join(map(repr, known))}")
    return {
        name: kind for name, kind in known.items() if (name in only if only else not name.endswith(FILES))
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of the collections")
    parser.add_argument("--work", type=Path, default=WORK, help="the folder where indexes are kept")
    parser.add_argument("--embedder", default=DEFAULT, choices=NAMES)
    parser.add_argument("--only", nargs="+", metavar="SET", help="some sets; nothing is written then")
    parser.add_argument("--out", type=Path, default=PROJECT / "bench" / "results")
    given = parser.parse_args()
    results = measure(chosen_sets(given.only), Place(given.data, given.work, given.embedder))
    print("\n".join(relevance_page.lines(results)))
    if not given.only:
        write(results, given.embedder, given.out)


if __name__ == "__main__":
    main()
