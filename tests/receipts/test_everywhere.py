"""The same folder gives the same state root and the same receipts on every machine and after any history."""

import json
import os
import platform
import random
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from quintet.embed.local import PARALLEL_TEXTS

CHILD = Path(__file__).with_name("indexed_elsewhere.py")
MODIFIED = 1_700_000_000
NOTES = 66  # so many texts are worth a second process
WORDS = ("harbour", "tide", "gauge", "anchor", "wind", "chart", "lee", "wall", "depth", "stream", "rope")
KERNELS = ("ARMV8", "NEOVERSEN1") if platform.machine().lower() in ("arm64", "aarch64") else (
    "Prescott", "Nehalem", "Haswell",
)  # fmt: skip
TIES_BY_TIME = "harness"  # whose ties go by what a fresh clone does not keep


def texts() -> dict[str, str]:
    chance = random.Random(7)
    found = {
        f"part{number % 4}/{number:02}.md": f"# Note {number}\n\n{' '.join(chance.choices(WORDS, k=6))}.\n"
        for number in range(NOTES)
    }
    found["gauge.py"] = "def read_gauge(port):\n    '''High water at a harbour.'''\n    return port.level\n"
    found["same.md"] = found["part1/01.md"]
    found["İstanbul.md"] = "# İSTANBUL\n\nThe “wind” is ıslak.\n"
    return found


def written(folder: Path, order: Sequence[str] = (), modified: int = MODIFIED) -> Path:
    content = texts()
    for name in order or content:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content[name], "utf-8")
        os.utime(file, (modified, modified))
    return folder


def shuffled(seed: int) -> list[str]:
    names = list(texts())
    random.Random(seed).shuffle(names)
    return names


def run(
    folder: Path, source: Path, env: dict[str, str] | None = None, **how: Any
) -> "subprocess.CompletedProcess[str]":
    given = json.dumps({"folder": str(folder), "source": str(source), **how})
    return subprocess.run(
        [sys.executable, str(CHILD), given],
        env={**os.environ, **(env or {})},
        cwd=source,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def outcome(done: "subprocess.CompletedProcess[str]") -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def digests(found: dict[str, Any], *, without: str | None = None) -> list[tuple[str, str, str]]:
    return [
        (receipt["claim"]["contract"], receipt["claim"]["query"], receipt["digest"])
        for receipt in found["receipts"]
        if receipt["claim"]["contract"] != without
    ]


def check_same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found["state_root"] == expected["state_root"]
    assert digests(found) == digests(expected)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("here") / "notes")


@pytest.fixture(scope="module")
def here(source: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """With hashed words, in one quiet run."""
    return outcome(run(tmp_path_factory.mktemp("index"), source))


@pytest.fixture(scope="module")
def canonical(source: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """With the canonical model in one process."""
    return outcome(run(tmp_path_factory.mktemp("canonical"), source, processes=1))


def test_there_is_something_to_compare(here: dict[str, Any]) -> None:
    assert NOTES > PARALLEL_TEXTS
    assert all(receipt["claim"]["status"] == "ok" for receipt in here["receipts"])
    assert sum(len(receipt["claim"]["results"]) for receipt in here["receipts"]) > 100
    assert len({receipt["digest"] for receipt in here["receipts"]}) == len(here["receipts"])


@pytest.mark.parametrize("seed", [1, 2])
def test_the_order_of_files_and_the_size_of_batches_do_not_show(
    here: dict[str, Any], tmp_path: Path, seed: int
) -> None:
    order = shuffled(seed)
    source, settings = tmp_path / "other" / "name", {"batch_files": seed, "embed_batch": 3}
    for start, stop in ((0, 20), (20, 45), (45, len(order))):
        written(source, order[start:stop])
        found = outcome(run(tmp_path / "index", source, settings=settings))
    check_same(found, here)


def test_documents_that_were_forgotten_and_came_back_do_not_show(
    here: dict[str, Any], source: Path, tmp_path: Path
) -> None:
    gone = shuffled(3)
    check_same(outcome(run(tmp_path / "index", source, parts=[gone[:5], gone[5:30], []])), here)


@pytest.mark.parametrize("moment", [3, 30])
def test_an_interrupted_run_that_is_resumed_does_not_show(
    here: dict[str, Any], source: Path, tmp_path: Path, moment: int
) -> None:
    settings = {"batch_files": 2, "embed_batch": 5}
    cut = run(tmp_path / "index", source, end=["interrupted", moment], settings=settings)
    assert cut.returncode != 0 and "KeyboardInterrupt" in cut.stderr
    check_same(outcome(run(tmp_path / "index", source)), here)


@pytest.mark.requirement("004-P1-DETERMINISM")
@pytest.mark.parametrize("moment", [3, 30])
def test_a_killed_run_that_is_completed_does_not_show(
    here: dict[str, Any], source: Path, tmp_path: Path, moment: int
) -> None:
    settings = {"batch_files": 2, "embed_batch": 5}
    killed = run(tmp_path / "index", source, end=["killed", moment], settings=settings)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    check_same(outcome(run(tmp_path / "index", source)), here)


def test_a_clone_in_another_folder_gives_the_same_but_for_ties_by_time(
    here: dict[str, Any], tmp_path: Path
) -> None:
    clone = written(tmp_path / "very" / "deep" / "clone", shuffled(5), modified=MODIFIED + 5_000)
    found = outcome(run(tmp_path / "index", clone))
    assert found["state_root"] == here["state_root"]
    assert digests(found, without=TIES_BY_TIME) == digests(here, without=TIES_BY_TIME)


@pytest.mark.requirement("004-P1-DETERMINISM")
@pytest.mark.parametrize(
    "surroundings",
    [
        {"PYTHONHASHSEED": "1", "TZ": "Pacific/Kiritimati"},
        {"PYTHONHASHSEED": "4242", "TZ": "America/St_Johns", "LC_ALL": "C", "LANG": "C"},
        {"LC_ALL": "tr_TR.UTF-8", "LANGUAGE": "tr", "PYTHONOPTIMIZE": "1"},
    ],
    ids=["hash seed and time zone", "plain C", "Turkish"],
)
def test_hash_seed_time_zone_and_locale_do_not_show(
    here: dict[str, Any], source: Path, tmp_path: Path, surroundings: dict[str, str]
) -> None:
    check_same(outcome(run(tmp_path / "index", source, surroundings)), here)


@pytest.mark.requirement("004-S2-EVERYWHERE")
def test_two_processes_embed_as_one_does(canonical: dict[str, Any], source: Path, tmp_path: Path) -> None:
    check_same(outcome(run(tmp_path / "index", source, processes=2)), canonical)


@pytest.mark.requirement("004-S2-EVERYWHERE")
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_kernels_of_another_processor_do_not_show(
    canonical: dict[str, Any], source: Path, tmp_path: Path, kernel: str
) -> None:
    surroundings = {"OPENBLAS_CORETYPE": kernel, "OPENBLAS_NUM_THREADS": "1"}
    check_same(outcome(run(tmp_path / "index", source, surroundings, processes=1)), canonical)


def test_the_embedder_and_one_byte_do_show(
    here: dict[str, Any], canonical: dict[str, Any], tmp_path: Path
) -> None:
    source = written(tmp_path / "notes")
    (source / "same.md").write_text(texts()["same.md"].replace("Note", "note"), "utf-8")
    found = outcome(run(tmp_path / "index", source))
    assert len({one["state_root"] for one in (found, here, canonical)}) == 3
    assert not set(digests(found)) & set(digests(here))
