"""Small random models in folders, laid out as sentence-transformers does, and their vectors in float64."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from embed.reference import ERF, GRID, Float64
from embed.texts import CODE, LANGUAGES, SENTENCES

Tensors = dict[str, npt.NDArray[np.float32]]
BERT_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ROBERTA_TOKENS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
CORPUS = [*SENTENCES, *CODE, *LANGUAGES]


def tokenizer_for(kind: str) -> Tokenizer:
    """WordPiece for BERT, byte-level BPE for RoBERTa, Unigram as SentencePiece has it for XLM-R."""
    if kind == "bert":
        tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        trainer: Any = trainers.WordPieceTrainer(vocab_size=300, special_tokens=list(BERT_TOKENS))
    elif kind == "roberta":
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(
            vocab_size=400, special_tokens=list(ROBERTA_TOKENS), initial_alphabet=alphabet
        )
    else:
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.normalizer = normalizers.NFKC()
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        trainer = trainers.UnigramTrainer(
            vocab_size=400, special_tokens=list(ROBERTA_TOKENS), unk_token="<unk>"
        )
    tokenizer.train_from_iterator(CORPUS, trainer)
    first, last = ("[CLS]", "[SEP]") if kind == "bert" else ("<s>", "</s>")
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}",
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in (first, last)],
    )
    tokenizer.enable_truncation(16)  # as many tokenizer.json files have it; it must not count
    tokenizer.enable_padding(length=16)
    return tokenizer


@dataclass(frozen=True)
class RandomModel:
    """What `write` puts into a folder. Change a part with `dataclasses.replace`."""

    kind: str
    config: Mapping[str, Any]
    tensors: Tensors
    tokenizer: Tokenizer
    pooling: str = "mean"
    prompts: Mapping[str, str] = field(default_factory=dict)
    window: int = 64
    kind_of_number: str = "F32"

    def write(self, folder: Path) -> Path:
        (folder / "1_Pooling").mkdir(parents=True)
        put(folder / "config.json", self.config)
        put(folder / "modules.json", modules("Transformer", "Pooling", "Normalize"))
        put(folder / "sentence_bert_config.json", {"max_seq_length": self.window, "do_lower_case": False})
        put(folder / "config_sentence_transformers.json", {"prompts": self.prompts})
        put(folder / "1_Pooling" / "config.json", pooling_config(self.pooling, self.config["hidden_size"]))
        (folder / "tokenizer.json").write_text(self.tokenizer.to_str(), "utf-8")
        write_safetensors(folder / "model.safetensors", self.tensors, self.kind_of_number)
        return folder


def random_model(
    kind: str = "bert", *, width: int = 64, inner: int = 128, layers: int = 2, heads: int = 4, seed: int = 5
) -> RandomModel:
    tokenizer = tokenizer_for(kind)
    padding = 0 if kind == "bert" else 1
    config = {
        "model_type": kind,
        "hidden_act": "gelu",
        "hidden_size": width,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "vocab_size": tokenizer.get_vocab_size() + 3,
        "max_position_embeddings": 80 + padding + 1,
        "pad_token_id": padding,
        "layer_norm_eps": 1e-12 if kind == "bert" else 1e-5,
        "type_vocab_size": 2 if kind == "bert" else 1,
    }
    return RandomModel(kind, config, _random_tensors(config, np.random.default_rng(seed)), tokenizer)


def _random_tensors(config: Mapping[str, Any], chance: np.random.Generator) -> Tensors:
    width, inner = config["hidden_size"], config["intermediate_size"]
    tensors: Tensors = {}

    def add(name: str, *shape: int, spread: float, middle: float = 0.0) -> None:
        tensors[name] = (chance.normal(size=shape) * spread + middle).astype(np.float32)

    def affine(name: str, inputs: int, outputs: int, strength: float = 1.0) -> None:
        add(name + ".weight", outputs, inputs, spread=strength / sqrt(inputs))
        add(name + ".bias", outputs, spread=0.1)

    def norm(name: str) -> None:
        add(name + ".weight", width, spread=0.2, middle=1.0)
        add(name + ".bias", width, spread=0.2)

    for name, rows in (
        ("word", config["vocab_size"]),
        ("position", config["max_position_embeddings"]),
        ("token_type", config["type_vocab_size"]),
    ):
        add(f"embeddings.{name}_embeddings.weight", rows, width, spread=0.5)
    norm("embeddings.LayerNorm")
    for layer in range(config["num_hidden_layers"]):
        at = f"encoder.layer.{layer}."
        affine(at + "attention.self.query", width, width, 1.5)
        affine(at + "attention.self.key", width, width, 1.5)
        affine(at + "attention.self.value", width, width)
        affine(at + "attention.output.dense", width, width)
        norm(at + "attention.output.LayerNorm")
        affine(at + "intermediate.dense", width, inner)
        affine(at + "output.dense", inner, width)
        norm(at + "output.LayerNorm")
    return tensors


def with_prefix(model: RandomModel, prefix: str) -> RandomModel:
    return replace(model, tensors={prefix + name: values for name, values in model.tensors.items()})


def without_types(model: RandomModel) -> RandomModel:
    kept = {name: values for name, values in model.tensors.items() if "token_type" not in name}
    return replace(model, tensors=kept)


def put(file: Path, content: object) -> None:
    file.write_text(json.dumps(content), "utf-8")


def modules(*kinds: str) -> list[dict[str, object]]:
    paths = {"Transformer": "", "Pooling": "1_Pooling", "Normalize": "2_Normalize", "Dense": "2_Dense"}
    return [
        {"idx": at, "name": str(at), "path": paths[kind], "type": f"sentence_transformers.models.{kind}"}
        for at, kind in enumerate(kinds)
    ]


def pooling_config(pooling: str, width: int) -> dict[str, object]:
    names = {"cls": "cls_token", "mean": "mean_tokens", "max": "max_tokens"}
    flags = {f"pooling_mode_{name}": kind == pooling for kind, name in names.items()}
    return {"word_embedding_dimension": width, **flags}


def write_safetensors(file: Path, tensors: Tensors, kind: str = "F32") -> None:
    """The format: the length of a JSON header, the header, then the values."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    parts: list[bytes] = []
    at = 0
    for name, values in tensors.items():
        data = encoded(values, kind)
        header[name] = {"dtype": kind, "shape": list(values.shape), "data_offsets": [at, at + len(data)]}
        at += len(data)
        parts.append(data)
    text = json.dumps(header).encode()
    file.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(parts))


