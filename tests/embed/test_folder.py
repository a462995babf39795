"""Models from folders: the vectors of float64, the bits of the models we know, and what their identity is."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from embed.folders import (
    CORPUS,
    RandomModel,
    float64_vector,
    modules,
    pooling_config,
    put,
    random_model,
    with_prefix,
    without_types,
    write_safetensors,
)
from embed.test_golden import KERNELS, ONE_THREAD
from embed.texts import LONG, ODD, SENTENCES, TEXTS
from quintet.embed.canonical.products import EXACT
from quintet.embed.canonical.weights import Float32, Weights
from quintet.embed.folder import open_folder
from quintet.embed.local import PARALLEL_TEXTS, LocalEmbedder
from quintet.embed.models import MODELS, local_embedder

SOME = [text for text in CORPUS if len(text) < 60]
KINDS = ("bert", "roberta", "xlm-roberta")


def embedder_of(folder: Path) -> LocalEmbedder:
    model = open_folder(folder)
    return model.embedder(model.identity, processes=1)


def cosines(model: RandomModel, folder: Path, texts: list[str], prompt: str = "") -> list[float]:
    """Of Quintet's vectors of passages with those of float64."""
    found = embedder_of(folder).embed_here(texts).astype(np.float64)
    exact = np.array([float64_vector(model, prompt + text) for text in texts])
    return list((found * exact).sum(axis=1) / np.sqrt((found * found).sum(axis=1)))


@pytest.mark.parametrize("pooling", ["cls", "mean", "max"])
@pytest.mark.parametrize("kind", KINDS)
def test_each_shape_and_pooling_points_where_float64_points(kind: str, pooling: str, tmp_path: Path) -> None:
    model = replace(random_model(kind), pooling=pooling, window=512)
    assert len(SOME) >= 20
    assert min(cosines(model, model.write(tmp_path / "m"), SOME)) >= 0.9999


@pytest.mark.parametrize("number", ["F16", "BF16"])
def test_half_precision_weights_are_read_as_they_are(number: str, tmp_path: Path) -> None:
    model = replace(random_model("roberta"), kind_of_number=number)
    assert min(cosines(model, model.write(tmp_path / "m"), SOME)) >= 0.9999


@pytest.mark.parametrize(
    "sizes",
    [
        {"width": 32, "inner": 64, "layers": 24, "heads": 2},
        {"width": 1024, "inner": 4096, "layers": 2, "heads": 16},
        {"width": 96, "inner": 40, "layers": 3, "heads": 1},
    ],
    ids=["24 layers", "the width of large models", "one head, narrow inside"],
)
def test_deep_and_wide_models_point_there_too(sizes: dict[str, int], tmp_path: Path) -> None:
    model = random_model("xlm-roberta", **sizes)
    found = cosines(model, model.write(tmp_path / "m"), SOME[:8])
    assert min(found) >= 0.998 and np.mean(found) >= 0.999


