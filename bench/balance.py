"""Whether one signal dominates the answers of the mcb contract.

    python bench/balance.py                                this project's tracked files
    python bench/balance.py --queries bench/results/review.md   those of the page, which is left out
    python bench/balance.py FOLDER --queries FILE          another folder, a query a line
    python bench/balance.py --collection FOLDER            a hundred queries of a collection with judgements

For each query the best ten of the contract's twenty are looked at, without and with the code graph, which a
collection does not have. `say` is what `quintet.evaluation.balance` measures, over the queries that several
signals answer (`fused`), `say_between` its interval, `dominating` who has too much of it, `as_alone` how far
the answer is what that signal alone would give. `mainly` is the share of results to whose score that signal
added the most, `contributed` its share of all scores, `overlap` the share of results that are among its own
ten best. Prints JSON.
"""

import argparse
import ast
import json
import random
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import quintet
from quintet.evaluation.balance import TOP, Influence, dominating, influences, shares
from quintet.evaluation.beir import corpus_documents, read_judged_queries
from quintet.evaluation.corpus import open_corpus
from quintet.evaluation.metrics import mean
from quintet.evaluation.statistics import RESAMPLES, SEED
from quintet.index import BACKENDS
from quintet.model.results import Ranked, Signal
from quintet.settings import Settings

PROJECT = Path(__file__).resolve().parent.parent
QUERIES, JUDGED = 50, 100
SIGNALS: tuple[Signal, ...] = ("lexical", "semantic", "graph")
EXPANSIONS: dict[str, Any] = {
    "none": "none",
    "callers": {"callers": {"depth": 2}},
    "dependencies": {"dependencies": {"depth": 2}},
    "related": {"related": {"radius": 1}},
}
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
QUOTED = re.compile(r"`` (.+?) ``")
Ask = Callable[[str, object], quintet.Response]


