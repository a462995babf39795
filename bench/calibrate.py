"""How likely the first result answers: fits the numbers of `contracts/confidence.py`, and tests those there.

    python bench/calibrate.py --sources FOLDER       fit and test; bench/results/calibration-COMMIT.json

Four kinds of queries are asked: questions with an answer, the same questions without the documents that
answer them, questions of other collections, and nonsense. Only the first kind can be answered. Sets weigh
alike in the fit. What it prints is rounded by hand and written into the table, and the table is what is
tested, on sets, splits and repositories that were not fitted on. FOLDER has the judged repositories of
`bench/codesearch.py`; texts, vectors and indexes are those of that and of `bench/relevance.py`.
"""

import argparse
import json
import os
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import codesearch
import quintet
from quintet.contracts import HOUSE
from quintet.contracts.confidence import LOW, Calibration, signs
from quintet.embed import DEFAULT
from quintet.errors import UsageError
from quintet.evaluation.beir import read_judged_queries
from quintet.evaluation.calibration import CalibrationPoint, as_json, reliability
from quintet.evaluation.confidence_points import without_documents
from quintet.evaluation.open_searcher import open_searcher
from quintet.evaluation.request import Request
from quintet.index import BACKENDS
from quintet.model.documents import Passage
from quintet.query.search import Response
from relevance import DATA, ONE_THREAD, PROJECT, WORK, Place, replace_file, silent
from speed import commit

FITTED_ON = (("scifact", "train"), ("cranfield", "test"), ("cosqa", "dev"))
HELD_OUT = (("scifact", "test"), ("cosqa", "test"), ("cacm", "test"), ("hotpotqa-100", "test"))
CODE = "code"  # every other repository is fitted on, the rest is held out
QUESTIONS = 200  # of a collection
STRANGE = 60  # queries of other collections, and nonsense, asked of a collection
STRANGE_TO_CODE = 12  # asked of each repository
KINDS = ("answered", "removed", "elsewhere", "nonsense")
RIDGE = 1e-3  # on coefficients of standardised signs: enough to keep the fit finite
STEPS = 50
SIGNS = ("cosine", "cover", "lead", "undefined")
COMMON = """
    banana seven quickly under moon colour of the table swim yellow guitar why monday sing tall happy bread
    river uncle jump blue ticket warm garden lemon sock dance cloud
"""

Array = npt.NDArray[np.float64]
Search = Callable[[str, Mapping[str, object]], Response]
IsRelevant = Callable[[Passage], bool]


@dataclass(frozen=True, slots=True)
class Asked:
    """An answer: which set and kind of query it belongs to, and what confidence says of it."""

    set: str
    kind: str
    point: CalibrationPoint


def nonsense(seed: str, count: int) -> Iterator[str]:
    """Letters at random, syllables, common words in no order, and keys."""
    chance = random.Random(seed)
    consonants, vowels, keys = "bcdfghjklmnpqrstvwxz", "aeiou", "asdfghjkl;qwertyuiop[]1234567890-=!? "
    for at in range(count):
        words = range(chance.randint(1, 4))
        if at % 4 == 0:
            yield " ".join(
                "".join(chance.choices(consonants + vowels, k=chance.randint(4, 9))) for _ in words
            )
        elif at % 4 == 1:
            syllables = [
                "".join(chance.choices(consonants, k=1) + chance.choices(vowels, k=1)) for _ in range(9)
            ]
            yield " ".join("".join(chance.sample(syllables, 3)) for _ in words)
        elif at % 4 == 2:
            yield " ".join(chance.choices(COMMON.split(), k=chance.randint(2, 6)))
        else:
            yield "".join(chance.choices(keys, k=chance.randint(3, 25))).strip() or "a"


def elsewhere(name: str, data: Path, count: int) -> list[str]:
    """Queries of other collections. Those of cosqa are about code, as the repositories are."""
    own = {name, "cosqa"} if name == CODE else {name}
    others = [other for other, split in (*FITTED_ON, *HELD_OUT) if other not in own and split == "test"]
    texts = [text for other in others for text in read_judged_queries(data / other, "test").queries.values()]
    return random.Random(name).sample(sorted(set(texts)), count)


