"""What embedding only the first tokens of a chunk would cost in relevance.

    python bench/first_tokens.py --sources FOLDER

A chunk is embedded after its path and heading, so its first tokens include them. nDCG@10 of the semantic and
of the house ranking is shown for the whole text, as Quintet embeds it, and for the first 192 and 128 tokens.
FOLDER is that of bench/codesearch.py. Indexes are kept in `--work`, so that a second run only searches.
"""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when numpy is imported

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import codesearch
import quintet
from quintet.contracts import HOUSE
from quintet.embed.checked import CheckedEmbedder
from quintet.embed.local import LocalEmbedder
from quintet.embed.models import MODELS
from quintet.evaluation.evaluate import evaluate
from quintet.evaluation.metrics import metrics_named
from quintet.evaluation.report import score_run
from quintet.evaluation.request import Request
from quintet.index import BACKENDS
from relevance import DATA, SPLIT, silent

WORK = Path(tempfile.gettempdir()) / "quintet-first-tokens"
SIZES = (512, 192, 128)  # tokens; the first is the window of the model, and longer texts have several
COLLECTIONS = ("scifact", "cosqa", "cranfield")
REPOSITORIES = ("flask", "click", "starlette", "axios", "gin", "rack", "cobra", "monolog")
MODES = ("semantic", "hybrid")
NDCG = metrics_named(("ndcg@10",))


class FirstTokens(LocalEmbedder):
    """granite, which sees only the first window of a text if that is shorter than the model's."""

    def windows(self, text: str) -> list[list[int]]:
        windows = super().windows(text)
        return windows if self._window == MODELS["granite"].window else windows[:1]


def embedder(size: int) -> FirstTokens:
    model = MODELS["granite"]
    place = model.location()
    if place is None:
        raise SystemExit(f"the weights of {model.title} are not installed")
    identity = f"{model.identity}-first-{size}"
    return FirstTokens("first", identity, lambda: model.read(place), model.encoder, size, processes=1)


def collection(name: str, size: int, data: Path, work: Path) -> dict[str, float]:
    backends = replace(BACKENDS, load_embedder=lambda *_: CheckedEmbedder(embedder(size)))
    request = Request(data / name, SPLIT, (HOUSE,), MODES, embedder="first", db=work / str(size) / name)
    judged, runs = evaluate(request, backends, silent)
    return {run.spec.mode: score_run(run, judged, NDCG).means["ndcg@10"] for run in runs}


def repository(name: str, size: int, data: Path, sources: Path, work: Path) -> dict[str, float]:
    asked = codesearch.questions(data / "codesearch" / "queries" / f"{name}.json")
    with quintet.open(work / str(size) / name, embedder(size)) as index:
        index.sync([sources / name])
        return {
            mode: codesearch.mean(
                [
                    codesearch.ndcg(q.targets, codesearch.results_of(index, q.text, f"{HOUSE} {mode}"))
                    for q in asked
                ]
            )
            for mode in MODES
        }


def lines(found: Mapping[str, Mapping[int, Mapping[str, float]]]) -> list[str]:
    heads = [f"{mode}, {size}" for mode in MODES for size in SIZES]
    table = [f"| set | {' | '.join(heads)} |", "|---|" + "---|" * len(heads)]
    for name, sizes in found.items():
        cells = [f"{sizes[size][mode]:.3f}" for mode in MODES for size in SIZES]
        table.append(f"| {name} | {' | '.join(cells)} |")
    return table


def measure(
    names: Sequence[str], data: Path, sources: Path | None, work: Path
) -> dict[str, dict[int, dict[str, float]]]:
    found: dict[str, dict[int, dict[str, float]]] = {}
    for name in names:
        for size in SIZES:
            start = time.process_time()
            if name in COLLECTIONS:
                scores = collection(name, size, data, work)
            elif sources is not None:
                scores = repository(name, size, data, sources, work)
            else:
                continue
            found.setdefault(name, {})[size] = scores
            taken = time.process_time() - start
            print(f"{name} {size}: {json.dumps(scores)} {taken:.0f} s", file=sys.stderr, flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of the collections")
    parser.add_argument("--sources", type=Path, help="the folder with a folder for each repository")
    parser.add_argument("--work", type=Path, default=WORK, help="the folder where indexes are kept")
    parser.add_argument("--only", nargs="+", metavar="SET", default=[*COLLECTIONS, *REPOSITORIES])
    given = parser.parse_args()
    print("\n".join(lines(measure(given.only, given.data, given.sources, given.work))))


if __name__ == "__main__":
    main()
