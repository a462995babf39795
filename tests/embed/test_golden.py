"""The same int16 vectors whatever computes them: kernels, threads, instruction sets, batches, processes."""

import json
import os
import platform
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numkong
import pytest

from embed.texts import TEXTS
from embed.vectors import GOLDEN, digest
from quintet.embed.models import MODELS, local_embedder

ARM = platform.machine().lower() in ("arm64", "aarch64")
KERNELS = ("ARMV8", "CORTEXA57", "NEOVERSEN1", "THUNDERX2T99") if ARM else (
    "Haswell", "Nehalem", "Prescott", "Sandybridge",
)  # fmt: skip
RECORDED = json.loads(GOLDEN.read_text("utf-8"))


def optional_features() -> str:
    """Every instruction set beyond the baseline that numpy found on this machine."""
    from numpy._core import _multiarray_umath as core

    found = [name for name in core.__cpu_dispatch__ if core.__cpu_features__.get(name)]
    return " ".join(found)


ONE = {"OPENBLAS_NUM_THREADS": "1"}
ONE_THREAD: dict[str, dict[str, str]] = {
    "as it is": ONE,
    "no SIMD in numpy": {**ONE, "NPY_DISABLE_CPU_FEATURES": optional_features()},
    **{kernel: {**ONE, "OPENBLAS_CORETYPE": kernel} for kernel in KERNELS},
}
TWO_THREADS = {
    f"{kernel}, two threads": {"OPENBLAS_NUM_THREADS": "2", "OPENBLAS_CORETYPE": kernel} for kernel in KERNELS
}


def computed(name: str, surroundings: dict[str, str], *how: str) -> dict[str, str]:
    command = [sys.executable, str(Path(__file__).with_name("vectors.py")), name, *how]
    environment = {**os.environ, **surroundings}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout)
    return found


def kernels() -> dict[str, list[str]]:
    """Which of numkong's kernels are left, down to plain C, and how to switch off the others."""
    found = [name for name, usable in numkong.get_capabilities().items() if usable and name != "serial"]
    newest_first = found[::-1]
    return {
        f"without {' '.join(newest_first[:count])}": [f"without:{name}" for name in newest_first[:count]]
        for count in range(1, len(newest_first) + 1)
    }


FEWER_KERNELS = kernels()
AS_INSTALLED = "as the user has it"


@pytest.fixture(scope="module")
def older_everywhere() -> dict[str, dict[str, str]]:
    """Two processes of one thread at a time; those of two threads alone, for they wait by spinning."""
    with ThreadPoolExecutor(2) as pool:
        answers = list(
            pool.map(lambda one: computed("granite-1", one, "single", "batched"), ONE_THREAD.values())
        )
    answers += [computed("granite-1", one, "batched") for one in TWO_THREADS.values()]
    return dict(zip([*ONE_THREAD, *TWO_THREADS], answers, strict=True))


@pytest.fixture(scope="module")
def everywhere() -> dict[str, dict[str, str]]:
    """As it is; by numpy alone in all the surroundings of the older way; with fewer kernels of numkong."""
    surroundings = {"numpy, as the user has it": {}, **ONE_THREAD, **TWO_THREADS}
    with ThreadPoolExecutor(2) as pool:
        answers = [
            computed("granite", {}, "single", "batched"),
            *pool.map(
                lambda one: computed("granite", one, "single", "batched", "numpy"), surroundings.values()
            ),
            *pool.map(lambda off: computed("granite", {}, "batched", "numpy", *off), FEWER_KERNELS.values()),
        ]
    return dict(zip([AS_INSTALLED, *surroundings, *FEWER_KERNELS], answers, strict=True))


def test_there_are_64_different_texts() -> None:
    assert len(set(TEXTS)) == len(TEXTS) == 64


@pytest.mark.requirement("004-S2-CANONICAL")
@pytest.mark.parametrize(
    "surroundings",
    [AS_INSTALLED, "numpy, as the user has it", *ONE_THREAD, *TWO_THREADS, *FEWER_KERNELS],
)
def test_granite_gives_the_recorded_vectors(surroundings: str, everywhere: dict[str, dict[str, str]]) -> None:
    found = everywhere[surroundings]
    assert {found.get("single", RECORDED["granite"]), found["batched"]} == {RECORDED["granite"]}


@pytest.mark.parametrize("surroundings", [*ONE_THREAD, *TWO_THREADS])
def test_the_older_way_gives_the_recorded_vectors(
    surroundings: str, older_everywhere: dict[str, dict[str, str]]
) -> None:
    found = older_everywhere[surroundings]
    assert {found.get("single", RECORDED["granite-1"]), found["batched"]} == {RECORDED["granite-1"]}


def test_the_kernels_do_differ_in_ordinary_float32(everywhere: dict[str, dict[str, str]]) -> None:
    assert len({everywhere[name]["float32"] for name in (*ONE_THREAD, *TWO_THREADS)}) > 1
    assert len({everywhere[name]["float32"] for name in FEWER_KERNELS}) > 1


def test_the_worker_processes_give_the_recorded_vectors() -> None:
    embedder = local_embedder("granite", processes=2)
    try:
        assert digest(embedder.embed_documents(TEXTS)) == RECORDED["granite"]
    finally:
        embedder.close()


@pytest.mark.skipif(MODELS["minilm"].location() is None, reason="the weights of minilm are not here")
def test_minilm_gives_the_recorded_vectors() -> None:
    found = computed("minilm", ONE, "single", "batched")
    assert {found["single"], found["batched"]} == {RECORDED["minilm"]}
    assert computed("minilm", ONE_THREAD[KERNELS[1]], "batched")["batched"] == RECORDED["minilm"]
