"""The bounds that exactness rests on, and how near the integers come to float64."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from embed import reference
from embed.texts import CODE, LANGUAGES, LONG, SENTENCES
from quintet.embed.canonical import encoder as canonical
from quintet.embed.canonical.encoder import MAX_TOKENS, PROBABILITY, CanonicalEncoder, unit_int16
from quintet.embed.canonical.layer_norm import normalise
from quintet.embed.canonical.products import EXACT, MIN_UNIT_LEVELS, SLACK, NormProduct, RowProduct
from quintet.embed.canonical.tables import EXP_UNIT
from quintet.embed.canonical.weights import Affine, Float32, Norm, Weights
from quintet.embed.local import LocalEmbedder
from quintet.embed.models import MODELS
from quintet.errors import StoreError

MORE = (
    "The surgeon washed her hands before the operation.",
    "Doctors must clean their hands before they operate.",
    "A bridge of ropes crosses the gorge.",
    "The suspension bridge spans a deep valley.",
    "The stock market fell sharply on Tuesday.",
    "Share prices dropped after the announcement.",
    "Photosynthesis turns light into sugar.",
    "Plants make their food from sunlight.",
    "The password must be changed every year.",
    "Credentials expire after twelve months.",
    "A comet's tail points away from the sun.",
    "The orchestra rehearsed without its conductor.",
    "Sourdough needs neither yeast nor haste.",
    "The lighthouse keeper kept a diary of ships.",
)


@pytest.fixture(scope="module")
def weights() -> Weights:
    model = MODELS["granite"]
    place = model.location()
    assert place is not None
    return model.read(place)


def encoder(embedder: LocalEmbedder) -> CanonicalEncoder:
    found = embedder._model[0]
    assert isinstance(found, CanonicalEncoder)
    return found


@pytest.mark.requirement("004-S2-POOLING")
@pytest.mark.parametrize(("name", "cosine"), [("granite", 0.998), ("older_granite", 0.999)])
def test_vectors_point_where_float64_points(
    name: str, cosine: float, request: pytest.FixtureRequest, weights: Weights
) -> None:
    embedder: LocalEmbedder = request.getfixturevalue(name)
    texts = [*SENTENCES, *CODE, *LANGUAGES, *MORE]
    assert len(texts) == 60
    exact = np.array([reference.encode(weights, embedder.windows(text)[0]) for text in texts])
    found = embedder.embed_here(texts) / 32767
    cosines = (exact * found).sum(axis=1) / np.sqrt((found * found).sum(axis=1))
    assert cosines.mean() >= cosine
    assert (nearest(exact) == nearest(found)).mean() >= 0.95


def nearest(
    vectors: reference.Float64,
) -> npt.NDArray[np.int64]:
    likeness = vectors @ vectors.T
    np.fill_diagonal(likeness, -2)
    return np.asarray(likeness.argmax(axis=1))


def test_no_partial_sum_leaves_the_exact_range(
    older_granite: LocalEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sum of magnitudes bounds every partial sum, whatever the order."""
    texts = [*SENTENCES[:4], *CODE[:2], *LANGUAGES[5:7], LONG[0], ""]
    matmul: Callable[..., object] = np.matmul
    seen: list[float] = []

    def watched(
        one: Float32,
        other: Float32,
        **more: object,
    ) -> object:
        assert (np.rint(one) == one).all()
        assert (np.rint(other) == other).all()
        seen.append(float((np.abs(one).astype(np.float64) @ np.abs(other).astype(np.float64)).max()))
        return matmul(one, other, **more)

    windows = [older_granite.windows(text)[0] for text in texts]
    monkeypatch.setattr(np, "matmul", watched)
    encoder(older_granite).encode(windows)
    assert len(seen) >= 6 * 6
    assert max(seen) <= EXACT


def test_weights_too_heavy_for_one_exact_sum_are_multiplied_in_blocks() -> None:
    heavy = RowProduct(Affine(np.ones((2_000, 1), np.float32), np.zeros(1, np.float32)), 255)
    assert len(heavy.blocks) == 4 and heavy.levels == EXACT // (255 * 500)
    integers = np.random.default_rng(3).integers(-131, 132, (50, 2_000)).astype(np.float32)
    found = np.empty((50, 1), np.float32)
    heavy.multiply(integers, found)
    exact = [(integers[:, block].astype(np.int64) @ np.full(500, 255)) for block in heavy.blocks]
    total = np.float32(0)
    for part in exact:
        assert np.abs(part).max() <= EXACT
        total = total + part.astype(np.float32)
    assert found[:, 0].tobytes() == np.asarray(total).tobytes()