def test_wide_models_have_exact_sums_in_every_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sum of magnitudes bounds every partial sum, whatever the order."""
    folder = random_model(width=1024, inner=4096, layers=1, heads=16).write(tmp_path / "m")
    embedder = embedder_of(folder)
    encoder, windows = embedder._model[0], [embedder.windows(text)[0] for text in SOME[:4]]
    matmul: Callable[..., object] = np.matmul
    inputs: set[int] = set()
    largest: list[float] = []

    def watched(one: Float32, other: Float32, **more: object) -> object:
        inputs.add(one.shape[-1])
        largest.append(float((np.abs(one).astype(np.float64) @ np.abs(other).astype(np.float64)).max()))
        return matmul(one, other, **more)

    monkeypatch.setattr(np, "matmul", watched)
    encoder.encode(windows)
    assert max(largest) <= EXACT
    assert 1024 in inputs and 4096 not in inputs and max(inputs) <= 1536


PROGRAM = """
import sys
from hashlib import sha256
from quintet.embed.folder import open_folder
model = open_folder(sys.argv[1])
vectors = model.embedder(model.identity, processes=1).embed_here(sys.argv[2:])
print(sha256(vectors.astype("<i2").tobytes()).hexdigest())
"""


def test_blocks_give_the_same_bits_under_other_kernels_and_threads(tmp_path: Path) -> None:
    folder = random_model(width=256, inner=4096, layers=2, heads=8).write(tmp_path / "m")
    surroundings = [ONE_THREAD["as it is"], ONE_THREAD["no SIMD in numpy"], ONE_THREAD[KERNELS[1]]]
    surroundings.append({"OPENBLAS_NUM_THREADS": "2", "OPENBLAS_CORETYPE": KERNELS[2]})
    command = [sys.executable, "-c", PROGRAM, str(folder), *SENTENCES]
    hashes = {
        subprocess.run(command, env={**os.environ, **more}, capture_output=True, check=True).stdout
        for more in surroundings
    }
    assert len(hashes) == 1


def test_granite_laid_out_as_a_roberta_folder_gives_the_bits_of_granite(
    older_granite: LocalEmbedder, tmp_path: Path
) -> None:
    place = MODELS["granite"].location()
    assert place is not None
    folder = granite_folder(MODELS["granite"].read(place), tmp_path / "m")
    assert embedder_of(folder).embed_here(TEXTS).tobytes() == older_granite.embed_here(TEXTS).tobytes()


def granite_folder(weights: Weights, folder: Path) -> Path:
    """Real weights with real outliers, under RoBERTa's names. Rows 0 and 1 of the positions are unused."""
    width = weights.positions.shape[1]
    tensors = {
        "embeddings.word_embeddings.weight": weights.words.rows(),
        "embeddings.position_embeddings.weight": np.concatenate([np.full((2, width), 9), weights.positions]),
        "embeddings.LayerNorm.weight": weights.norm.weight,
        "embeddings.LayerNorm.bias": weights.norm.bias,
    }
    for number, layer in enumerate(weights.layers):
        at = f"encoder.layer.{number}."
        for part, name in enumerate(("query", "key", "value")):
            columns = slice(part * width, (part + 1) * width)
            tensors[f"{at}attention.self.{name}.weight"] = layer.qkv.weight[:, columns].T
            tensors[f"{at}attention.self.{name}.bias"] = layer.qkv.bias[columns]
        affines = {"attention.output": layer.out, "intermediate": layer.up, "output": layer.down}
        for name, affine in affines.items():
            tensors |= {f"{at}{name}.dense.weight": affine.weight.T, f"{at}{name}.dense.bias": affine.bias}
        for name, norm in {"attention.output": layer.out_norm, "output": layer.down_norm}.items():
            tensors |= {f"{at}{name}.LayerNorm.weight": norm.weight, f"{at}{name}.LayerNorm.bias": norm.bias}
    config = {
        "model_type": "roberta",
        "hidden_size": width,
        "intermediate_size": 1536,
        "num_hidden_layers": 6,
        "num_attention_heads": 12,
        "vocab_size": len(weights.words),
        "max_position_embeddings": 514,
        "pad_token_id": 1,
        "layer_norm_eps": weights.epsilon,
    }
    (folder / "1_Pooling").mkdir(parents=True)
    put(folder / "config.json", config)
    put(folder / "modules.json", modules("Transformer", "Pooling"))
    put(folder / "1_Pooling" / "config.json", pooling_config("cls", width))
    (folder / "tokenizer.json").write_text(weights.tokenizer, "utf-8")
    write_safetensors(folder / "model.safetensors", tensors)
    return folder


@pytest.mark.skipif(MODELS["minilm"].location() is None, reason="the weights of minilm are not here")
def test_minilm_in_a_folder_gives_the_bits_of_minilm(tmp_path: Path) -> None:
    place = MODELS["minilm"].location()
    assert place is not None
    folder = tmp_path / "m"
    (folder / "1_Pooling").mkdir(parents=True)
    for name in ("model.safetensors", "tokenizer.json"):
        (folder / name).symlink_to(place / name)  # as a model cache lays out its files
    config = {"model_type": "bert", "hidden_size": 384, "intermediate_size": 1536, "num_hidden_layers": 6}
    config |= {"num_attention_heads": 12, "vocab_size": 30522, "max_position_embeddings": 512}
    put(folder / "config.json", config)
    put(folder / "sentence_bert_config.json", {"max_seq_length": 256, "do_lower_case": False})
    put(folder / "modules.json", modules("Transformer", "Pooling", "Normalize"))
    put(folder / "1_Pooling" / "config.json", pooling_config("mean", 384))
    known = local_embedder("minilm", processes=1)
    assert embedder_of(folder).embed_here(TEXTS).tobytes() == known.embed_here(TEXTS).tobytes()


