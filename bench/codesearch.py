"""How well rankings find the right code: 402 judged questions about 20 repositories in nine languages.

    python bench/codesearch.py --sources FOLDER            the page bench/results/codesearch.md
    python bench/codesearch.py --sources FOLDER --words    full text alone, in a minute

FOLDER has a folder for each repository, named as in repos.json of the collection: a checkout of the revision
that is named there, or the nearest release. Questions about files that are not there are left out and
counted.
Indexes are kept in `--work`, so that a second run only searches.

A question is scored by nDCG@10 over its targets: each gains 1 / log2(rank + 1) at the first result that hits
it (the same file, and overlapping lines where lines are given), and a rank counts once.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, log2
from pathlib import Path
from typing import Any

import quintet
from quintet.embed import DEFAULT
from relevance import DATA, PROJECT, replace_file
from speed import commit

PAGE = PROJECT / "bench" / "results" / "codesearch.md"
WORK = Path(tempfile.gettempdir()) / "quintet-codesearch"
DEPTH = 10
RANKINGS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "quintet hybrid": ("quintet", {"mode": "hybrid"}),
    "quintet lexical": ("quintet", {"mode": "lexical"}),
    "quintet semantic": ("quintet", {"mode": "semantic"}),
    "rifflux hybrid": ("rifflux", {"mode": "hybrid"}),
    "mcb": ("mcb", {}),
}
WORDS = "quintet lexical"
PEERS = {"semble": "semble", "coderankembed-hybrid": "CodeRankEmbed hybrid"}


@dataclass(frozen=True, slots=True)
class Target:
    path: str
    first: int | None = None
    last: int | None = None

    def is_hit_by(self, path: str, first: int, last: int) -> bool:
        if not f"/{path}".endswith(f"/{self.path}") and not f"/{self.path}".endswith(f"/{path}"):
            return False
        return self.first is None or self.last is None or (first <= self.last and last >= self.first)


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    category: str
    targets: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class Score:
    repository: str
    category: str
    ndcg: float


def questions(file: Path) -> list[Question]:
    asked = json.loads(file.read_text("utf-8"))
    return [Question(one["query"], one["category"], tuple(_targets(one))) for one in asked]


def _targets(question: Mapping[str, Any]) -> Iterator[Target]:
    for target in (*question["relevant"], *question["secondary"]):
        if isinstance(target, str):
            yield Target(target)
        else:
            yield Target(target["path"], target.get("start_line"), target.get("end_line"))


def ndcg(targets: Sequence[Target], results: Sequence[tuple[str, int, int]]) -> float:
    """
    >>> ndcg([Target("a.py")], [("b.py", 1, 9), ("src/a.py", 1, 9)]) == 1 / log2(3)
    True
    """
    taken: set[int] = set()
    gains = []
    for target in targets:
        ranks = enumerate(results[:DEPTH], start=1)
        rank = next((at for at, place in ranks if at not in taken and target.is_hit_by(*place)), None)
        if rank is not None:
            taken.add(rank)
            gains.append(1 / log2(rank + 1))
    ideal = fsum(1 / log2(rank + 1) for rank in range(1, min(DEPTH, len(targets)) + 1))
    return fsum(gains) / ideal


def results_of(index: quintet.Index, query: str, ranking: str) -> list[tuple[str, int, int]]:
    contract, params = RANKINGS[ranking]
    answer = index.search(query, contract, limit=DEPTH, **params).answer
    assert answer is not None
    passages = [answer.passages[item.best_chunk] for item in answer.ranked]
    return [(p.document.path, p.chunk.first_line, p.chunk.last_line) for p in passages]


def measure(
    name: str, asked: Sequence[Question], sources: Path, work: Path, rankings: Sequence[str]
) -> tuple[dict[str, list[Score]], int]:
    """The scores of each ranking about one repository, and how many questions were left out."""
    files = [file.relative_to(sources).as_posix() for file in sources.rglob("*") if file.is_file()]
    there = [q for q in asked if all(any(t.is_hit_by(f, 0, 10**9) for f in files) for t in q.targets)]
    embedder = None if rankings == [WORDS] else DEFAULT
    with quintet.open(work / str(embedder) / name, embedder) as index:
        index.sync([sources])
        scores = {
            ranking: [
                Score(name, q.category, ndcg(q.targets, results_of(index, q.text, ranking))) for q in there
            ]
            for ranking in rankings
        }
    return scores, len(asked) - len(there)


def mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values) if values else 0.0


def by_repository(scores: Sequence[Score]) -> dict[str, float]:
    names = dict.fromkeys(score.repository for score in scores)
    return {name: mean([score.ndcg for score in scores if score.repository == name]) for name in names}


def by_category(scores: Sequence[Score]) -> dict[str, float]:
    names = sorted({score.category for score in scores})
    return {name: mean([score.ndcg for score in scores if score.category == name]) for name in names}


def lines(
    scores: Mapping[str, Sequence[Score]], published: Mapping[str, Mapping[str, float]]
) -> Iterator[str]:
    """Means over repositories, by category over questions, and each repository beside published figures."""
    categories = list(by_category(next(iter(scores.values()))))
    yield f"| ranking | mean of repositories | {' | '.join(categories)} |"
    yield "|---|---|" + "---|" * len(categories)
    for ranking, found in scores.items():
        parts = by_category(found)
        cells = [mean(list(by_repository(found).values())), *(parts[name] for name in categories)]
        yield f"| `{ranking}` | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |"
    yield ""
    yield "| repository | " + " | ".join([*(f"`{name}`" for name in scores), *PEERS.values()]) + " |"
    yield "|---|" + "---|" * (len(scores) + len(PEERS))
    means = {ranking: by_repository(found) for ranking, found in scores.items()}
    for name in next(iter(means.values())):
        cells = [*(means[ranking][name] for ranking in scores), *(published[name][peer] for peer in PEERS)]
        yield f"| {name} | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA / "codesearch", help="the folder of the questions")
    parser.add_argument("--sources", type=Path, help="the folder with a folder for each repository")
    parser.add_argument("--work", type=Path, default=WORK, help="the folder where indexes are kept")
    parser.add_argument("--words", action="store_true", help="full text alone")
    given = parser.parse_args()
    repositories = json.loads((given.data / "repos.json").read_text("utf-8"))
    if given.sources is None:
        raise SystemExit(
            f"codesearch is left out: --sources names no folder with {len(repositories)} sources"
        )
    chosen = [WORDS] if given.words else list(RANKINGS)
    scores: dict[str, list[Score]] = {ranking: [] for ranking in chosen}
    missing = 0
    for repository in repositories:
        name = repository["name"]
        if not (given.sources / name).is_dir():
            print(f"note: there are no sources of {name}", file=sys.stderr)
            continue
        asked = questions(given.data / "queries" / f"{name}.json")
        found, left_out = measure(name, asked, given.sources / name, given.work, chosen)
        missing += left_out
        for ranking, some in found.items():
            scores[ranking] += some
        print(f"{name}: {len(asked) - left_out} questions", file=sys.stderr, flush=True)
    published = {repository["name"]: repository["published_ndcg10"] for repository in repositories}
    table = "\n".join(lines(scores, published))
    print(table)
    if not given.words:
        count = len(scores[WORDS])
        head = (
            f"# Code search\n\nnDCG@10 on {count} questions, {missing} left out (`bench/codesearch.py`).\n\n"
        )
        replace_file(PAGE, f"{head}{table}\n\nMeasured at {commit()}.\n")


if __name__ == "__main__":
    main()
