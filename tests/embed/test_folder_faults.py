"""A model folder that cannot be used: one sentence says which file is wrong, and how."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from embed.folders import RandomModel, modules, pooling_config, put, random_model, write_safetensors
from quintet.embed import load_embedder
from quintet.embed.folder import open_folder
from quintet.errors import QuintetError, StoreError, UsageError

WORDS = "embeddings.word_embeddings.weight"
POOL = "1_Pooling/config.json"


@pytest.fixture(scope="module")
def model() -> RandomModel:
    return random_model("roberta", width=16, inner=32, layers=1, heads=2)


@pytest.fixture(autouse=True)
def own_list(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("QUINTET_MODELS", str(tmp_path / "models"))


def refusal(folder: Path) -> str:
    with pytest.raises(UsageError) as caught:
        open_folder(folder)
    message = caught.value.message
    assert "\n" not in message and len(message) < 600
    assert folder.name in message
    return message


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"model_type": "modernbert"},
            "model_type is 'modernbert'; Quintet runs these: bert, roberta, xlm-roberta",
        ),
        ({"model_type": "t5"}, "'t5'"),
        ({"model_type": "qwen3"}, "'qwen3'"),
        ({"model_type": ["bert"]}, "model_type"),
        ({"model_type": None}, "model_type is missing"),
        ({"hidden_act": "relu"}, "hidden_act is 'relu'; Quintet runs only 'gelu'"),
        ({"position_embedding_type": "relative_key"}, "only 'absolute'"),
        ({"is_decoder": True}, "decoder"),
        ({"hidden_size": 10**12}, "hidden_size is 1000000000000; it must be a whole number from 8 to 2048"),
        ({"hidden_size": True}, "hidden_size is True"),
        ({"hidden_size": 16.0}, "hidden_size is 16.0"),
        ({"num_hidden_layers": 10**9}, "from 1 to 48"),
        ({"num_hidden_layers": 0}, "num_hidden_layers is 0"),
        ({"num_hidden_layers": 2}, "no tensor encoder.layer.1."),
        ({"num_attention_heads": 3}, "3 heads share 16 dimensions"),
        ({"num_attention_heads": 0}, "num_attention_heads is 0"),
        ({"intermediate_size": 33}, "intermediate.dense.weight is 32 x 16; config.json asks for 33 x 16"),
        ({"vocab_size": 7}, "config.json asks for 7 x 16"),
        ({"vocab_size": None}, "vocab_size is missing"),
        ({"pad_token_id": -1}, "pad_token_id is -1"),
        ({"pad_token_id": 80}, "of which 81 are for padding"),
        ({"layer_norm_eps": "small"}, "layer_norm_eps is 'small'"),
        ({"layer_norm_eps": 5}, "from 0 to 0.01"),
    ],
)
def test_a_configuration_we_cannot_run(
    changes: dict[str, Any], said: str, model: RandomModel, tmp_path: Path
) -> None:
    folder = model.write(tmp_path / "model")
    put(folder / "config.json", {**model.config, **changes})
    assert said in refusal(folder)


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        (
            "modules.json",
            modules("Transformer", "Pooling", "Dense"),
            "Transformer, Pooling, Dense; Quintet runs",
        ),
        ("modules.json", modules("Transformer"), "are Transformer"),
        ("modules.json", [], "are none"),
        ("modules.json", {}, "no JSON list"),
        ("modules.json", [7], "without type and path"),
        ("modules.json", [{"type": "a.Transformer", "path": "../other"}], "inside the model's folder"),
        ("modules.json", [{"type": "a.Transformer", "path": "/etc"}], "inside the model's folder"),
        ("modules.json", [{"type": "a.Transformer", "path": "C:\\models"}], "inside the model's folder"),
        ("config.json", [1], "no JSON object"),
        (POOL, {}, "pooling in"),
        (POOL, {"pooling_mode_lasttoken": True}, "is lasttoken; it must be one of: cls, mean, max"),
        (POOL, {"pooling_mode_cls_token": True, "pooling_mode_max_tokens": True}, "cls_token, max_tokens"),
        (POOL, {"pooling_mode": [{}]}, "pooling in"),
        (POOL, {**pooling_config("mean", 16), "include_prompt": False}, "leaves prompts out"),
        ("sentence_bert_config.json", {"max_seq_length": 2}, "max_seq_length in"),
        ("sentence_bert_config.json", {"max_seq_length": "long"}, "is 'long'"),
        ("config_sentence_transformers.json", {"prompts": ["a"]}, "prompts in"),
        ("config_sentence_transformers.json", {"prompts": {"query": "a" * 3000}}, "at most 2000 characters"),
        ("config_sentence_transformers.json", {"default_prompt_name": "web"}, "not one of its prompts"),
        ("config_sentence_transformers.json", {"default_prompt_name": [1]}, "not one of its prompts"),
    ],
)
def test_settings_that_make_no_sense(
    file: str, content: object, said: str, model: RandomModel, tmp_path: Path
) -> None:
    folder = model.write(tmp_path / "model")
    put(folder / file, content)
    assert said in refusal(folder)


@pytest.mark.parametrize("file", ["modules.json", "config.json", POOL, "tokenizer.json", "model.safetensors"])
def test_a_missing_file_is_named(file: str, model: RandomModel, tmp_path: Path) -> None:
    folder = model.write(tmp_path / "model")
    (folder / file).unlink()
    assert f"has no {Path(file).name}" in refusal(folder)


@pytest.mark.parametrize("file", ["modules.json", "config.json", POOL, "sentence_bert_config.json"])
@pytest.mark.parametrize("content", [b"{", b"\xff\xfe", b"[" * 100_000, b"9" * 2_000_000], ids=len)
def test_settings_that_are_no_json(file: str, content: bytes, model: RandomModel, tmp_path: Path) -> None:
    folder = model.write(tmp_path / "model")
    (folder / file).write_bytes(content)
    assert f"{Path(file).name} cannot be read" in refusal(folder)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_pipe_in_place_of_a_file_is_not_waited_for(file: str, model: RandomModel, tmp_path: Path) -> None:
    folder = model.write(tmp_path / "model")
    (folder / file).unlink()
    os.mkfifo(folder / file)
    assert file in refusal(folder)


@pytest.mark.parametrize("pickle", ["pytorch_model.bin", "pytorch_model.bin.index.json"])
def test_a_pickle_is_not_read(pickle: str, model: RandomModel, tmp_path: Path) -> None:
    folder = model.write(tmp_path / "model")
    (folder / "model.safetensors").rename(folder / pickle)
    said = refusal(folder)
    assert pickle in said and "save the model again as safetensors" in said


Damage = Callable[[bytes], bytes]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:5],
        lambda data: data[:100],
        lambda data: data[:-1],
        lambda data: data[: len(data) // 2],
        lambda data: b"\xff" * 8 + data[8:],
        lambda data: (2).to_bytes(8, "little") + b"[]",
        lambda data: (3).to_bytes(8, "little") + b"{{{",
        lambda data: (100_000).to_bytes(8, "little") + b"[" * 100_000,
        lambda data: data.replace(b'"shape": [', b'"shape": [ -'),
        lambda data: data.replace(b'"shape"', b'"shapo"'),
        lambda data: data.replace(b'"data_offsets": [0, ', b'"data_offsets": [4, '),
        lambda data: data.replace(b'"data_offsets"', b'"data_offsetz"'),
        lambda data: data.replace(b'"dtype": "F32"', b'"dtype": "I64"'),
    ],
)
def test_damaged_weights_are_refused(damage: Damage, model: RandomModel, tmp_path: Path) -> None:
    folder = model.write(tmp_path / "model")
    file = folder / "model.safetensors"
    data = file.read_bytes()
    file.write_bytes(damage(data))
    assert file.read_bytes() != data
    refusal(folder)


def test_other_kinds_of_numbers_are_refused(model: RandomModel, tmp_path: Path) -> None:
    folder = replace(model, kind_of_number="F64").write(tmp_path / "model")
    assert "is F64; it must be F32, F16 or BF16" in refusal(folder)


@pytest.mark.parametrize("name", [WORDS, "encoder.layer.0.output.dense.weight", "embeddings.LayerNorm.bias"])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_refused(
    name: str, value: float, model: RandomModel, tmp_path: Path
) -> None:
    values = model.tensors[name].copy()
    values.flat[-1] = value
    folder = replace(model, tensors={**model.tensors, name: values}).write(tmp_path / "model")
    embedder = load_embedder(folder)
    assert embedder is not None
    with pytest.raises(StoreError, match=f"{name} in .* not finite numbers"):
        embedder.embed_query("text")


def test_a_layer_norm_too_steep_for_exact_integers_is_refused(model: RandomModel, tmp_path: Path) -> None:
    steep = {**model.tensors, "embeddings.LayerNorm.weight": np.full(16, 1e6, np.float32)}
    embedder = load_embedder(replace(model, tensors=steep).write(tmp_path / "model"))
    assert embedder is not None
    with pytest.raises(StoreError, match="too large for exact integers"):
        embedder.embed_query("text")


@pytest.mark.parametrize(
    ("weight_map", "said"),
    [
        (None, "weight_map must name"),
        ({}, "weight_map must name"),
        ({"a": "../model.safetensors"}, "files of the same folder"),
        ({"a": 7}, "has no 7"),
        ({"a": "model-1.safetensors"}, "has no model-1.safetensors"),
        ({str(number): str(number) for number in range(101)}, "1 to 100 files"),
    ],
)
def test_a_list_of_weight_files_that_is_wrong(
    weight_map: object, said: str, model: RandomModel, tmp_path: Path
) -> None:
    folder = model.write(tmp_path / "model")
    (folder / "model.safetensors").unlink()
    put(folder / "model.safetensors.index.json", {"weight_map": weight_map})
    assert said in refusal(folder)


def tokenizer_error(folder: Path) -> str:
    embedder = load_embedder(folder)
    assert embedder is not None
    with pytest.raises(UsageError) as caught:
        embedder.embed_query("text")
    return caught.value.message


def test_a_tokenizer_of_another_model_is_refused(model: RandomModel, tmp_path: Path) -> None:
    config = {**model.config, "vocab_size": 100}
    tensors = {**model.tensors, WORDS: model.tensors[WORDS][:100]}
    folder = replace(model, config=config, tensors=tensors).write(tmp_path / "model")
    assert "but the model has 100 tokens" in tokenizer_error(folder)


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", b"[" * 10_000])
def test_a_tokenizer_that_is_none_is_refused(content: bytes, model: RandomModel, tmp_path: Path) -> None:
    folder = model.write(tmp_path / "model")
    (folder / "tokenizer.json").write_bytes(content)
    with pytest.raises(UsageError, match=r"tokenizer\.json"):
        embedder = load_embedder(folder)
        assert embedder is not None
        embedder.embed_query("text")


def test_a_tokenizer_without_special_tokens_is_refused(model: RandomModel, tmp_path: Path) -> None:
    folder = model.write(tmp_path / "model")
    description = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    put(folder / "tokenizer.json", {**description, "post_processor": None})
    assert "adds 0 tokens to a text; it must add two" in tokenizer_error(folder)


def test_a_prompt_that_leaves_no_room_is_refused(model: RandomModel, tmp_path: Path) -> None:
    folder = replace(model, prompts={"query": "many words " * 100}).write(tmp_path / "model")
    assert "takes more than half of 64 tokens" in tokenizer_error(folder)


SETTINGS = (
    "modules.json",
    "config.json",
    POOL,
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)


@given(data=st.data())
def test_whatever_the_settings_say_the_answer_is_a_model_or_one_sentence(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory, model: RandomModel
) -> None:
    folder = tmp_path_factory.getbasetemp() / "fuzzed" / "model"
    if not folder.exists():
        model.write(folder)
    file = folder / data.draw(st.sampled_from(SETTINGS))
    original = file.read_bytes()
    content = json.loads(original)
    part = content[data.draw(st.integers(0, 2))] if isinstance(content, list) else content
    part[data.draw(st.sampled_from([*part, "prompts", "default_prompt_name", "pooling_mode"]))] = data.draw(
        ANYTHING
    )
    put(file, content)
    try:
        open_folder(folder)
    except UsageError as error:
        assert len(error.message) < 600
    finally:
        file.write_bytes(original)


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "file").write_text("x", "utf-8")
    reasons = {"loop": "symbolic links", "file": "it is a file", "nosuch": "does not download"}
    for name, reason in reasons.items():
        assert reason in refusal(tmp_path / name)
    with pytest.raises(UsageError, match="null"):
        open_folder("models/a\0b")
    assert "has no modules.json" in refusal(tmp_path)


def test_a_file_that_is_a_link_to_itself(model: RandomModel, tmp_path: Path) -> None:
    for file in ("config.json", "model.safetensors", "tokenizer.json"):
        folder = model.write(tmp_path / file.partition(".")[0])
        (folder / file).unlink()
        (folder / file).symlink_to(folder / file)
        assert file in refusal(folder)


def test_a_folder_needs_a_slash_to_be_taken_for_one(
    model: RandomModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    model.write(tmp_path / "mine")
    model.write(tmp_path / "hashing")
    with pytest.raises(QuintetError, match=r"'mine'; choose one of: granite.*'\./model'"):
        load_embedder("mine")
    for name in ("./mine", Path("mine"), str(tmp_path / "mine")):
        embedder = load_embedder(name)
        assert embedder is not None and embedder.identity.startswith("folder:")
    hashing = load_embedder("hashing")
    assert hashing is not None and hashing.identity == "hash-384"


def test_tensors_that_nobody_asks_for_are_ignored(model: RandomModel, tmp_path: Path) -> None:
    folder = model.write(tmp_path / "model")
    more = {**model.tensors, "pooler.dense.weight": np.full((2, 2), np.nan, np.float32)}
    write_safetensors(folder / "model.safetensors", more)
    embedder = load_embedder(folder)
    assert embedder is not None and embedder.embed_query("text") is not None
