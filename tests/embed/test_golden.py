"""The same int16 vectors whatever computes them: kernels, threads, instruction sets, batches, processes."""

import json
import os
import platform
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

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


@pytest.fixture(scope="module")
def everywhere() -> dict[str, dict[str, str]]:
    """Two processes of one thread at a time; those of two threads alone, for they wait by spinning."""
    with ThreadPoolExecutor(2) as pool:
        answers = list(
            pool.map(lambda one: computed("granite", one, "single", "batched"), ONE_THREAD.values())
        )
    answers += [computed("granite", one, "batched") for one in TWO_THREADS.values()]
    return dict(zip([*ONE_THREAD, *TWO_THREADS], answers, strict=True))


def test_there_are_64_different_texts() -> None:
    assert len(set(TEXTS)) == len(TEXTS) == 64


@pytest.mark.requirement("004-S2-CANONICAL")
@pytest.mark.parametrize("surroundings", [*ONE_THREAD, *TWO_THREADS])
def test_granite_gives_the_recorded_vectors(surroundings: str, everywhere: dict[str, dict[str, str]]) -> None:
    found = everywhere[surroundings]
    assert {found.get("single", RECORDED["granite"]), found["batched"]} == {RECORDED["granite"]}


def test_the_kernels_do_differ_in_ordinary_float32(everywhere: dict[str, dict[str, str]]) -> None:
    assert len({found["float32"] for found in everywhere.values()}) > 1


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
