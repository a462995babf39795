"""Plants faults in the ranking and the contracts, and counts which the tests of the manifest catch.

    python tests/mutation [--sample 40] [--seed 1] [--only TEXT] [--seconds 1500]

A copy of the package gets one fault at a time; the tests that the manifest names for that part run against it
and must fail. The faults of `NAMED` are always planted; of the rest, a sample that the seed decides. The exit
code is 1 if fewer than 95 % are caught, or if one of the named ones is not.
"""

import argparse
import compileall
import os
import py_compile
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from contracts.requirements import REQUIREMENTS  # noqa: E402
from mutation.faults import Fault, faults_in, named_fault  # noqa: E402

PACKAGE = "src/quintet"
SPECIFICATIONS = {"rifflux": "000", "harness": "001", "mcb": "002", "knowledge": "003", "cfs": "004"}
SHARED = ("contract", "stop_words")  # the other modules of contracts/ are the house's own
LEAST = 0.95
PATIENCE = 240  # seconds of one fault: tests that never end have noticed it, too
# Tests of what a fault is near to, in the order that they run: the quick ones first. What a test behind a
# server would catch, one of these must.
NEAR = ("ranking", "contracts", "golden", "model", "query", "knowledge")
NO_CODE = "tests/contracts/test_requirements.py"  # it reads tests and pages, and runs no code of the package
NAMED = (
    (f"{PACKAGE}/contracts/rifflux.py", 'Branch("semantic", TWICE)', 'Branch("semantic", Fetch(times=3))'),
    (f"{PACKAGE}/contracts/cfs.py", "lexical_k: int = parameter(20", "lexical_k: int = parameter(25"),
    (f"{PACKAGE}/query/legs.py", "SEEDS = 10", "SEEDS = 5"),
    (
        f"{PACKAGE}/contracts/stop_words.py",
        "that the their then there these",
        "that the their then them these",
    ),
    (f"{PACKAGE}/model/vector.py", "np.rint(unit * SCALE)", "np.floor(unit * SCALE)"),
    (f"{PACKAGE}/knowledge/references.py", 'f"{url}#page=', 'f"file://{url}#page='),
)
# The specification whose tests must catch the faults of modules that are not named like their contract.
OWNERS = {
    "query/legs.py": "002",
    "model/vector.py": "004",
    "knowledge/references.py": "003",
    "contracts/stop_words.py": "004",
}
# Lines whose faults change no answer, each with its reason.
EQUIVALENT = {
    "needs_freshness: bool = False": "freshness is looked up for contracts that do not show it",
    "needs_fields: bool = False": "matched fields are looked up for contracts that do not show them",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sample", type=int, default=40, help="faults beside the named ones")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="faults whose description holds this text, all of them")
    parser.add_argument(
        "--seconds", type=float, default=1_500, help="after which no further fault is planted"
    )
    given = parser.parse_args()
    named = [named_fault(file, ROOT, before, after) for file, before, after in NAMED]
    others = everything()
    if given.only:
        planted = [fault for fault in [*named, *others] if given.only in str(fault)]
    else:
        planted = [*named, *random.Random(given.seed).sample(others, min(given.sample, len(others)))]
    survivors, tried = run(planted, time.monotonic() + given.seconds)
    caught = tried - len(survivors)
    print(f"{caught} of {tried} faults caught ({caught / tried:.1%}), of {len(others)} that can be planted")
    return int(caught < LEAST * tried or any(fault in survivors for fault in named))


def everything() -> list[Fault]:
    ranking = sorted((ROOT / PACKAGE / "ranking").glob("*.py"))
    contracts = [ROOT / PACKAGE / "contracts" / f"{name}.py" for name in (*SPECIFICATIONS, *SHARED)]
    faults = [fault for file in (*ranking, *contracts) for fault in faults_in(file, ROOT)]
    return [fault for fault in faults if not any(line in _line(fault) for line in EQUIVALENT)]


def run(faults: Sequence[Fault], deadline: float) -> tuple[list[Fault], int]:
    survivors, tried = [], 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / PACKAGE, copy / PACKAGE, ignore=ignored)
        # Checked by hash: a time stamp and a size may be those of the fault before.
        checked = py_compile.PycInvalidationMode.CHECKED_HASH
        compileall.compile_dir(copy / PACKAGE, quiet=2, invalidation_mode=checked)
        if failure := _failure(sorted({test for fault in faults for test in named_tests(fault.file)}), copy):
            raise SystemExit(f"without any fault, {failure}")
        for fault in faults:
            if time.monotonic() > deadline:
                print("no time is left for the rest")
                break
            tried += 1
            if not _is_caught(fault, copy):
                survivors.append(fault)
    return survivors, tried


def _is_caught(fault: Fault, copy: Path) -> bool:
    file, start = copy / fault.file, time.monotonic()
    source = file.read_text("utf-8")
    file.write_text(fault.planted(source), "utf-8")
    try:
        failure = _failure(named_tests(fault.file), copy)
    finally:
        file.write_text(source, "utf-8")
    took = time.monotonic() - start
    print(f"{'caught  ' if failure else 'SURVIVED'} {took:5.1f} s  {fault}  {failure}", flush=True)
    return bool(failure)


def _failure(tests: Sequence[str], copy: Path) -> str:
    """The first test that fails; nothing if all pass."""
    environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-n", "0"]
    process = subprocess.Popen(
        [*command, *tests], cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        output, _ = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return "no end"
    if not process.returncode:
        return ""
    failed = [line for line in output.decode().splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0].partition(" - ")[0] if failed else f"pytest ended with {process.returncode}"


def named_tests(file: str) -> list[str]:
    """The tests that the manifest names for what a file decides, the quick ones first."""
    wanted = set(_specifications(file))
    tests = dict.fromkeys(test for one in REQUIREMENTS if one.id[:3] in wanted for test in one.tests)
    near = [test for folder in NEAR for test in tests if test.startswith(f"tests/{folder}/")]
    return [test for test in near if not test.startswith(NO_CODE)]


def _specifications(file: str) -> Iterable[str]:
    inner = file.removeprefix(f"{PACKAGE}/")
    if inner in OWNERS:
        return (OWNERS[inner],)
    name = Path(file).stem
    return (SPECIFICATIONS[name],) if name in SPECIFICATIONS else SPECIFICATIONS.values()


def _line(fault: Fault) -> str:
    return (ROOT / fault.file).read_text("utf-8").splitlines()[fault.line - 1]


if __name__ == "__main__":
    sys.exit(main())
