"""A proof is checked without the index, and holds for nothing but what it was made for."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import quintet
from quintet import Index, NotFound, UsageError
from quintet.receipts.proof import check_proof


@pytest.fixture
def index(tmp_path: Path) -> Any:
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(25):
        (folder / f"{number}.md").write_text(f"# Note {number}\n\nThe text of note {number}.\n")
    with quintet.open(tmp_path / "index", embedder="hashing") as index:
        index.sync([folder])
        yield index


def _proof(index: Index, path: str) -> dict[str, Any]:
    made: Any = index.receipts.prove(index.get(path)[0].chunk.id)
    return json.loads(json.dumps(made))


def _without_hash(record: str) -> str:
    return re.sub(r'"[0-9a-f]{64}"', "null", record)


@pytest.mark.parametrize("path", ["0.md", "7.md", "24.md"])
def test_a_proof_leads_to_the_state_root(index: Index, path: str) -> None:
    assert check_proof(_proof(index, path)) == (f"notes/{path}", index.status().state_root)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda p: p.update(content=p["content"] + " "), "its text does not match"),
        (lambda p: p.update(record=p["record"].replace("Note 7", "Note 8")), "lead|text"),
        (lambda p: p.update(state_root="0" * 64), "does not lead"),
        (lambda p: p.update(embedder="another"), "does not lead"),
        (lambda p: p["siblings"].pop(), "does not lead"),
        (lambda p: p.update(chunk_id="0" * 32), "not in its record"),
        (lambda p: p.update(record="{"), "cannot be read"),
        (lambda p: p.update(record="[" * 100_000), "cannot be read"),
        (lambda p: p.update(record="{}"), "cannot be read"),
        (lambda p: p.update(content=5), "cannot be read"),
        (lambda p: p.update(siblings=[{"0": "xx"}]), "not hashes"),
        (lambda p: p.update(siblings=[7]), "not hashes"),
        (lambda p: p.update(siblings=[{}] * 99), "cannot be read"),
        (lambda p: p.update(siblings=[{"00": "0" * 64}]), "not hashes"),
        (lambda p: p.update(siblings=[{"0": "00"}]), "not hashes"),
        (lambda p: p.update(embedder=float("nan")), "cannot be read"),
        (lambda p: p.update(content="\ud800"), "its text does not match"),
        (lambda p: p.update(record=_without_hash(p["record"])), "cannot be read"),
        (lambda p: p.update(proof=3), "version 3"),
    ],
)
def test_a_proof_that_was_changed_does_not_hold(index: Index, change: Any, says: str) -> None:
    proof = _proof(index, "7.md")
    change(proof)
    with pytest.raises(UsageError, match=says):
        check_proof(proof)


def test_a_chunk_that_is_not_there_cannot_be_proved(index: Index) -> None:
    with pytest.raises(NotFound, match="no chunk has the id 'x'"):
        index.receipts.prove("x")
    with pytest.raises(NotFound, match="no chunk has the id"):
        index.receipts.prove("\ud800")


def test_a_proof_of_the_only_document_needs_no_siblings(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("alone\n")
    with quintet.open(tmp_path / "index", embedder=None) as index:
        index.sync([tmp_path])
        proof = _proof(index, "a.md")
        assert proof["siblings"] == []
        assert check_proof(proof)[1] == index.status().state_root
