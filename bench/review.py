"""The best three passages for each query of bench/results/review.md, to be read and judged by a person.

    python bench/review.py                       this project's files
    python bench/review.py --index PLACE         the same, with an index that is kept (or there already)

The queries are those of the page's first table; the page itself is not indexed. Each is asked of `mcb`
without and with the code graph and of the house ranking. Prints JSON.
"""

import argparse
import json
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import quintet
from balance import PROJECT, tracked_files

PAGE = PROJECT / "bench" / "results" / "review.md"
ROW = re.compile(r"^\| \d+ \| `` (.+?) `` \|", re.MULTILINE)
SHOWN = 3
RANKINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "mcb": ("mcb", {}),
    "mcb related 1": ("mcb", {"graph_expansion": {"related": {"radius": 1}}}),
    "quintet": ("quintet", {}),
}


def queries() -> list[str]:
    return list(dict.fromkeys(ROW.findall(PAGE.read_text("utf-8"))))


def best(index: quintet.Index, query: str, contract: str, params: dict[str, Any]) -> list[dict[str, Any]]:
    answer = index.search(query, contract, **params).answer
    found = [item.best_chunk for item in answer.ranked[:SHOWN]] if answer else []
    passages = [passage for chunk in found for passage in index.get(chunk)]
    return [
        {
            "path": passage.document.path,
            "lines": [passage.chunk.first_line, passage.chunk.last_line],
            "text": passage.chunk.content,
        }
        for passage in passages
    ]


def review(index: quintet.Index, asked: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {"query": query, **{name: best(index, query, *ranking) for name, ranking in RANKINGS.items()}}
        for query in asked
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--index", type=Path, help="where the index lies or is made")
    parser.add_argument("--embedder", default="granite")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="quintet-review-") as place:
        folder = tracked_files(PROJECT, Path(place) / "project")
        (folder / PAGE.relative_to(PROJECT)).unlink(missing_ok=True)
        with quintet.open(chosen.index or Path(place) / "index", chosen.embedder) as index:
            index.sync([folder])
            print(json.dumps(review(index, queries()), indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