def encoded(values: npt.NDArray[np.float32], kind: str) -> bytes:
    if kind == "BF16":
        return (values.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes()
    return values.astype({"F32": "<f4", "F16": "<f2", "F64": "<f8"}[kind]).tobytes()


def rounded(values: npt.NDArray[np.float32], kind: str) -> Float64:
    """The values that a file of this kind of number holds."""
    if kind == "BF16":
        return (values.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32).astype(np.float64)
    return values.astype({"F32": np.float32, "F16": np.float16}[kind]).astype(np.float64)


def float64_vector(model: RandomModel, text: str) -> Float64:
    """The model as its paper writes it, with the tensors as they are named and laid out in files."""
    tokenizer = Tokenizer.from_str(model.tokenizer.to_str())
    tokenizer.no_truncation()
    tokenizer.no_padding()
    ids = np.array(tokenizer.encode(text).ids)
    tensors = {name: rounded(values, model.kind_of_number) for name, values in model.tensors.items()}

    def affine(name: str, x: Float64) -> Float64:
        return x @ tensors[name + ".weight"].T + tensors[name + ".bias"]

    def norm(name: str, x: Float64) -> Float64:
        centred = x - x.mean(axis=1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=1, keepdims=True) + model.config["layer_norm_eps"])
        return centred / spread * tensors[name + ".weight"] + tensors[name + ".bias"]

    places = np.arange(len(ids))
    if model.kind != "bert":  # positions count tokens that are not padding, from the one after padding's
        padding = model.config["pad_token_id"]
        places = np.cumsum(ids != padding) * (ids != padding) + padding
    x = tensors["embeddings.word_embeddings.weight"][ids]
    x = x + tensors["embeddings.position_embeddings.weight"][places]
    x = norm("embeddings.LayerNorm", x + tensors["embeddings.token_type_embeddings.weight"][0])
    for layer in range(model.config["num_hidden_layers"]):
        x = _float64_layer(f"encoder.layer.{layer}.", x, affine, norm, model.config["num_attention_heads"])
    pooled = {"cls": x[0], "mean": x.mean(axis=0), "max": x.max(axis=0)}[model.pooling]
    return np.asarray(pooled / np.sqrt(pooled @ pooled))


def _float64_layer(at: str, x: Float64, affine: Any, norm: Any, heads: int) -> Float64:
    def split(name: str) -> Float64:
        projected: Float64 = affine(f"{at}attention.self.{name}", x)
        return projected.reshape(len(x), heads, -1).transpose(1, 0, 2)

    query, key, value = split("query"), split("key"), split("value")
    scores = query @ key.transpose(0, 2, 1) / sqrt(query.shape[2])
    shares = np.exp(scores - scores.max(axis=2, keepdims=True))
    mixed = (shares / shares.sum(axis=2, keepdims=True) @ value).transpose(1, 0, 2).reshape(x.shape)
    x = norm(at + "attention.output.LayerNorm", x + affine(at + "attention.output.dense", mixed))
    inner = affine(at + "intermediate.dense", x)
    inner = inner * (1 + np.interp(inner, GRID, ERF)) / 2
    return np.asarray(norm(at + "output.LayerNorm", x + affine(at + "output.dense", inner)))
