"""The compiled steps give the bytes that numpy gives, whichever instructions they are compiled for."""

import platform
import shutil
import subprocess
import sysconfig
from collections.abc import Callable, Iterator
from importlib import machinery, util
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embed.texts import TEXTS
from quintet.embed.canonical import compiled
from quintet.embed.canonical.compiled import (
    AMX,
    CompiledSteps,
    VnniMatrix,
    compiled_passes,
    fastest_matrix,
    fastest_steps,
)
from quintet.embed.canonical.int8_encoder import ROWS, Int8Encoder
from quintet.embed.canonical.int8_layer import Int8Layer, NumpySteps
from quintet.embed.canonical.int8_matrix import KernelMatrix, ReferenceMatrix
from quintet.embed.canonical.ranges import granite_ranges
from quintet.embed.canonical.weights import Float32, Norm, Weights
from quintet.embed.local import LocalEmbedder
from quintet.embed.models import MODELS
from quintet.errors import StoreError

SOURCES = Path(compiled.__file__).parent
COMPILER = shutil.which("cc")
INCLUDE = Path(sysconfig.get_paths()["include"])
EPSILON = 1e-5

built = pytest.mark.skipif(compiled_passes() is None, reason="the package was built without a C compiler")
can_build = pytest.mark.skipif(
    COMPILER is None or not (INCLUDE / "Python.h").is_file(), reason="no C compiler or no Python.h here"
)


@pytest.fixture(scope="module")
def weights() -> Weights:
    model = MODELS["granite"]
    place = model.location()
    assert place is not None
    return model.read(place)


@pytest.fixture(scope="module")
def encoder(weights: Weights) -> Int8Encoder:
    """By numpy alone."""
    return Int8Encoder(weights, granite_ranges(), steps=NumpySteps)


@pytest.fixture(scope="module")
def layer(encoder: Int8Encoder) -> Int8Layer:
    return encoder._layers[2]


@built
def test_the_compiled_steps_give_the_vectors_of_numpy(
    granite: LocalEmbedder, weights: Weights, encoder: Int8Encoder
) -> None:
    fast = Int8Encoder(weights, granite_ranges(), ReferenceMatrix, CompiledSteps)
    windows = [window for text in TEXTS[::3] for window in granite.windows(text)]
    assert fast.encode(windows).tobytes() == encoder.encode(windows).tobytes()


@built
@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 31, 32, 33, 64, 65, ROWS - 1, ROWS + 1, 512])
def test_every_length_gives_the_vectors_of_numpy(length: int, weights: Weights, encoder: Int8Encoder) -> None:
    chance = np.random.default_rng(length)
    sequence = chance.integers(5, 50_000, length).tolist()
    fast = Int8Encoder(weights, granite_ranges(), steps=CompiledSteps)
    assert fast.encode([sequence]).tobytes() == encoder.encode([sequence]).tobytes()


def outputs(steps: Any, layer: Int8Layer, x: Float32, mixed: Float32, special: Any) -> Iterator[bytes | str]:
    """What each step makes of the rows, or says of numbers beyond its range."""
    projected = np.empty((len(x), 3 * x.shape[1]), steps.projected)
    steps.project(layer, x, special, projected)
    yield projected.astype(np.int16).tobytes()
    yield steps.attend(layer, projected, len(x)).tobytes()
    rows, fed = x.copy(), x.copy()
    yield _after(rows, lambda: steps.normalise(rows, layer.out_norm))
    yield _after(fed, lambda: steps.feed(layer, fed, mixed, special))


def _after(rows: Float32, step: Callable[[], None]) -> bytes | str:
    try:
        step()
    except StoreError as beyond:
        return str(beyond)
    return rows.tobytes()


@built
@settings(max_examples=25, deadline=None)
@given(
    rows=st.integers(1, 40),
    size=st.sampled_from([0.0, 1e-6, 0.01, 1.0, 30.0, 2_000.0]),
    seed=st.integers(0, 1 << 30),
    data=st.data(),
)
def test_each_step_gives_the_bytes_of_numpy(
    layer: Int8Layer, rows: int, size: float, seed: int, data: st.DataObject
) -> None:
    """With rows far beyond the recorded ranges, with exact halves, and any rows in two limbs."""
    chance = np.random.default_rng(seed)
    x, mixed = (np.float32(size) * chance.normal(size=(2, rows, 384))).astype(np.float32)
    x[0, ::2] = np.rint(x[0, ::2]) + np.float32(0.5)
    x[-1, 7] = 240
    special = np.array(sorted(data.draw(st.sets(st.integers(0, rows - 1)))), np.intp)
    expected = outputs(NumpySteps(EPSILON), layer, x, mixed, special)
    assert list(outputs(CompiledSteps(EPSILON), layer, x, mixed, special)) == list(expected)