def test_queries_and_passages_have_the_prompts_of_the_model(tmp_path: Path) -> None:
    prompts = {"query": "query: ", "passage": "passage: ", "clustering": "topic: "}
    model = replace(random_model("xlm-roberta"), prompts=prompts)
    folder = model.write(tmp_path / "m")
    assert min(cosines(model, folder, SOME, "passage: ")) >= 0.999
    query = embedder_of(folder).embed_query(SOME[0])
    assert query is not None
    assert (query / 32767) @ float64_vector(model, "query: " + SOME[0]) >= 0.999
    assert (query != embedder_of(folder).embed_here([SOME[0]])[0]).any()


@pytest.mark.parametrize("kind", KINDS)
def test_every_window_of_a_long_text_begins_with_the_prompt(kind: str, tmp_path: Path) -> None:
    prompt = "The storm at the port: "
    model = replace(random_model(kind), prompts={"document": prompt}, window=64)
    embedder = embedder_of(model.write(tmp_path / "m"))
    windows = embedder.windows(LONG[0], prompt)
    whole = embedder._model[1].tokenizer.encode(prompt + LONG[0]).ids
    assert len(windows) > 2 and max(map(len, windows)) == 64
    alike = next(n for n in range(64) if windows[0][n] != windows[1][n])
    head = next(n for n in range(1, alike + 1) if [*windows[0][:n], *joined(windows, n), whole[-1]] == whole)
    assert head > 3 and all(window[:head] == whole[:head] for window in windows)


def joined(windows: list[list[int]], head: int) -> list[int]:
    return [token for window in windows for token in window[head:-1]]


def test_a_text_longer_than_the_window_has_a_vector_of_all_its_windows(tmp_path: Path) -> None:
    embedder = embedder_of(random_model().write(tmp_path / "m"))
    parts = embedder._model[0].encode(embedder.windows(LONG[0])).astype(np.float64)
    assert len(parts) > 2
    total = parts.sum(axis=0)
    expected = np.rint(total / np.sqrt(total @ total) * 32767)
    assert np.abs(embedder.embed_here([LONG[0]])[0] - expected).max() <= 1


@pytest.mark.parametrize("kind", KINDS)
def test_strange_text_gets_a_vector_of_unit_length(kind: str, tmp_path: Path) -> None:
    vectors = embedder_of(random_model(kind).write(tmp_path / "m")).embed_here(ODD).astype(np.float64)
    assert np.abs(np.sqrt((vectors**2).sum(axis=1)) - 32767).max() < 32


def test_the_window_is_never_longer_than_what_is_exact_or_has_positions(tmp_path: Path) -> None:
    model = replace(random_model("roberta"), window=8192)
    assert open_folder(model.write(tmp_path / "short")).form.window == 80
    config = {**model.config, "max_position_embeddings": 8194}
    rows = np.zeros((8194, 64), np.float32)
    longer = replace(
        model, config=config, tensors={**model.tensors, "embeddings.position_embeddings.weight": rows}
    )
    assert open_folder(longer.write(tmp_path / "long")).form.window == 512


def test_lower_case_is_applied_before_the_tokenizer(tmp_path: Path) -> None:
    folder = random_model("xlm-roberta").write(tmp_path / "m")
    cased = embedder_of(folder)
    put(folder / "sentence_bert_config.json", {"max_seq_length": 64, "do_lower_case": True})
    lower = embedder_of(folder)
    assert (
        lower.windows("Storm Warnings") == lower.windows("storm warnings") == cased.windows("storm warnings")
    )
    assert cased.windows("Storm Warnings") != cased.windows("storm warnings")