def tracked_files(project: Path, place: Path) -> Path:
    """A copy of what git tracks, so that nothing else is indexed."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=project, capture_output=True, check=True).stdout
    for name in filter(None, listing.decode().split("\0")):
        if (project / name).is_file():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(project / name, place / name)
    return place


def own_queries(folder: Path, count: int) -> list[str]:
    """Headings of pages and first lines of docstrings by turns, spread evenly over the folder."""
    headings = [
        title for page in sorted(folder.rglob("*.md")) for title in HEADING.findall(page.read_text("utf-8"))
    ]
    lines = [line for file in sorted(folder.rglob("*.py")) for line in _first_lines(file)]
    found = [
        *_spread(_worth_asking(headings), count // 2),
        *_spread(_worth_asking(lines), count - count // 2),
    ]
    if not found:
        raise SystemExit(f"{folder} has no headings and no docstrings to ask about; give --queries FILE")
    return found


def _first_lines(file: Path) -> list[str]:
    described = (ast.Module, ast.ClassDef, ast.FunctionDef)
    nodes = (node for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, described))
    return [(ast.get_docstring(node) or "").partition("\n")[0] for node in nodes]


def _worth_asking(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(text for text in texts if 3 <= len(text.split()) <= 20))


def _spread(texts: Sequence[str], count: int) -> list[str]:
    wanted = min(count, len(texts))
    return [texts[at * len(texts) // wanted] for at in range(wanted)]


def given_queries(file: Path) -> list[str]:
    """A query a line, or of a Markdown page what stands between double backticks."""
    text = file.read_text("utf-8")
    lines = QUOTED.findall(text) if file.suffix == ".md" else text.splitlines()
    return [line for line in lines if line.strip()]


def balance(ask: Ask, queries: Sequence[str], expansion: object) -> dict[str, Any]:
    found: list[Ranked] = []
    notes: Counter[str] = Counter()
    fused: list[Mapping[Signal, Influence]] = []
    for query in queries:
        response = ask(query, expansion)
        assert response.answer is not None
        assert response.trace is not None
        found.extend(response.answer.ranked[:TOP])
        notes.update(note["code"] for note in response.notes)
        plan, legs, facts = response.trace.plan, response.trace.legs, response.trace.facts
        fused.append(influences(plan.profile, legs.hits, facts, plan.limit))
    return {"results": len(found), "notes": dict(sorted(notes.items())), **_says(fused), **_shares(found)}


def _says(queries: Sequence[Mapping[Signal, Influence]]) -> dict[str, Any]:
    alone = {
        signal: mean([1 - query[signal].others for query in queries if signal in query])
        for signal in shares(queries)
    }
    return {
        "fused": sum(bool(query) for query in queries),
        "dominating": dominating(queries),
        "say": {signal: round(part, 3) for signal, part in shares(queries).items()},
        "say_between": _between(queries),
        "as_alone": {signal: round(part, 3) for signal, part in alone.items()},
    }


def _between(queries: Sequence[Mapping[Signal, Influence]]) -> dict[str, list[float]]:
    """The middle 95 % of the shares of queries drawn with replacement."""
    chance = random.Random(SEED)
    drawn = [shares(chance.choices(queries, k=len(queries))) for _ in range(RESAMPLES)]
    ends = RESAMPLES // 40, RESAMPLES - RESAMPLES // 40 - 1
    ordered = {signal: sorted(sample.get(signal, 0.0) for sample in drawn) for signal in shares(queries)}
    return {signal: [round(parts[end], 3) for end in ends] for signal, parts in ordered.items()}


def _shares(found: Sequence[Ranked]) -> dict[str, dict[str, float]]:
    mainly = Counter(
        max(SIGNALS, key=lambda signal: _added(item, signal)) for item in found
    )  # the first of equals, as the weights have it
    total = sum(_added(item, signal) for item in found for signal in SIGNALS)
    several = sum(len(item.evidence) > 1 for item in found)
    return {
        "mainly": {signal: _share(mainly[signal], len(found)) for signal in SIGNALS},
        "contributed": {
            signal: _share(sum(_added(item, signal) for item in found), total) for signal in SIGNALS
        },
        "overlap": {
            signal: _share(sum(_led(item, signal) for item in found), len(found)) for signal in SIGNALS
        },
        "found_by": {"one": _share(len(found) - several, len(found)), "several": _share(several, len(found))},
    }


def _added(item: Ranked, signal: Signal) -> float:
    return item.evidence[signal].contribution if signal in item.evidence else 0.0


def _led(item: Ranked, signal: Signal) -> bool:
    seen = item.evidence.get(signal)
    return seen is not None and seen.rank is not None and seen.rank <= TOP


def _share(part: float, whole: float) -> float:
    return round(part / whole, 3) if whole else 0.0


def of_folder(folder: Path, queries: Sequence[str], place: Path, embedder: str) -> dict[str, Any]:
    with quintet.open(place, embedder) as index:
        index.sync([folder])
        status = index.status()
        report = {
            name: balance(
                lambda query, how: index.search(query, "mcb", graph_expansion=how), queries, expansion
            )
            for name, expansion in EXPANSIONS.items()
        }
    size = {"files": status.files, "chunks": status.chunks, "queries": len(queries)}
    return {**size, "embedder": status.embedder, "graph_expansion": report}


def of_collection(folder: Path, place: Path, embedder: str) -> dict[str, Any]:
    topics = read_judged_queries(folder)
    queries = _spread(list(topics.queries.values()), JUDGED)
    with open_corpus(topics.name, place, embedder, Settings(), BACKENDS) as corpus:
        corpus.fill(corpus_documents(folder), lambda *_: None)
        report = balance(lambda query, how: corpus.search(query, "mcb", {}), queries, "none")
        counts = corpus.counts()
    size = {"documents": counts.documents, "chunks": counts.chunks, "queries": len(queries)}
    return {**size, "embedder": embedder, "graph_expansion": {"none": report}}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--queries", type=Path, help="a query a line, or a page that quotes them")
    parser.add_argument("--collection", type=Path, help="corpus.jsonl, queries.jsonl and qrels")
    parser.add_argument("--embedder", default="granite")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="quintet-balance-") as temporary:
        place = Path(temporary)
        if chosen.collection:
            report = of_collection(chosen.collection, place / "corpus", chosen.embedder)
        else:
            folder = chosen.folder or tracked_files(PROJECT, place / "project")
            if chosen.queries and chosen.queries.resolve().is_relative_to(PROJECT) and not chosen.folder:
                (folder / chosen.queries.resolve().relative_to(PROJECT)).unlink(missing_ok=True)
            queries = given_queries(chosen.queries) if chosen.queries else own_queries(folder, QUERIES)
            report = of_folder(folder, queries, place / "index", chosen.embedder)
    print(json.dumps({"shown": TOP, **report}, indent=2))


if __name__ == "__main__":
    main()