VARIANTS: dict[str, tuple[str, ...]] = {
    "unoptimised": ("-O0", "-DNO_VNNI"),
    "the oldest processor": ("-O3", "-DNO_VNNI"),
    "size": ("-Os", "-DNO_VNNI"),
    **(
        {
            "AVX2 with FMA": ("-O3", "-DNO_VNNI", "-mavx2", "-mfma"),
            "AVX-512": ("-O3", "-DNO_VNNI", "-march=x86-64-v4"),
            "VNNI where there is some": ("-O3",),
        }
        if platform.machine() == "x86_64"
        else {}
    ),
}


def build(options: tuple[str, ...], folder: Path) -> Path:
    target = folder / f"_passes{machinery.EXTENSION_SUFFIXES[0]}"
    files = sorted(map(str, SOURCES.glob("*.c")))
    fixed = ["-shared", "-fPIC", "-ffp-contract=off", "-DCLONES=", "-w", f"-I{INCLUDE}", "-o", str(target)]
    subprocess.run([str(COMPILER), *options, *fixed, *files, "-lm"], check=True, capture_output=True)
    return target


def runs_here(options: tuple[str, ...]) -> bool:
    wanted = "avx512bw" if "-march=x86-64-v4" in options else "avx2" if "-mavx2" in options else ""
    return wanted in Path("/proc/cpuinfo").read_text("utf-8") if wanted else True


@can_build
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_way_to_compile_gives_the_bytes_of_numpy(
    variant: str, layer: Int8Layer, tmp_path: Path
) -> None:
    if not runs_here(VARIANTS[variant]):
        pytest.skip(f"this processor cannot run {variant}")
    file = build(VARIANTS[variant], tmp_path)
    spec = util.spec_from_file_location("_passes", file)
    assert spec is not None and spec.loader is not None
    steps = CompiledSteps(EPSILON)
    steps._passes = util.module_from_spec(spec)
    spec.loader.exec_module(steps._passes)
    chance = np.random.default_rng(11)
    x, mixed = (3 * chance.normal(size=(2, 70, 384))).astype(np.float32)
    special = np.array([0, 31, 69], np.intp)
    expected = list(outputs(NumpySteps(EPSILON), layer, x, mixed, special))
    assert list(outputs(steps, layer, x, mixed, special)) == expected


@built
@pytest.mark.parametrize("value", [1e9, float("nan"), float("inf")])
def test_activations_beyond_the_range_of_layer_norm_are_refused(value: float, layer: Int8Layer) -> None:
    steps = CompiledSteps(EPSILON)
    x = np.full((2, 384), value, np.float32)
    with pytest.raises(StoreError, match="layer norm"):
        steps.normalise(x, layer.out_norm)
    with pytest.raises(StoreError, match="layer norm"):
        steps.feed(layer, x, np.ones((2, 384), np.float32), np.array([0], np.intp))


@built
def test_buffers_that_do_not_fit_are_refused() -> None:
    passes: Any = compiled_passes()
    floats = np.zeros(64, np.float32)
    norm = Norm(floats, floats)
    with pytest.raises(ValueError, match="sizes"):
        passes.normalise(np.zeros(63, np.float32), norm.weight, norm.bias, EPSILON)
    with pytest.raises(ValueError, match="sizes"):
        passes.quantise(
            floats, np.array([1]), floats, floats, 1.0, np.zeros(128, np.int8), np.zeros(1, np.float32)
        )
    with pytest.raises(TypeError, match="4 arguments"):
        passes.normalise(floats)
    with pytest.raises((BufferError, ValueError)):
        passes.normalise(bytes(256), norm.weight, norm.bias, EPSILON)


def test_without_the_module_numpy_does_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "compiled_passes", lambda: None)
    assert fastest_steps(384, 32) is NumpySteps
    assert fastest_matrix() is KernelMatrix


@pytest.mark.parametrize(
    ("vnni", "amx", "expected"),
    [(True, 0, VnniMatrix), (True, 1, KernelMatrix), (False, 0, KernelMatrix)],
)
def test_the_processor_decides_who_multiplies(
    vnni: bool, amx: int, expected: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "compiled_passes", lambda: SimpleNamespace(has_vnni=lambda: vnni))
    monkeypatch.setattr(compiled.numkong, "get_capabilities", lambda: {AMX: amx})
    assert fastest_matrix() is expected


@built
def test_other_shapes_than_the_compiled_one_are_left_to_numpy() -> None:
    assert fastest_steps(384, 32) is CompiledSteps
    assert fastest_steps(768, 64) is fastest_steps(100, 32) is NumpySteps
