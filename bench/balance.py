"""Whether one signal decides the answers of the mcb contract alone.

    python bench/balance.py                          this project's tracked files
    python bench/balance.py FOLDER --queries FILE    another folder, a query a line

For each query the best ten of the contract's twenty are looked at, without and with the code graph. `mainly`
is the share of results to whose score that signal added the most, `contributed` its share of all scores,
`overlap` the share of results that are among the ten best of that signal alone. Prints JSON.
"""

import argparse
import ast
import json
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import quintet
from quintet.model import Ranked, Signal

PROJECT = Path(__file__).resolve().parent.parent
QUERIES = 50
SHOWN = 10
SIGNALS: tuple[Signal, ...] = ("lexical", "semantic", "graph")
EXPANSIONS: dict[str, Any] = {
    "none": "none",
    "callers": {"callers": {"depth": 2}},
    "dependencies": {"dependencies": {"depth": 2}},
    "related": {"related": {"radius": 1}},
}
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


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


def balance(index: quintet.Index, queries: Sequence[str], expansion: object) -> dict[str, Any]:
    found: list[Ranked] = []
    notes: Counter[str] = Counter()
    for query in queries:
        response = index.search(query, "mcb", graph_expansion=expansion)
        assert response.answer is not None
        found.extend(response.answer.ranked[:SHOWN])
        notes.update(note["code"] for note in response.notes)
    return {"results": len(found), "notes": dict(sorted(notes.items())), **_shares(found)}


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
    return signal in item.evidence and item.evidence[signal].rank <= SHOWN


def _share(part: float, whole: float) -> float:
    return round(part / whole, 3) if whole else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--queries", type=Path, help="a file with a query a line")
    parser.add_argument("--embedder", default="granite")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="quintet-balance-") as place:
        folder = chosen.folder or tracked_files(PROJECT, Path(place) / "project")
        lines = (
            chosen.queries.read_text("utf-8").splitlines() if chosen.queries else own_queries(folder, QUERIES)
        )
        queries = [line for line in lines if line.strip()][:QUERIES]
        with quintet.open(Path(place) / "index", chosen.embedder) as index:
            index.sync([folder])
            status = index.status()
            report = {name: balance(index, queries, expansion) for name, expansion in EXPANSIONS.items()}
    size = {"files": status.files, "chunks": status.chunks, "queries": len(queries), "shown": SHOWN}
    print(json.dumps({**size, "embedder": status.embedder, "graph_expansion": report}, indent=2))


if __name__ == "__main__":
    main()