def asked(name: str, kind: str, response: Response, is_relevant: IsRelevant) -> Iterator[Asked]:
    answer, trace = response.answer, response.trace
    if answer is None or trace is None or trace.plan.intent is None or not answer.ranked:
        return
    observed = signs(trace.plan.intent, answer) if trace.plan.intent.words else None
    if observed is not None:
        right = is_relevant(answer.passages[answer.ranked[0].best_chunk])
        predicted = response.body["confidence"]
        yield Asked(name, kind, CalibrationPoint(observed, 0.0 if predicted is None else predicted, right))


def question(name: str, text: str, search: Search, is_relevant: IsRelevant) -> Iterator[Asked]:
    """As it is, and without the documents that answer it."""
    response = search(text, {})
    yield from asked(name, "answered", response, is_relevant)
    assert response.answer is not None
    passages = response.answer.passages.values()
    paths = sorted({passage.document.path for passage in passages if is_relevant(passage)})
    if paths:
        try:
            yield from asked(
                name, "removed", search(text, {"filters": without_documents(None, paths)}), is_relevant
            )
        except UsageError:
            print(f"note: {name}: no filter names {paths}", file=sys.stderr)


def strange(name: str, about: str, search: Search, data: Path, count: int) -> Iterator[Asked]:
    for kind, texts in (("elsewhere", elsewhere(about, data, count)), ("nonsense", nonsense(name, count))):
        for text in texts:
            yield from asked(name, kind, search(text, {}), lambda passage: False)


def of_collection(name: str, split: str, place: Place) -> list[Asked]:
    request = Request(
        place.data / name, split, (HOUSE,), ("hybrid",), embedder=place.embedder, db=place.kept(name)
    )
    with open_searcher(request, BACKENDS, silent) as (searcher, queries, _):
        label = f"{name} {split}"

        def search(text: str, params: Mapping[str, object]) -> Response:
            return searcher.search(text, HOUSE, {"limit": 20, **params})

        def is_relevant(passage: Passage, *, query: str) -> bool:
            return queries.grades[query].get(searcher.name(query, passage), 0) > 0

        chosen = random.Random(name).sample(sorted(queries.queries), min(QUESTIONS, len(queries.queries)))
        answers = [
            answer
            for query in chosen
            for answer in question(label, queries.queries[query], search, partial(is_relevant, query=query))
        ]
        return [*answers, *strange(label, name, search, place.data, STRANGE)]


def of_repository(name: str, place: Place, work: Path) -> list[Asked]:
    questions = codesearch.questions(place.data / "codesearch" / "queries" / f"{name}.json")
    with quintet.open(work / place.embedder / name, place.embedder) as index:

        def search(text: str, params: Mapping[str, object]) -> Response:
            return index.search(text, HOUSE, limit=20, **params)

        def is_relevant(passage: Passage, *, targets: Sequence[codesearch.Target]) -> bool:
            place_of = passage.document.path, passage.chunk.first_line, passage.chunk.last_line
            return any(target.is_hit_by(*place_of) for target in targets)

        answers = [
            answer
            for q in questions
            for answer in question(CODE, q.text, search, partial(is_relevant, targets=q.targets))
        ]
        return [*answers, *strange(CODE, CODE, search, place.data, STRANGE_TO_CODE)]


def fitted(answers: Sequence[Asked]) -> Calibration:
    """Logistic regression by Newton's method, over standardised signs; every set weighs one."""
    sizes = {name: sum(answer.set == name for answer in answers) for name in {a.set for a in answers}}
    weights = np.array([1 / sizes[answer.set] / len(sizes) for answer in answers])
    observed = np.array([[getattr(answer.point.signs, sign) for sign in SIGNS] for answer in answers])
    right = np.array([float(answer.point.right) for answer in answers])
    middle, spread = observed.mean(0), observed.std(0)
    scaled = np.column_stack([np.ones(len(answers)), (observed - middle) / spread])
    intercept, *rest = _newton(scaled, right, weights)
    factors = np.array(rest) / spread
    return Calibration(float(intercept - factors @ middle), *map(float, factors))


def _newton(scaled: Array, right: Array, weights: Array) -> Array:
    solution = np.zeros(scaled.shape[1])
    ridge = RIDGE * np.diag([0.0, *[1.0] * (len(solution) - 1)])
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-scaled @ solution))
        slope = scaled.T @ (weights * (likely - right)) + ridge @ solution
        bend = (scaled * (weights * likely * (1 - likely))[:, None]).T @ scaled + ridge
        solution = solution - np.linalg.solve(bend, slope)
    return solution


