import json
import os
import stat
from pathlib import Path

import apsw
import pytest

import quintet
from backups.answers import answers_of, make_index
from quintet.backups import backup as backing_up
from quintet.backups.manifest import read_manifest
from quintet.errors import Conflict, NotFound, StoreError, UsageError

NOON_NS = 1_700_000_000 * 1_000_000_000


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return make_index(tmp_path / "place", "zebra")


def test_a_restored_backup_answers_like_the_index_it_was_made_of(index: Path, tmp_path: Path) -> None:
    before = answers_of(index)
    made = quintet.backup(index, tmp_path / "kept", clock_ns=lambda: NOON_NS)
    assert (made.created, made.documents, made.memories, made.bases) == (
        "2023-11-14T22:13:20Z",
        5,
        1,
        ("shelf",),
    )
    assert read_manifest(tmp_path / "kept") == made
    assert quintet.restore(tmp_path / "kept", tmp_path / "restored") == made
    assert answers_of(tmp_path / "restored") == before == answers_of(index)


def test_the_manifest_names_every_file_of_a_backup(index: Path, tmp_path: Path) -> None:
    made = quintet.backup(index, tmp_path / "kept")
    content = tmp_path / "kept" / "index"
    found = {file.relative_to(content).as_posix() for file in content.rglob("*") if file.is_file()}
    assert found == made.files.keys()
    assert made.size == sum((content / path).stat().st_size for path in made.files)


def test_only_its_owner_can_read_a_backup_whatever_the_umask(index: Path, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        quintet.backup(index, tmp_path / "kept")
    finally:
        os.umask(before)
    places = [tmp_path / "kept", *(tmp_path / "kept").rglob("*")]
    modes = {(place.is_dir(), stat.S_IMODE(place.stat().st_mode)) for place in places}
    assert modes == {(True, 0o700), (False, 0o600)}


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_a_backup_overwrites_nothing(index: Path, tmp_path: Path, kind: str) -> None:
    target = tmp_path / "kept"
    make = {"file": target.touch, "folder": target.mkdir, "link": lambda: target.symlink_to("nowhere")}
    make[kind]()
    with pytest.raises(UsageError, match="already exists"):
        quintet.backup(index, target)
    assert sorted(place.name for place in tmp_path.iterdir()) == ["kept", "place"]


def test_a_destination_inside_the_index_or_in_no_folder_is_refused(index: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is inside the index"):
        quintet.backup(index, index / "kept")
    with pytest.raises(UsageError, match="does not exist; make it first"):
        quintet.backup(index, tmp_path / "missing" / "kept")
    with pytest.raises(NotFound, match="there is no index in"):
        quintet.backup(tmp_path / "place", tmp_path / "kept")


def test_a_damaged_index_is_not_backed_up(index: Path, tmp_path: Path) -> None:
    connection = apsw.Connection(str(index / "knowledge" / "shelf" / "index.db"))
    connection.execute("UPDATE contents SET content = replace(content, 'a', 'e')")
    connection.close()
    with pytest.raises(StoreError, match=r"shelf/index\.db is damaged: the text of .* 'quintet doctor'"):
        quintet.backup(index, tmp_path / "kept")
    assert [place.name for place in tmp_path.iterdir()] == ["place"]


def test_a_damaged_upload_is_not_backed_up(index: Path, tmp_path: Path) -> None:
    upload = next((index / "knowledge" / "shelf" / "files").iterdir())
    upload.write_bytes(b"something else")
    with pytest.raises(StoreError, match=rf"{upload.name} is damaged"):
        quintet.backup(index, tmp_path / "kept")


def test_a_base_whose_upload_is_replaced_while_it_is_copied_is_copied_again(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_in_use, copied = backing_up.copy_in_use, []

    def copy_then_change(file: Path, target: Path) -> None:
        copy_in_use(file, target)
        if file.parent.name == "shelf":
            copied.append(file)
            if len(copied) == 1:
                with quintet.open(index, "hashing") as other:
                    other.knowledge.get("shelf").put("another zebra", id="text")

    monkeypatch.setattr(backing_up, "copy_in_use", copy_then_change)
    quintet.backup(index, tmp_path / "kept")
    assert len(copied) == 2
    quintet.restore(tmp_path / "kept", tmp_path / "restored")
    assert answers_of(tmp_path / "restored") == answers_of(index)


def test_a_base_that_changes_all_the_time_is_a_conflict(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_in_use = backing_up.copy_in_use

    def copy_then_rename(file: Path, target: Path) -> None:
        copy_in_use(file, target)
        registration = file.with_name("base.json")
        fields = json.loads(registration.read_text("utf-8"))
        registration.write_text(json.dumps({**fields, "title": fields["title"] + "x"}), "utf-8")

    monkeypatch.setattr(backing_up, "copy_in_use", copy_then_rename)
    with pytest.raises(Conflict, match="'shelf' changed 10 times while it was copied; try again"):
        quintet.backup(index, tmp_path / "kept")


def test_a_base_that_is_deleted_while_it_is_copied_is_left_out(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_in_use = backing_up.copy_in_use

    def delete_then_copy(file: Path, target: Path) -> None:
        if file.parent.name == "shelf":
            with quintet.open(index, "hashing") as other:
                other.knowledge.delete("shelf")
        copy_in_use(file, target)

    monkeypatch.setattr(backing_up, "copy_in_use", delete_then_copy)
    made = quintet.backup(index, tmp_path / "kept")
    assert (made.documents, made.bases, sorted(made.files)) == (5, (), ["index.db", "keys.json", "memory.db"])