def test_names_may_have_a_prefix_and_segments_may_be_missing(tmp_path: Path) -> None:
    model = random_model("roberta")
    plain = embedder_of(model.write(tmp_path / "plain")).embed_here(SOME)
    prefixed = embedder_of(with_prefix(model, "roberta.").write(tmp_path / "prefixed")).embed_here(SOME)
    assert prefixed.tobytes() == plain.tobytes()
    zeros = {**model.tensors, "embeddings.token_type_embeddings.weight": np.zeros((1, 64), np.float32)}
    silent = embedder_of(replace(model, tensors=zeros).write(tmp_path / "zeros")).embed_here(SOME)
    missing = embedder_of(without_types(model).write(tmp_path / "missing")).embed_here(SOME)
    assert missing.tobytes() == silent.tobytes() != plain.tobytes()


def test_weights_in_several_files_are_one_model(tmp_path: Path) -> None:
    model = random_model()
    whole, parts = model.write(tmp_path / "whole"), model.write(tmp_path / "parts")
    (parts / "model.safetensors").unlink()
    names = sorted(model.tensors)
    files = {"model-1-of-2.safetensors": names[::2], "model-2-of-2.safetensors": names[1::2]}
    for file, some in files.items():
        write_safetensors(parts / file, {name: model.tensors[name] for name in some})
    places = {name: file for file, some in files.items() for name in some}
    put(parts / "model.safetensors.index.json", {"weight_map": places})
    assert embedder_of(parts).embed_here(SOME).tobytes() == embedder_of(whole).embed_here(SOME).tobytes()


def test_worker_processes_load_the_same_model(tmp_path: Path) -> None:
    folder = replace(random_model(), prompts={"passage": "a text: "}).write(tmp_path / "m")
    model = open_folder(folder)
    texts = [f"{text} {number}" for number, text in enumerate(CORPUS * 2)]
    assert len(texts) >= PARALLEL_TEXTS
    embedder = model.embedder(model.identity, processes=2)
    found = embedder.embed_documents(texts)
    assert embedder._pool is not None and all(process.is_alive for process in embedder._pool._processes)
    embedder.close()
    assert found.tobytes() == embedder_of(folder).embed_here(texts).tobytes()


def test_the_identity_survives_moving_and_settings_that_do_not_count(tmp_path: Path) -> None:
    folder = random_model().write(tmp_path / "one")
    before = open_folder(folder).identity
    folder = folder.rename(tmp_path / "other name")
    config = json.loads((folder / "config.json").read_text("utf-8"))
    put(folder / "config.json", {"transformers_version": "9.9", **config})
    put(folder / "modules.json", modules("Transformer", "Pooling"))
    (folder / "README.md").write_text("new", "utf-8")
    assert open_folder(folder).identity == before


@pytest.mark.parametrize("changed", ["weights", "tokenizer", "pooling", "prompt", "window", "heads"])
def test_the_identity_changes_with_everything_that_changes_vectors(changed: str, tmp_path: Path) -> None:
    folder = random_model().write(tmp_path / "m")
    before = open_folder(folder).identity
    if changed == "weights":
        data = bytearray((folder / "model.safetensors").read_bytes())
        data[-1] ^= 1
        (folder / "model.safetensors").write_bytes(data)
    elif changed == "tokenizer":
        text = (folder / "tokenizer.json").read_text("utf-8")
        (folder / "tokenizer.json").write_text(text.replace('"lowercase":true', '"lowercase":false'), "utf-8")
    elif changed == "pooling":
        put(folder / "1_Pooling" / "config.json", pooling_config("max", 64))
    elif changed == "prompt":
        put(folder / "config_sentence_transformers.json", {"prompts": {"query": "Q "}})
    elif changed == "window":
        put(folder / "sentence_bert_config.json", {"max_seq_length": 32})
    else:
        config = json.loads((folder / "config.json").read_text("utf-8"))
        put(folder / "config.json", {**config, "num_attention_heads": 8})
    assert open_folder(folder).identity != before
