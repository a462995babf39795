"""How likely the first result answers: fits the numbers of `contracts/confidence.py`, and tests those there.

    python bench/calibrate.py            fit and test; bench/results/calibration-COMMIT.json

Every question is asked twice through the engine, as `quintet eval` does: as it is, and with the documents
that answer it left out. Sets weigh alike in the fit. What it prints is rounded by hand and written into the
table, and the table is what is tested, on sets and splits that were not fitted on. An embedder that the table
does not have needs a line of zeros there first. Texts and vectors are those of `bench/relevance.py`, kept in
`--work`.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import code_set
from quintet.contracts import HOUSE
from quintet.contracts.confidence import LOW, Calibration
from quintet.embed import DEFAULT
from quintet.evaluation.calibration import CalibrationPoint, as_json, reliability
from quintet.evaluation.evaluate import evaluate
from quintet.evaluation.request import Request
from quintet.index import BACKENDS
from relevance import COLLECTIONS, DATA, ONE_THREAD, PACKAGES, PROJECT, WORK, Place, replace_file, silent
from speed import commit

CODE = code_set.name_of(PACKAGES[0])
FITTED_ON = (("scifact", "train"), ("cranfield", "test"), ("cosqa", "dev"), (CODE, "train"))
HELD_OUT = (("scifact", "test"), ("cosqa", "test"), (CODE, "test"), ("cacm", "test"))
RIDGE = 1e-3  # on coefficients of standardised signs: enough to keep the fit finite
STEPS = 50

Array = npt.NDArray[np.float64]
Sets = Mapping[str, Sequence[CalibrationPoint]]


def asked(name: str, split: str, place: Place) -> tuple[CalibrationPoint, ...]:
    """Both answers of every question of a set, one after the other."""
    start = time.perf_counter()
    folder = place.data / name if name in COLLECTIONS else place.package(PACKAGES[0])
    request = Request(folder, split, (HOUSE,), ("hybrid",), embedder=place.embedder, db=place.kept(name))
    _, (run,) = evaluate(request, BACKENDS, silent)
    if not run.points:
        raise SystemExit(
            f"the answers to {name} have no confidence; give {place.embedder} a line in the table"
        )
    print(f"{name} {split}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    return run.points


def fitted(sets: Sets) -> Calibration:
    """Logistic regression by Newton's method, over standardised signs; every set weighs one."""
    every = [point for points in sets.values() for point in points]
    weights = np.array([1 / len(points) / len(sets) for points in sets.values() for _ in points])
    signs = np.array([[point.signs.cosine, point.signs.lead] for point in every])
    right = np.array([float(point.right) for point in every])
    middle, spread = signs.mean(0), signs.std(0)
    scaled = np.column_stack([np.ones(len(every)), (signs - middle) / spread])
    intercept, *rest = _newton(scaled, right, weights)
    cosine, lead = np.array(rest) / spread
    return Calibration(float(intercept - cosine * middle[0] - lead * middle[1]), float(cosine), float(lead))


def _newton(scaled: Array, right: Array, weights: Array) -> Array:
    found = np.zeros(scaled.shape[1])
    ridge = RIDGE * np.diag([0.0, *[1.0] * (len(found) - 1)])
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-scaled @ found))
        slope = scaled.T @ (weights * (likely - right)) + ridge @ found
        bend = (scaled * (weights * likely * (1 - likely))[:, None]).T @ scaled + ridge
        found = found - np.linalg.solve(bend, slope)
    return found


def figures(points: Sequence[CalibrationPoint]) -> dict[str, Any]:
    """How the table does on a set; `low` is the share of answers that get the note, right ones and all."""
    right = [point.predicted < LOW for point in points if point.right]
    wrong = [point.predicted < LOW for point in points if not point.right]
    low = {"right": float(np.mean(right)), "wrong": float(np.mean(wrong))}
    return {"answers": len(points), **as_json(reliability(points)), "low": low}


def measured(place: Place) -> dict[str, Any]:
    sets = {f"{name} {split}": asked(name, split, place) for name, split in (*FITTED_ON, *HELD_OUT)}
    known = {name: sets[name] for name in list(sets)[: len(FITTED_ON)]}
    fit = fitted(known)
    unseen = [point for name, points in sets.items() if name not in known for point in points]
    return {
        "commit": commit(),
        "embedder": place.embedder,
        "fitted": {"intercept": fit.intercept, "cosine": fit.cosine, "lead": fit.lead, "on": list(known)},
        "held_out": figures(unseen),
        "sets": {name: figures(points) for name, points in sets.items()},
    }


def lines(found: Mapping[str, Any]) -> Iterator[str]:
    """The figures as tables in Markdown."""
    fit = found["fitted"]
    yield f"fitted: intercept {fit['intercept']:.2f}, cosine {fit['cosine']:.2f}, lead {fit['lead']:.2f}"
    yield "\n| confidence | right | answers |\n|---|---|---|"
    for bin in found["held_out"]["bins"]:
        yield f"| {bin['predicted']:.2f} | {bin['observed']:.2f} | {bin['count']} |"
    yield f"\n| set | answers | off by | Brier | AUC | right ones below {LOW} | wrong ones |"
    yield "|---|---|---|---|---|---|---|"
    for name, figures in {**found["sets"], "held out": found["held_out"]}.items():
        low, error = figures["low"], figures["expected_calibration_error"]
        scores = f"{error:.3f} | {figures['brier']:.3f} | {figures['auc']:.3f}"
        yield f"| {name} | {figures['answers']} | {scores} | {low['right']:.2f} | {low['wrong']:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of the collections")
    parser.add_argument("--work", type=Path, default=WORK, help="the folder where indexes are kept")
    parser.add_argument("--embedder", default=DEFAULT)
    parser.add_argument("--out", type=Path, default=PROJECT / "bench" / "results")
    given = parser.parse_args()
    os.environ.update(ONE_THREAD)
    found = measured(Place(given.data, given.work, given.embedder))
    print("\n".join(lines(found)))
    model = "" if given.embedder == DEFAULT else f"-{given.embedder}"
    target = given.out / f"calibration-{commit()}{model}.json"
    given.out.mkdir(parents=True, exist_ok=True)
    replace_file(target, json.dumps(found, indent=1) + "\n")
    print(f"written: {target}", file=sys.stderr)


if __name__ == "__main__":
    main()
