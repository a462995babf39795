"""Products of int8: exact, whoever computes them, and refused where they could not be."""

from collections.abc import Sequence
from pathlib import Path

import numkong
import numpy as np
import pytest

from embed.texts import CODE, LANGUAGES, LONG, ODD, SENTENCES
from quintet.embed.canonical import int8_matrix, ranges
from quintet.embed.canonical.attention import MAX_TOKENS, PROBABILITY, Attention
from quintet.embed.canonical.compiled import VnniMatrix, compiled_passes
from quintet.embed.canonical.int8_encoder import ROWS, Int8Encoder
from quintet.embed.canonical.int8_layer import NumpySteps
from quintet.embed.canonical.int8_matrix import LEVELS, Int8Matrix, KernelMatrix, ReferenceMatrix
from quintet.embed.canonical.int8_products import LIMB, MAX_INPUTS, RangedAffine, RowAffine
from quintet.embed.canonical.products import EXACT
from quintet.embed.canonical.tables import EXP_UNIT
from quintet.embed.canonical.weights import Affine, Float32, Weights
from quintet.embed.local import LocalEmbedder
from quintet.embed.models import MODELS
from quintet.errors import StoreError

SOME_TEXTS = (*SENTENCES[:3], *CODE[:2], *LANGUAGES[3:6], *ODD[:4], LONG[0])


@pytest.fixture(scope="module")
def weights() -> Weights:
    model = MODELS["granite"]
    place = model.location()
    assert place is not None
    return model.read(place)


def has_vnni() -> bool:
    passes = compiled_passes()
    return passes is not None and bool(passes.has_vnni())


NO_VNNI = "the package was built without a C compiler, or this processor has no AVX-512 VNNI"
MATRICES = [
    KernelMatrix,
    pytest.param(VnniMatrix, marks=pytest.mark.skipif(not has_vnni(), reason=NO_VNNI)),
]
SHAPES = [(1, 64, 8), (3, 384, 1536), (130, 65, 7), (4, 1536, 384), (61, 33, 12), (20, 384, 1152)]


@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.parametrize("shape", SHAPES)
def test_kernels_give_what_float64_gives(matrix: type[Int8Matrix], shape: tuple[int, int, int]) -> None:
    rows, inputs, outputs = shape
    chance = np.random.default_rng(rows)
    one = chance.integers(-LEVELS, LEVELS, (rows, inputs), np.int8, endpoint=True)
    other = chance.integers(-LEVELS, LEVELS, (outputs, inputs), np.int8, endpoint=True)
    assert (matrix(other).dots(one)[:, :outputs] == ReferenceMatrix(other).dots(one)).all()


