import json
from pathlib import Path

import pytest

import quintet
from backups.answers import answers_of, make_index
from quintet.errors import Conflict, NotFound, StoreError, UsageError


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    quintet.backup(make_index(tmp_path / "place", "zebra"), tmp_path / "kept")
    return tmp_path / "kept"


def change_manifest(kept: Path, **fields: object) -> None:
    file = kept / "backup.json"
    file.write_text(json.dumps({**json.loads(file.read_text("utf-8")), **fields}), "utf-8")


def test_an_index_is_replaced_only_on_request(kept: Path, tmp_path: Path) -> None:
    other = make_index(tmp_path / "other", "camel")
    before = answers_of(other)
    with pytest.raises(Conflict, match="replace it with --replace") as refused:
        quintet.restore(kept, other)
    assert (refused.value.code, answers_of(other)) == ("index_exists", before)
    quintet.restore(kept, other, replace=True)
    assert answers_of(other) == answers_of(tmp_path / "place" / "index")
    assert sorted(place.name for place in other.parent.iterdir()) == ["index", "notes"]


def test_an_open_index_that_is_replaced_answers_from_the_restored_one(kept: Path, tmp_path: Path) -> None:
    folder = make_index(tmp_path / "other", "camel")
    with quintet.open(folder, "hashing") as index:
        assert index.search("camel", mode="lexical").body["results"]
        shelf = index.knowledge.get("shelf")
        quintet.restore(kept, folder, replace=True)
        assert index.search("zebra", mode="lexical").body["results"]
        assert not index.search("camel", mode="lexical").body["results"]
        assert "zebra" in str(index.memory.recall("stripes").body)
        assert "zebra" in str(index.knowledge.get("shelf").search("text").body)
        with pytest.raises(NotFound):  # another base of the same name
            shelf.search("text")
        index.sync()


def test_an_index_that_somebody_writes_is_not_replaced(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_index(tmp_path / "other", "camel")
    before = answers_of(folder)
    monkeypatch.setattr("quintet.backups.restore.LOCK_SECONDS", 0)
    with quintet.open(folder, "hashing") as index, index.knowledge.get("shelf").writing():
        with pytest.raises(Conflict, match="another process is writing") as refused:
            quintet.restore(kept, folder, replace=True)
        assert refused.value.code == "busy_writer"
    assert answers_of(folder) == before


def test_a_folder_with_other_files_is_refused_and_an_empty_one_is_filled(kept: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no index and not empty"):
        quintet.restore(kept, tmp_path / "place" / "notes", replace=True)
    with pytest.raises(UsageError, match="does not exist; make it first"):
        quintet.restore(kept, tmp_path / "missing" / "index")
    (tmp_path / "empty").mkdir()
    quintet.restore(kept, tmp_path / "empty")
    assert answers_of(tmp_path / "empty") == answers_of(tmp_path / "place" / "index")


@pytest.mark.parametrize("path", ["index.db", "memory.db", "keys.json", "knowledge/shelf/base.json"])
@pytest.mark.parametrize("change", ["flip", "cut", "longer", "remove", "link"])
def test_a_backup_that_was_changed_is_refused(kept: Path, tmp_path: Path, path: str, change: str) -> None:
    file = kept / "index" / path
    data = file.read_bytes()
    file.unlink()
    if change == "link":
        (tmp_path / "same").write_bytes(data)
        file.symlink_to(tmp_path / "same")
    elif change != "remove":
        changed = {"flip": bytes([data[0] ^ 1]) + data[1:], "cut": data[:-1], "longer": data + b" "}
        file.write_bytes(changed[change])
    with pytest.raises(StoreError):
        quintet.restore(kept, tmp_path / "restored")
    assert sorted(place.name for place in tmp_path.iterdir() if place.name != "same") == ["kept", "place"]


@pytest.mark.parametrize(
    "path",
    ["../outside", "/etc/passwd", "knowledge/../../outside", "notes.md", "knowledge/shelf/files/x", ""],
)
def test_a_manifest_cannot_name_a_file_outside_an_index(kept: Path, tmp_path: Path, path: str) -> None:
    files = json.loads((kept / "backup.json").read_text("utf-8"))["files"]
    change_manifest(kept, files={**files, path: files["index.db"]})
    with pytest.raises(StoreError, match="is no file of an index"):
        quintet.restore(kept, tmp_path / "restored")


@pytest.mark.parametrize(
    "fields",
    [
        {"version": 2},
        {"files": {}},
        {"files": []},
        {"files": {"index.db": {"size": "many", "sha256": "0" * 64}}},
        {"files": {"index.db": {"size": 1, "sha256": 7}}},
        {"documents": "many"},
        {"bases": None},
        {"surprise": 1},
    ],
)
def test_a_manifest_that_makes_no_sense_is_refused(
    kept: Path, tmp_path: Path, fields: dict[str, object]
) -> None:
    change_manifest(kept, **fields)
    with pytest.raises(StoreError, match=r"backup\.json cannot be read"):
        quintet.restore(kept, tmp_path / "restored")


def test_a_folder_that_is_no_backup_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"it has no backup\.json") as refused:
        quintet.restore(tmp_path, tmp_path / "restored")
    assert refused.value.code == "not_a_backup"
