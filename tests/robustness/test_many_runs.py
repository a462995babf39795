"""What a run leaves behind, over many runs, through a stop and through a power cut."""

import shutil
import threading
from contextlib import suppress
from pathlib import Path

import apsw
import pytest

import quintet
from quintet.indexing import sync
from quintet.storage.vectors import matrix
from quintet.storage.vectors import writer as vector_writer

FILES = 80


def write(folder: Path, version: int, count: int = FILES) -> None:
    folder.mkdir(exist_ok=True)
    for number in range(count):
        (folder / f"{number:03d}.md").write_text(note(number, version))


def note(number: int, version: int) -> str:
    return f"# Note {number}\n\n{' '.join(f'word{number}x{nth}' for nth in range(9))} version{version}\n"


def first(index: quintet.Index, query: str) -> str:
    results = index.search(query, mode="semantic", limit=1).body["results"]
    return str(results[0]["path"])  # type: ignore[index, call-overload]


def stored(file: Path, sql: str) -> object:
    connection = apsw.Connection(str(file))
    try:
        return connection.execute(sql).get
    finally:
        connection.close()


def epoch(folder: Path) -> object:
    return stored(folder / "index.db", "SELECT value FROM meta WHERE key = 'vector_epoch'")


def test_dead_vectors_are_cleared_away_run_after_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_writer, "SPARE_VECTORS", FILES)
    epochs = set()
    with quintet.open(tmp_path / "index", "hashing") as index:
        for version in range(8):
            write(tmp_path / "notes", version)
            assert index.sync([tmp_path / "notes"]).embedded == FILES
            assert first(index, note(7, version)) == "007.md"
            epochs.add(epoch(tmp_path / "index"))
    assert len(epochs) > 1
    assert stored(tmp_path / "index" / "index.db", "SELECT max(row) FROM vectors") <= 4 * FILES  # type: ignore[operator]


def test_a_renumbering_that_was_lost_shares_no_name_with_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_writer, "SPARE_VECTORS", 0)
    write(tmp_path / "notes", 0)
    with quintet.open(tmp_path / "index", "hashing") as index:
        index.sync([tmp_path / "notes"])
    shutil.copytree(tmp_path / "index", tmp_path / "put back")
    for number in range(FILES - 3):
        (tmp_path / "notes" / f"{number:03d}.md").unlink()
    epochs = []
    for folder in (tmp_path / "index", tmp_path / "put back"):
        with quintet.open(folder, "hashing") as index:
            index.sync([tmp_path / "notes"])
        epochs.append(epoch(folder))
    assert epochs[0] != epochs[1]


def test_a_finished_run_is_in_the_database_itself_and_not_only_in_its_log(tmp_path: Path) -> None:
    write(tmp_path / "notes", 0)
    with quintet.open(tmp_path / "index", None) as index:
        for number in range(FILES):
            words = "\n\n".join(f"word{number}x{nth} " * 9 for nth in range(1_000))
            (tmp_path / "notes" / f"{number:03d}.md").write_text(words)
        index.sync([tmp_path / "notes"])
        shutil.copy(tmp_path / "index" / "index.db", tmp_path / "alone.db")
    assert stored(tmp_path / "alone.db", "SELECT count(*) FROM documents") == FILES


def test_what_was_told_as_done_is_kept_when_the_run_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sync, "PROGRESS_FILES", 10)
    write(tmp_path / "notes", 0)

    def stop(stage: str, done: int, total: int) -> None:
        if done == 20:
            raise KeyboardInterrupt

    with quintet.open(tmp_path / "index", None) as index:
        with pytest.raises(KeyboardInterrupt):
            index.sync([tmp_path / "notes"], progress=stop)
        assert index.status().files == 20
        assert index.sync([tmp_path / "notes"]).indexed == FILES - 20


def test_a_search_tells_of_a_run_that_did_not_come_to_its_end(tmp_path: Path) -> None:
    write(tmp_path / "notes", 0)
    told: dict[str, set[bool]] = {}

    def is_told() -> bool:
        return "run_unfinished" in [one["code"] for one in index.search("entirely other words").notes]

    def interrupt(stage: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    def look(stage: str, done: int, total: int) -> None:
        told.setdefault(stage, set()).add(is_told())

    with quintet.open(tmp_path / "index", "hashing", batch_files=8) as index, suppress(KeyboardInterrupt):
        index.sync([tmp_path / "notes"], progress=interrupt)
    with quintet.open(tmp_path / "index", "hashing", batch_files=8) as index:
        assert is_told()
        index.sync(progress=look)
        assert not is_told()
    assert told == {"text": {True}, "graph": {False}, "embed": {False}}


def test_a_sound_index_is_sound_however_often_it_is_asked(tmp_path: Path) -> None:
    with quintet.open(tmp_path / "index", None) as index:
        for version in range(4):
            write(tmp_path / "notes", version, 600)
            index.sync([tmp_path / "notes"])
            assert [one.message for one in index.doctor() if not one.ok] == []


def test_a_search_goes_on_while_another_brings_new_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "notes", 0, count=150)  # more than a search asks for, so that products are compared
    scan, added = matrix._products, list[str]()

    def interrupted(query: matrix.Int8, rows: matrix.Int8) -> matrix.Float64:
        products = scan(query, rows)
        if not added:
            added.append("new.md")
            (tmp_path / "notes" / "new.md").write_text("entirely other words\n")
            index.sync([tmp_path / "notes"])
            other = threading.Thread(target=lambda: added.append(first(index, "entirely other words")))
            other.start()
            other.join()
        return products

    with quintet.open(tmp_path / "index", "hashing", cache_entries=0) as index:
        index.sync([tmp_path / "notes"])
        before = first(index, note(5, 0))
        monkeypatch.setattr(matrix, "_products", interrupted)
        assert first(index, note(5, 0)) == before == "005.md"
    assert added == ["new.md", "new.md"]
