"""`quintet models`, and the options of `index` that are about vectors."""

import json
import shutil
from pathlib import Path

import pytest

from cli.conftest import Quintet
from embed.folders import random_model
from quintet.embed.models import MODELS, OLDER


def test_models_lists_what_can_embed_and_whether_it_is_here(
    quintet: Quintet, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("QUINTET_MODELS", str(tmp_path))
    done = quintet("models")
    assert (done.code, done.err) == (0, "")
    lines = {line.split()[0]: line for line in done.out.splitlines()}
    assert list(lines) == ["granite", "minilm", "remote", "hashing", "none"]
    assert lines["granite"].endswith("; installed") and "Apache-2.0" in lines["granite"]
    assert lines["minilm"].endswith("run 'quintet models pull minilm'")


def test_models_for_programs(quintet: Quintet, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("QUINTET_MODELS", str(tmp_path))
    granite, minilm = json.loads(quintet("models", "--json").out)
    assert (granite["name"], granite["dimensions"], granite["present"]) == ("granite", 384, True)
    assert minilm["name"] == "minilm"


def test_a_model_that_nobody_knows_cannot_be_pulled(quintet: Quintet) -> None:
    done = quintet("models", "pull", "nosuch")
    assert done.code == 2
    assert "granite, minilm" in done.err


def test_a_model_that_is_here_is_not_fetched_again(quintet: Quintet) -> None:
    done = quintet("models", "pull", "granite")
    assert done.code == 0
    assert "already installed" in done.err


def test_no_wait_leaves_the_vectors_to_the_next_run(library: Path, quintet: Quintet) -> None:
    first = json.loads(quintet("index", "--embedder", "hashing", "--no-wait", "--json").out)
    assert first["embedded"] == 0 and first["pending"] > 0
    notes = json.loads(quintet("search", "cache", "--json").out)["notes"]
    assert [note["code"] for note in notes] == ["partly_embedded"]
    second = json.loads(quintet("index", "--embedder", "hashing", "--json").out)
    assert (second["embedded"], second["pending"]) == (first["pending"], 0)


def test_an_index_of_the_older_identity_keeps_its_arithmetic_until_it_is_reembedded(
    library: Path, quintet: Quintet
) -> None:
    quintet("index", "--embedder", "granite-1")
    assert json.loads(quintet("index", "--json").out)["pending"] == 0
    found = json.loads(quintet("search", "cache", "--json").out)
    assert found["status"] == "ok" and found["notes"] == []
    assert json.loads(quintet("status", "--json").out)["embedder"] == OLDER["granite-1"].identity
    refused = quintet("index", "--embedder", "granite")
    assert refused.code == 4 and "--reembed" in refused.err
    quintet("index", "--reembed", "--embedder", "granite")
    assert json.loads(quintet("status", "--json").out)["embedder"] == MODELS["granite"].identity


def test_reembed_replaces_every_vector(library: Path, quintet: Quintet) -> None:
    quintet("index", "--embedder", "hashing")
    before = json.loads(quintet("status", "--json").out)
    done = json.loads(quintet("index", "--reembed", "--embedder", "granite", "--json").out)
    after = json.loads(quintet("status", "--json").out)
    assert done["embedded"] == before["embedded"] == after["embedded"]
    assert before["embedder"] == "hash-384" and after["embedder"].startswith("granite-30m-english:")
    assert before["state_root"] != after["state_root"]
    assert json.loads(quintet("search", "cache", "--json").out)["status"] == "ok"
    assert quintet("index", "--embedder", "hashing").code == 4


@pytest.fixture
def model_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A small model in a folder that nobody has named yet."""
    monkeypatch.setenv("QUINTET_MODELS", str(tmp_path / "own list"))
    return random_model(width=16, inner=32, layers=1, heads=2).write(tmp_path / "bert-tiny")


def test_a_model_from_a_folder_is_shown_by_models_status_and_doctor(
    library: Path, quintet: Quintet, model_folder: Path
) -> None:
    done = quintet("index", "--embedder", str(model_folder), "--json")
    assert json.loads(done.out)["pending"] == 0
    status = json.loads(quintet("status", "--json").out)
    identity = status["embedder"]
    assert identity.startswith("folder:")
    assert f"{identity} ({model_folder})" in quintet("status").out
    assert f"embedded by {identity}" in quintet("doctor").out
    (line,) = [line for line in quintet("models").out.splitlines() if line.startswith(str(model_folder))]
    assert "bert, 1 layers" in line and "16 dimensions, 64 tokens" in line and line.endswith("; present")
    listed = json.loads(quintet("models", "--json").out)[-1]
    assert (listed["name"], listed["identity"], listed["present"]) == (str(model_folder), identity, True)
    found = json.loads(quintet("search", "cache", "--json").out)
    assert found["status"] == "ok" and found["notes"] == []


def test_models_add_tells_where_a_folder_moved(library: Path, quintet: Quintet, model_folder: Path) -> None:
    quintet("index", "--embedder", str(model_folder))
    moved = model_folder.rename(model_folder.with_name("moved"))
    lost = quintet("search", "cache")
    assert lost.code == 5 and "quintet models add PATH" in lost.err
    assert "the folder is gone" in quintet("models").out
    done = quintet("models", "add", str(moved))
    assert done.code == 0 and done.out.startswith("folder:")
    assert quintet("search", "cache").code == 0


def test_a_lost_model_can_be_replaced(library: Path, quintet: Quintet, model_folder: Path) -> None:
    quintet("index", "--embedder", str(model_folder))
    shutil.rmtree(model_folder)
    assert quintet("status").code == 5
    assert quintet("index", "--reembed", "--embedder", "hashing").code == 0
    assert json.loads(quintet("status", "--json").out)["embedder"] == "hash-384"


def test_a_folder_whose_weights_cannot_be_read_is_not_added(quintet: Quintet, model_folder: Path) -> None:
    data = bytearray((model_folder / "model.safetensors").read_bytes())
    data[-4:] = b"\xff\xff\xff\xff"  # not a number
    (model_folder / "model.safetensors").write_bytes(data)
    done = quintet("models", "add", str(model_folder))
    assert done.code == 6 and "not finite numbers" in done.err
    assert str(model_folder) not in quintet("models").out
