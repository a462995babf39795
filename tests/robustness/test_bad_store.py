"""What is wrong with the disk is said in one line, and nothing on it is lost or overwritten."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest

import quintet
from quintet import Conflict, QuintetError, StoreError
from quintet.ports.health import HealthCheck

if TYPE_CHECKING:
    from conftest import Mounts

SMALL = "2m"


def _corpus(folder: Path, count: int, words: int = 60) -> Path:
    folder.mkdir(parents=True)
    chance = random.Random(3)
    for number in range(count):
        text = " ".join(f"word{chance.randrange(5_000)}" for _ in range(words))
        (folder / f"{number:04d}.txt").write_text(f"{text}\n", "utf-8")
    return folder


def _said(error: QuintetError, kind: type[QuintetError], code: str, exit_code: int) -> str:
    assert type(error) is kind
    assert (error.code, error.exit_code) == (code, exit_code)
    assert error.message.splitlines() == [error.message]
    return error.message


def _bytes(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir()) if file.is_file()}


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """The folder of a closed index of forty files."""
    with quintet.open(tmp_path / "index", embedder="hashing") as index:
        index.sync([_corpus(tmp_path / "files", 40)])
    return tmp_path / "index"


@pytest.mark.parametrize("size", [1, 8, 100, 511, 4_096, 100_000])
def test_random_bytes_are_refused_and_left_as_they_are(tmp_path: Path, size: int) -> None:
    folder = tmp_path / "index"
    folder.mkdir()
    (folder / "index.db").write_bytes(random.Random(size).randbytes(size))
    before = _bytes(folder)
    with pytest.raises(QuintetError) as caught:
        quintet.open(folder)
    message = _said(caught.value, StoreError, "store_failed", 6)
    assert "move it away and run 'quintet index'" in message
    assert _bytes(folder) == before


@pytest.mark.parametrize("share", [0.9, 0.5, 0.1, 0.02])
def test_a_truncated_database_is_called_damaged_and_left_as_it_is(built: Path, share: float) -> None:
    file = built / "index.db"
    file.write_bytes(file.read_bytes()[: int(file.stat().st_size * share)])
    before = file.read_bytes()
    with pytest.raises(QuintetError) as caught, quintet.open(built) as index:
        index.search("word1", mode="lexical")
        index.status()
    assert "damaged" in _said(caught.value, StoreError, "store_failed", 6)
    assert file.read_bytes() == before


def test_overwritten_pages_never_raise_anything_but_our_own_errors(built: Path) -> None:
    sound = (built / "index.db").read_bytes()
    pages = len(sound) // 4096
    for seed in range(30):
        chance = random.Random(seed)
        data = bytearray(sound)
        for _ in range(3):
            at = 4096 * chance.randrange(1, pages)
            data[at : at + 4096] = chance.randbytes(4096)
        (built / "index.db").write_bytes(data)
        for leftover in ("index.db-wal", "index.db-shm"):
            (built / leftover).unlink(missing_ok=True)
        try:
            with quintet.open(built) as index:
                for word in range(20):
                    index.search(f"word{word}")
                index.status()
                checks = index.doctor()
                assert any(not check.ok for check in checks)
        except QuintetError as error:
            _said(error, StoreError, "store_failed", 6)


def test_an_empty_file_becomes_an_index(tmp_path: Path) -> None:
    """SQLite makes an empty file before it writes the first page, so a kill right then leaves one."""
    folder = tmp_path / "index"
    folder.mkdir()
    (folder / "index.db").touch()
    with quintet.open(folder) as index:
        assert index.search("x").status == "never_indexed"


@pytest.mark.parametrize("application_id", [0, 0x12345678])
def test_a_database_of_another_program_is_refused_and_left_as_it_is(
    tmp_path: Path, application_id: int
) -> None:
    folder = tmp_path / "index"
    folder.mkdir()
    foreign = apsw.Connection(str(folder / "index.db"))
    foreign.pragma("application_id", application_id)
    foreign.execute("CREATE TABLE addresses (name); INSERT INTO addresses VALUES ('Ada')")
    foreign.close()
    before = _bytes(folder)
    with pytest.raises(QuintetError) as caught:
        quintet.open(folder)
    message = _said(caught.value, StoreError, "store_failed", 6)
    assert "another program; choose another folder" in message
    assert _bytes(folder) == before


def test_an_index_of_a_newer_schema_is_refused_and_left_as_it_is(built: Path) -> None:
    newer = apsw.Connection(str(built / "index.db"))
    newer.pragma("user_version", 99)
    newer.close()
    before = _bytes(built)
    with pytest.raises(QuintetError) as caught:
        quintet.open(built)
    assert "upgrade Quintet" in _said(caught.value, Conflict, "index_mismatch", 4)
    assert _bytes(built) == before


def test_a_file_where_the_index_folder_should_be_is_left_as_it_is(tmp_path: Path) -> None:
    place = tmp_path / "index"
    place.write_text("my notes", "utf-8")
    with pytest.raises(QuintetError) as caught:
        quintet.open(place)
    _said(caught.value, StoreError, "store_failed", 6)
    assert place.read_text("utf-8") == "my notes"


def test_an_index_cannot_be_made_on_a_read_only_disk(tmpfs: "Mounts") -> None:
    disk = tmpfs.make("disk", SMALL)
    tmpfs.remount(disk, "ro")
    with pytest.raises(QuintetError) as caught:
        quintet.open(disk / "index")
    assert "check the" in _said(caught.value, StoreError, "store_failed", 6)
    assert list(disk.iterdir()) == []


def test_a_disk_that_becomes_read_only_is_searched_and_loses_nothing(tmpfs: "Mounts", tmp_path: Path) -> None:
    disk = tmpfs.make("disk", "20m")
    files = _corpus(tmp_path / "files", 20)
    with quintet.open(disk / "index", embedder="hashing") as index:
        index.sync([files])
        before = index.status().state_root
    tmpfs.remount(disk, "ro")
    (files / "new.txt").write_text("something new\n", "utf-8")
    with quintet.open(disk / "index") as index:
        with pytest.raises(QuintetError) as caught:
            index.sync()
        assert "check the disk and the permissions" in _said(caught.value, StoreError, "store_failed", 6)
        assert index.search("word1", mode="hybrid").body["results"]
        assert all(check.ok for check in index.doctor())
        assert index.status().state_root == before
        assert index.memory.recall("word1").status == "never_indexed"
        with pytest.raises(StoreError):
            index.memory.remember("word1")
    tmpfs.remount(disk, "rw")
    with quintet.open(disk / "index") as index:
        assert index.status().state_root == before
        assert index.sync().indexed == 1


def test_a_full_disk_is_named_what_was_committed_stays_and_with_room_the_run_completes(
    tmpfs: "Mounts", tmp_path: Path
) -> None:
    files = _corpus(tmp_path / "files", 600)
    disk = tmpfs.make("disk", SMALL)
    with (
        pytest.raises(QuintetError) as caught,
        quintet.open(disk / "index", "hashing", batch_files=5) as index,
    ):
        index.sync([files])
    assert "disk" in _said(caught.value, StoreError, "store_failed", 6)
    assert "full; free some space" in caught.value.message

    tmpfs.remount(disk, "size=60m")
    with quintet.open(disk / "index", "hashing", batch_files=5) as index:
        kept = index.status().files
        assert 0 < kept < 600
        assert all(check.ok for check in index.doctor() if check.name != "vectors")
        report = index.sync()
        assert (report.indexed, report.skipped) == (600 - kept, kept)
        whole = index.status().state_root
    with quintet.open(tmp_path / "undisturbed", "hashing") as index:
        index.sync([files])
        assert index.status().state_root == whole


def test_a_disk_that_fills_at_any_moment_gives_a_store_error_and_a_sound_index(
    tmpfs: "Mounts", tmp_path: Path
) -> None:
    files = _corpus(tmp_path / "files", 30)
    for kilobytes in range(40, 1_000, 60):
        disk = tmpfs.make(f"disk{kilobytes}", f"{kilobytes}k")
        try:
            with quintet.open(disk / "index", "hashing", batch_files=3) as index:
                index.sync([files])
                index.search("word1 word2")
        except QuintetError as error:
            assert "full" in _said(error, StoreError, "store_failed", 6)
        tmpfs.remount(disk, "size=20m")
        with quintet.open(disk / "index", "hashing") as index:
            index.sync([files])
            assert all(check.ok for check in index.doctor())


def test_a_copied_index_answers_like_the_original(built: Path, tmp_path: Path) -> None:
    with quintet.open(built) as index:
        answer = index.search("word1 word2 word3").wire()
    shutil.copytree(built, tmp_path / "copy")
    with quintet.open(tmp_path / "copy") as index:
        assert index.search("word1 word2 word3").wire() == answer


def test_an_older_database_beside_newer_vector_files_answers_from_the_database(tmp_path: Path) -> None:
    """A backup brought back, or a power cut that took the last transactions: the files run ahead."""
    files = _corpus(tmp_path / "files", 10)
    folder = tmp_path / "index"
    with quintet.open(folder, "hashing") as index:
        index.sync([files])
    older = (folder / "index.db").read_bytes()
    with quintet.open(folder) as index:
        (files / "lost.txt").write_text("a lantern that nobody will remember\n", "utf-8")
        index.sync()
        index.search("lantern", mode="semantic")  # writes the vector files
    (files / "lost.txt").unlink()
    (folder / "index.db").write_bytes(older)
    with quintet.open(folder) as index:
        (files / "found.txt").write_text("the harbour at dawn\n", "utf-8")
        index.sync()
        (best, *_) = index.search("harbour dawn", mode="semantic", limit=1).body["results"]
        assert best["path"] == "found.txt"


def _memory_check(index: quintet.Index) -> HealthCheck:
    (found,) = [check for check in index.doctor() if check.name == "memory"]
    return found


def _garbage(place: Path) -> None:
    place.write_bytes(random.Random(1).randbytes(10_000))


def _few_bytes(place: Path) -> None:
    place.write_bytes(b"garbage")


@pytest.mark.parametrize("spoil", [_garbage, _few_bytes, Path.mkdir])
def test_the_doctor_looks_at_the_memory_and_says_what_to_do(
    built: Path, spoil: Callable[[Path], None]
) -> None:
    spoil(built / "memory.db")
    with quintet.open(built, "hashing") as index:
        check = _memory_check(index)
        assert not check.ok
        assert "move it away and import the last export" in check.message
        with pytest.raises(StoreError) as caught:
            index.memory.export()
        assert "permissions" not in check.message + caught.value.message


def test_the_doctor_leaves_a_memory_that_is_not_there_alone(built: Path) -> None:
    with quintet.open(built, "hashing") as index:
        assert _memory_check(index).ok
        assert not (built / "memory.db").exists()
        index.memory.remember("one")
        assert _memory_check(index).message == "1 memories, all searchable"


def test_the_doctor_counts_memories_that_cannot_be_found(built: Path) -> None:
    with quintet.open(built, "hashing") as index:
        index.memory.remember("one")
    connection = apsw.Connection(str(built / "memory.db"))
    connection.execute("DELETE FROM text_docsize")
    connection.close()
    with quintet.open(built, "hashing") as index:
        check = _memory_check(index)
        assert (check.ok, "0 of 1 chunks are searchable" in check.message) == (False, True)


def test_vectors_that_a_database_put_back_never_had_are_not_taken_for_those_that_come(tmp_path: Path) -> None:
    folder, notes = tmp_path / "index", tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("alpha text", "utf-8")
    with quintet.open(folder, embedder="hashing") as index:
        index.sync([notes])
        index.search("alpha")
    shutil.copy(folder / "index.db", tmp_path / "kept.db")
    (notes / "b.md").write_text("bananas and cherries", "utf-8")
    with quintet.open(folder, embedder="hashing") as index:
        index.sync()
        index.search("bananas")
    (notes / "b.md").unlink()
    shutil.copy(tmp_path / "kept.db", folder / "index.db")
    with quintet.open(folder, embedder="hashing") as index:
        index.search("alpha")
        (notes / "c.md").write_text("zebras in the zoo", "utf-8")
        index.sync()
        found: Any = index.search("zebras in the zoo", mode="semantic").body["results"]
        assert found[0]["path"] == "c.md" and found[0]["score"] > 0.9
        assert all(check.ok for check in index.doctor())