@pytest.mark.parametrize("matrix", MATRICES)
def test_the_largest_sums_are_exact(matrix: type[Int8Matrix]) -> None:
    most = np.full((4, MAX_INPUTS), LEVELS, np.int8)
    for one, other in ((most, -most), (most, most), (-most, -most)):
        expected = MAX_INPUTS * int(one[0, 0]) * int(other[0, 0])
        assert (matrix(other).dots(one)[:, :4] == expected).all()
    assert MAX_INPUTS * LEVELS * (LEVELS * LIMB + LIMB // 2) < 1 << 31


def test_kernels_that_give_wrong_sums_are_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    off: list[str] = []
    right = numkong.dots_packed

    def wrong_at_first(rows: object, packed: object) -> object:
        return np.asarray(right(rows, packed)) + (len(off) < 2)

    monkeypatch.setattr(numkong, "dots_packed", wrong_at_first)
    monkeypatch.setattr(numkong, "disable_capability", off.append)
    monkeypatch.setattr(
        numkong, "get_capabilities", lambda: {"serial": 1, "old": 1, "absent": 0, "new": 1, "newest": 1}
    )
    int8_matrix.require_exact_kernels.__wrapped__()
    assert off == ["newest", "new"]
    monkeypatch.setattr(numkong, "dots_packed", lambda rows, packed: np.zeros((20, 16)))
    with pytest.raises(StoreError, match="numkong"):
        int8_matrix.require_exact_kernels.__wrapped__()


def test_numpy_alone_gives_the_same_vectors(granite: LocalEmbedder, weights: Weights) -> None:
    reference = Int8Encoder(weights, ranges.granite_ranges(), ReferenceMatrix, NumpySteps)
    windows = [granite.windows(text)[0] for text in SOME_TEXTS]
    assert reference.encode(windows).tobytes() == granite.embed_here(SOME_TEXTS).tobytes()


def test_batches_change_nothing(granite: LocalEmbedder) -> None:
    encoder = granite._model[0]
    lengths = (5, 5, ROWS - 3, 9, ROWS, ROWS + 1, 1, 200)
    sequences = [[0, *range(10, 10 + length), 2] for length in lengths]
    alone = np.concatenate([encoder.encode([one]) for one in sequences])
    assert encoder.encode(sequences).tobytes() == alone.tobytes()
    assert encoder.encode(sequences[::-1]).tobytes() == alone[::-1].tobytes()


def test_the_sums_of_attention_are_exact(
    granite: LocalEmbedder, weights: Weights, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sum of magnitudes bounds every partial sum, whatever the order."""
    matmul = np.matmul
    seen: list[float] = []

    def watched(one: Float32, other: Float32) -> Float32:
        assert (np.rint(one) == one).all() and (np.rint(other) == other).all()
        seen.append(float((np.abs(one).astype(np.float64) @ np.abs(other).astype(np.float64)).max()))
        return np.asarray(matmul(one, other))

    windows = [granite.windows(text)[0] for text in SOME_TEXTS]
    encoder = Int8Encoder(weights, ranges.granite_ranges(), steps=NumpySteps)
    monkeypatch.setattr(np, "matmul", watched)
    encoder.encode(windows)
    assert len(seen) >= 6 * len(windows)
    assert max(seen) <= EXACT
    assert MAX_TOKENS * EXP_UNIT <= EXACT + 1


def test_what_lies_beyond_the_recorded_ranges_is_clipped() -> None:
    one = np.ones(12, np.float32)
    attention = Attention(ranges.HeadRanges(one, one, one), head=32)
    rows = np.full((1, 3 * 384), -1e9, np.float32)
    attention.round(rows)
    score, value = float(rows[0, 0]), float(rows[0, -1])
    assert 32 * score * score <= EXACT
    assert (PROBABILITY + MAX_TOKENS / 2) * -value <= EXACT


def test_two_limbs_come_closer_than_one() -> None:
    chance = np.random.default_rng(5)
    affine = Affine(chance.normal(size=(384, 20)).astype(np.float32), np.zeros(20, np.float32))
    x = chance.normal(size=(6, 384)).astype(np.float32)
    expected = x.astype(np.float64) @ affine.weight
    span = np.abs(x).max(axis=0)
    for kind in (RangedAffine, RowAffine):
        product = kind(KernelMatrix, affine, span)
        found = np.empty((2, 6, 20), np.float32)
        for out, special in zip(found, ([], range(6)), strict=True):
            product(x.copy(), np.array(special, np.intp), out)
        one, two = np.abs(found - expected).max(axis=(1, 2))
        assert two < one < 0.02 * np.abs(expected).max()


def test_a_matrix_too_deep_for_int32_is_refused() -> None:
    deep = Affine(np.ones((MAX_INPUTS + 1, 1), np.float32), np.zeros(1, np.float32))
    with pytest.raises(StoreError, match=str(MAX_INPUTS)):
        RowAffine(KernelMatrix, deep, np.ones(MAX_INPUTS + 1, np.float32))


@pytest.mark.parametrize("length", [0, 513])
def test_sequences_the_model_cannot_take_are_refused(length: int, granite: LocalEmbedder) -> None:
    with pytest.raises(StoreError, match="accepts 1 to 512"):
        granite._model[0].encode([[0, 2], [5] * length])


def test_nothing_gives_nothing(granite: LocalEmbedder) -> None:
    nothing: Sequence[Sequence[int]] = []
    assert granite._model[0].encode(nothing).shape == (0, 384)


def test_altered_ranges_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    changed = bytearray((Path(ranges.__file__).with_name(ranges.GRANITE)).read_bytes())
    changed[77] ^= 1
    (tmp_path / ranges.GRANITE).write_bytes(changed)
    monkeypatch.setattr(ranges.resources, "files", lambda _: tmp_path)
    with pytest.raises(StoreError, match=ranges.GRANITE_HASH):
        ranges.granite_ranges()
