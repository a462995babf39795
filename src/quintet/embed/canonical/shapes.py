"""The shapes of BERT, RoBERTa and XLM-R: their sizes, by config.json, and the names of their tensors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from quintet.embed.canonical.safetensors import Shape, TensorFiles
from quintet.embed.canonical.weights import Affine, EncoderLayer, Float32, Norm, Pooling, Weights
from quintet.errors import UsageError

KINDS = {"bert": 0, "roberta": 1, "xlm-roberta": 1, "camembert": 1}  # and their usual pad_token_id
OFFSET_KINDS = ("roberta", "xlm-roberta", "camembert")  # their positions begin after that of padding
PREFIXES = ("", "bert.", "roberta.")  # of all names, if the model was saved with a head
RANGES = {
    "hidden_size": (8, 2048),
    "intermediate_size": (8, 16_384),
    "num_hidden_layers": (1, 48),
    "num_attention_heads": (1, 128),
    "vocab_size": (4, 4_000_000),
    "max_position_embeddings": (8, 1_000_000),
    "pad_token_id": (0, 4_000_000),
}
LARGEST_HEAD = 256  # dimensions; with more, scores would have too few levels
WORDS = "embeddings.word_embeddings.weight"
POSITIONS = "embeddings.position_embeddings.weight"
TYPES = "embeddings.token_type_embeddings.weight"


@dataclass(frozen=True, slots=True)
class EncoderShape:
    """`offset` is the row of the first position. All numbers that change vectors are here."""

    kind: str
    width: int
    inner: int
    layers: int
    heads: int
    vocabulary: int
    positions: int
    offset: int
    epsilon: float

    @property
    def longest(self) -> int:
        """The most tokens that have a position."""
        return self.positions - self.offset


MINILM = EncoderShape("bert", 384, 1536, 6, 12, 30_522, 512, 0, 1e-12)


def encoder_shape(config: Mapping[str, Any]) -> EncoderShape:
    """The shape that a config.json describes. Raises `UsageError` if it is not one of ours."""
    kind = config.get("model_type")
    if not isinstance(kind, str) or kind not in KINDS:
        allowed = ", ".join(KINDS)
        raise UsageError(f"its model_type is {_shown(kind)}; Quintet runs these: {allowed}")
    for name, usual in (("hidden_act", "gelu"), ("position_embedding_type", "absolute")):
        if config.get(name, usual) != usual:
            raise UsageError(f"its {name} is {_shown(config[name])}; Quintet runs only {usual!r}")
    if config.get("is_decoder"):
        raise UsageError("it is a decoder; Quintet runs only encoders")
    sizes = {name: _size(config, name, KINDS[kind]) for name in RANGES}
    width, heads = sizes["hidden_size"], sizes["num_attention_heads"]
    if width % heads or width // heads > LARGEST_HEAD:
        allowed = f"each head must have the same number of dimensions, at most {LARGEST_HEAD}"
        raise UsageError(f"its {heads} heads share {width} dimensions; {allowed}")
    shape = EncoderShape(
        kind,
        width,
        sizes["intermediate_size"],
        sizes["num_hidden_layers"],
        heads,
        sizes["vocab_size"],
        sizes["max_position_embeddings"],
        sizes["pad_token_id"] + 1 if kind in OFFSET_KINDS else 0,
        _epsilon(config),
    )
    if shape.longest < RANGES["max_position_embeddings"][0]:
        raise UsageError(f"it has {shape.positions} positions, of which {shape.offset} are for padding")
    return shape


def _size(config: Mapping[str, Any], name: str, usual_padding: int) -> int:
    value = config.get(name)
    if value is None and name == "pad_token_id":
        value = usual_padding
    low, high = RANGES[name]
    if type(value) is not int or not low <= value <= high:
        raise UsageError(f"its {name} is {_shown(value)}; it must be a whole number from {low} to {high}")
    return value


def _epsilon(config: Mapping[str, Any]) -> float:
    epsilon = config.get("layer_norm_eps", 1e-12)
    if type(epsilon) not in (int, float) or not 0 <= epsilon <= 0.01:
        raise UsageError(f"its layer_norm_eps is {_shown(epsilon)}; it must be a number from 0 to 0.01")
    return float(epsilon)


def _shown(value: object) -> str:
    return "missing" if value is None else f"{value!r:.60}"


def check_tensors(tensors: TensorFiles, shape: EncoderShape) -> None:
    """Check that all tensors are there, with the sizes of the shape, without reading their values."""
    prefix = _prefix(tensors)
    for name, expected in _expected(shape).items():
        if prefix + name not in tensors:
            raise UsageError(f"its weights have no tensor {prefix + name}, which config.json asks for")
        _check_size(tensors, prefix + name, expected)
        tensors.tensor(prefix + name)
    if prefix + TYPES in tensors:
        rows = tensors.shape(prefix + TYPES)[:1]
        _check_size(tensors, prefix + TYPES, (max([1, *rows]), shape.width))
        tensors.tensor(prefix + TYPES)


def _check_size(tensors: TensorFiles, name: str, expected: Shape) -> None:
    if (found := tensors.shape(name)) != expected:
        sizes = [" x ".join(map(str, size)) for size in (found, expected)]
        raise UsageError(f"the tensor {name} is {sizes[0]}; config.json asks for {sizes[1]}")


def _prefix(tensors: TensorFiles) -> str:
    return next((prefix for prefix in PREFIXES if prefix + WORDS in tensors), "")


def _expected(shape: EncoderShape) -> dict[str, Shape]:
    width, inner = shape.width, shape.inner
    sizes: dict[str, Shape] = {
        WORDS: (shape.vocabulary, width),
        POSITIONS: (shape.positions, width),
        "embeddings.LayerNorm.weight": (width,),
        "embeddings.LayerNorm.bias": (width,),
    }
    for layer in range(shape.layers):
        at = f"encoder.layer.{layer}."
        for name in ("self.query", "self.key", "self.value", "output.dense"):
            sizes |= _affine(f"{at}attention.{name}", width, width)
        sizes |= _affine(at + "intermediate.dense", width, inner) | _affine(at + "output.dense", inner, width)
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            sizes |= {f"{at}{name}.{part}": (width,) for part in ("weight", "bias")}
    return sizes


def _affine(name: str, inputs: int, outputs: int) -> dict[str, Shape]:
    return {name + ".weight": (outputs, inputs), name + ".bias": (outputs,)}


def read_weights(tensors: TensorFiles, shape: EncoderShape, pooling: Pooling, tokenizer: str) -> Weights:
    """The weights of an encoder whose tensors were checked. Layers are read one at a time, when needed."""
    prefix = _prefix(tensors)
    layers = _Layers(tensors, prefix, shape.layers)
    positions = layers.values(POSITIONS)[shape.offset :]
    if prefix + TYPES in tensors:
        positions = positions + layers.values(TYPES)[0]
    words = tensors.tensor(prefix + WORDS).checked()
    norm = layers.norm("embeddings.LayerNorm")
    return Weights(words, positions, norm, layers, shape.heads, shape.epsilon, pooling, tokenizer)


class _Layers(Sequence[EncoderLayer]):
    """Reads a layer each time it is asked for, so that a large model is in memory only once."""

    def __init__(self, tensors: TensorFiles, prefix: str, count: int) -> None:
        self._tensors, self._prefix, self._count = tensors, prefix, count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> EncoderLayer: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[EncoderLayer]: ...
    def __getitem__(self, at: int | slice) -> EncoderLayer | Sequence[EncoderLayer]:
        if isinstance(at, slice):
            return [self._layer(layer) for layer in range(self._count)[at]]
        return self._layer(range(self._count)[at])

    def _layer(self, number: int) -> EncoderLayer:
        at = f"encoder.layer.{number}."
        attention = [f"{at}attention.self.{part}" for part in ("query", "key", "value")]
        return EncoderLayer(
            self._affine(*attention),
            self._affine(at + "attention.output.dense"),
            self.norm(at + "attention.output.LayerNorm"),
            self._affine(at + "intermediate.dense"),
            self._affine(at + "output.dense"),
            self.norm(at + "output.LayerNorm"),
        )

    def values(self, name: str) -> Float32:
        return self._tensors.tensor(self._prefix + name).checked().rows()

    def norm(self, name: str) -> Norm:
        return Norm(self.values(name + ".weight"), self.values(name + ".bias"))

    def _affine(self, *names: str) -> Affine:
        weight = np.concatenate([self.values(name + ".weight") for name in names]).T
        bias = np.concatenate([self.values(name + ".bias") for name in names])
        return Affine(np.ascontiguousarray(weight), bias)