def test_steep_layer_norms_get_blocks_and_then_coarser_weights() -> None:
    chance = np.random.default_rng(3)
    affine = Affine(chance.normal(size=(1024, 64)).astype(np.float32), np.zeros(64, np.float32))
    weight = np.ones(1024, np.float32)
    one_channel = weight.copy()
    one_channel[7] = 100
    plain, steep, steepest = (
        NormProduct(affine, Norm(each, np.zeros(1024, np.float32)))
        for each in (weight, weight * np.float32(5), one_channel)
    )
    assert (len(plain.blocks), np.abs(plain.weight).max()) == (1, 511)
    assert len(steep.blocks) > 1 and np.abs(steep.weight).max() == 511
    assert np.abs(steepest.weight).max() < 511
    assert min(plain.levels, steep.levels, steepest.levels) >= MIN_UNIT_LEVELS


def test_sums_of_many_tokens_too_large_for_their_length_keep_their_direction() -> None:
    sums = np.array([[1 << 30, -(1 << 29), 3], [5, -6, 7], [-(1 << 33) + 1, 1 << 20, 0]], np.int64)
    short = canonical._shortened(sums)
    assert short.tolist() == [[1 << 25, -(1 << 24), 0], [5, -6, 7], [-(1 << 26) + 1, 1 << 13, 0]]
    unit_int16(short)


def test_a_steep_layer_norm_is_refused() -> None:
    plain = Affine(np.ones((384, 2), np.float32), np.zeros(2, np.float32))
    steep = Norm(np.full(384, 1e4, np.float32), np.zeros(384, np.float32))
    with pytest.raises(StoreError, match="too large"):
        NormProduct(plain, steep)


@pytest.mark.parametrize("length", [0, 513])
def test_sequences_the_model_cannot_take_are_refused(length: int, older_granite: LocalEmbedder) -> None:
    with pytest.raises(StoreError, match="accepts 1 to 512"):
        encoder(older_granite).encode([[0, 2], [5] * length])


def test_nothing_gives_nothing(older_granite: LocalEmbedder) -> None:
    assert encoder(older_granite).encode([]).shape == (0, 384)


@pytest.mark.parametrize("value", [1e9, float("nan"), float("inf")])
def test_activations_beyond_the_range_of_layer_norm_are_refused(value: float) -> None:
    row = np.full((1, 384), value, np.float32)
    norm = Norm(np.ones(384, np.float32), np.zeros(384, np.float32))
    with pytest.raises(StoreError, match="layer norm"), np.errstate(all="ignore"):
        normalise(row, norm, 1e-5)


def test_a_normed_row_is_never_longer_than_was_counted_on() -> None:
    chance = np.random.default_rng(3)
    shapes = [chance.normal(size=(40, 384)) * size for size in (0, 1e-6, 1e-3, 1e-2, 1, 100)]
    rows = np.concatenate([*shapes, np.eye(40, 384) * 1e4, np.full((1, 384), 3.7)]).astype(np.float32)
    norm = Norm(np.ones(384, np.float32), np.zeros(384, np.float32))
    normalise(rows, norm, 1e-5)
    assert (rows.astype(np.float64) ** 2).sum(axis=1).max() <= 384 * SLACK


def test_the_longest_softmax_sum_is_exact() -> None:
    assert MAX_TOKENS * EXP_UNIT <= EXACT + 1
    assert (PROBABILITY + MAX_TOKENS / 2) * (EXACT // (PROBABILITY + MAX_TOKENS)) <= EXACT


def test_a_pooled_vector_too_large_for_its_length_is_refused() -> None:
    with pytest.raises(StoreError, match="pooled"):
        unit_int16(np.full((1, 4), 1 << 27, np.int64))


def test_a_zero_vector_stays_zero() -> None:
    assert not unit_int16(np.zeros((1, 4), np.int64)).any()


def test_batches_and_runs_of_equal_length_change_nothing(older_granite: LocalEmbedder) -> None:
    sequences = [[0, *range(10, 10 + length), 2] for length in (5, 5, 5, 9, 70, 70, 200, 1)]
    together = encoder(older_granite).encode(sequences)
    alone = np.concatenate([encoder(older_granite).encode([one]) for one in sequences])
    assert together.tobytes() == alone.tobytes()


def test_runs_are_neighbours_of_equal_length_within_the_cache() -> None:
    most = canonical.ATTENTION_PAIRS // (64 * 64)
    assert list(canonical._runs([64] * (most + 1) + [7, 7, 8])) == [(64, most), (64, 1), (7, 2), (8, 1)]
