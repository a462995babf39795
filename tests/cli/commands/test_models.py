"""`quintet models`, and the options of `index` that are about vectors."""

import json
from pathlib import Path

import pytest

from cli.conftest import Quintet
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


def test_models_for_programs(quintet: Quintet) -> None:
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