def figures(answers: Sequence[Asked]) -> dict[str, Any]:
    """How the table does; `low` is the share of answers that get the note: right ones, wrong ones, and wrong
    ones by kind of query."""
    low = {"right": _noted(answers, right=True), "wrong": _noted(answers, right=False)}
    kinds = {kind: _noted([a for a in answers if a.kind == kind], right=False) for kind in KINDS}
    curve = as_json(reliability([answer.point for answer in answers]))
    return {"answers": len(answers), **curve, "low": low, "low by kind": kinds}


def _noted(answers: Sequence[Asked], *, right: bool) -> float:
    noted = [answer.point.predicted < LOW for answer in answers if answer.point.right == right]
    return float(np.mean(noted)) if noted else 0.0


def measured(place: Place, work: Path, repositories: Sequence[str]) -> dict[str, Any]:
    known = [answer for name, split in FITTED_ON for answer in of_collection(name, split, place)]
    unseen = [answer for name, split in HELD_OUT for answer in of_collection(name, split, place)]
    for at, name in enumerate(repositories):
        (unseen if at % 2 else known).extend(of_repository(name, place, work))
        print(name, file=sys.stderr, flush=True)
    fit = fitted(known)
    sets = dict.fromkeys(answer.set for answer in unseen)
    return {
        "commit": commit(),
        "embedder": place.embedder,
        "fitted": {"intercept": fit.intercept, **{sign: getattr(fit, sign) for sign in SIGNS}},
        "fitted on": list(dict.fromkeys(answer.set for answer in known)),
        "held_out": figures(unseen),
        "sets": {name: figures([answer for answer in unseen if answer.set == name]) for name in sets},
    }


def lines(found: Mapping[str, Any]) -> Iterator[str]:
    """The figures as tables in Markdown."""
    yield "fitted: " + ", ".join(f"{name} {value:.2f}" for name, value in found["fitted"].items())
    yield "\n| mean confidence | share right | answers |\n|---|---|---|"
    for bin in found["held_out"]["bins"]:
        yield f"| {bin['predicted']:.2f} | {bin['observed']:.2f} | {bin['count']} |"
    heads = (
        "set",
        "answers",
        "calibration error",
        "Brier score",
        "AUC",
        f"right below {LOW}",
        "wrong",
        *KINDS,
    )
    yield f"\n| {' | '.join(heads)} |"
    yield "|---|---|---|---|---|---|---|" + "---|" * len(KINDS)
    for name, of_set in {**found["sets"], "all held out": found["held_out"]}.items():
        low, error = of_set["low"], of_set["expected_calibration_error"]
        scores = f"{error:.3f} | {of_set['brier']:.3f} | {of_set['auc']:.3f}"
        noted = [low["right"], low["wrong"], *(of_set["low by kind"][kind] for kind in KINDS)]
        shares = " | ".join(f"{share:.2f}" for share in noted)
        yield f"| {name} | {of_set['answers']} | {scores} | {shares} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of the collections")
    parser.add_argument("--sources", type=Path, help="the folder with a folder for each repository")
    parser.add_argument("--work", type=Path, default=WORK, help="where texts and vectors are kept")
    parser.add_argument(
        "--code-work", type=Path, default=codesearch.WORK, help="where indexes of code are kept"
    )
    parser.add_argument("--embedder", default=DEFAULT)
    parser.add_argument("--out", type=Path, default=PROJECT / "bench" / "results")
    given = parser.parse_args()
    os.environ.update(ONE_THREAD)
    repositories = sorted(folder.name for folder in given.sources.iterdir()) if given.sources else []
    found = measured(Place(given.data, given.work, given.embedder), given.code_work, repositories)
    print("\n".join(lines(found)))
    model = "" if given.embedder == DEFAULT else f"-{given.embedder}"
    target = given.out / f"calibration-{commit()}{model}.json"
    given.out.mkdir(parents=True, exist_ok=True)
    replace_file(target, json.dumps(found, indent=1) + "\n")
    print(f"written: {target}", file=sys.stderr)


if __name__ == "__main__":
    main()
