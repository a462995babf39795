"""Postings follow the database: through edits, forgetting, kills, damage and a database that was put back."""

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from quintet.model.text_query import TextQuery
from quintet.ports.health import HealthCheck
from quintet.storage.sqlite.catalog import state_of
from quintet.storage.text.postings import cache as postings_cache
from quintet.storage.text.postings import file as postings_file
from quintet.storage.text.postings.merge import SegmentStream

if TYPE_CHECKING:
    from conftest import Shelf

QUERY = TextQuery(("common", "w3", "w7"))


@pytest.fixture(autouse=True)
def _small_files_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postings_cache, "SMALL", 5)


def _texts(first: int, count: int) -> dict[str, str]:
    return {
        f"{number:03d}.txt": f"common w{number % 11} w{number % 5}" for number in range(first, first + count)
    }


def _right(shelf: "Shelf", query: TextQuery = QUERY) -> dict[str, float]:
    """What FTS5 itself says, by chunk id."""
    with shelf.store.snapshot() as snapshot:
        found = snapshot.text._connection.execute(
            "SELECT c.id, rank FROM text f JOIN chunks c ON c.row = f.rowid WHERE text MATCH ?",
            (" OR ".join(query.terms),),
        )
        return dict(found)


def _found(shelf: "Shelf", query: TextQuery = QUERY) -> dict[str, float]:
    return {hit.chunk_id: hit.raw for hit in shelf.hits(query)}


def _settle(shelf: "Shelf") -> None:
    with shelf.store.writer(0) as writer:
        writer.settle()


def _file(shelf: "Shelf") -> Path:
    (file,) = shelf.store.folder.glob("*.postings")
    return file


def _no_building(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("everything was analysed again")

    monkeypatch.setattr(postings_cache, "_everything", refused)


def test_every_edit_is_searched_at_once_and_segments_stay_few(shelf: "Shelf") -> None:
    shelf.put(_texts(0, 40))
    for number in range(30):
        shelf.put(_texts(number, 3) | {f"{number:03d}.txt": "common w3 edited"})
        shelf.remove(f"{number + 1:03d}.txt")
        assert _found(shelf) == _right(shelf)
    with shelf.store.snapshot() as snapshot:
        view = shelf.store._caches.postings.view(snapshot.text._connection)
        assert len(view.segments) <= 8


def test_a_row_that_is_used_again_is_another_chunk(shelf: "Shelf") -> None:
    shelf.put({"a.txt": "common first", "b.txt": "common second"})
    assert len(_found(shelf)) == 2
    shelf.remove("b.txt")
    shelf.put({"c.txt": "w3 third"})  # SQLite gives it the row of b.txt
    assert _found(shelf) == _right(shelf)
    assert shelf.find("third") == ["c.txt"]
    assert shelf.find("second") == []


def test_documents_whose_names_were_forgotten_are_gone(shelf: "Shelf") -> None:
    shelf.put(_texts(0, 20))
    assert len(_found(shelf)) == 20
    with shelf.store.writer(0) as writer:
        with writer.batch():
            writer.remove("docs", ["003.txt", "007.txt"])
            writer.forget_names()
        writer.settle()
    assert _found(shelf) == _right(shelf)
    with shelf.store.writer(0) as writer, writer.batch():
        writer.clear()
        writer.forget_names()
    assert _found(shelf) == {}


def test_a_run_leaves_a_file_that_the_next_process_reads(
    shelf: "Shelf", monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.put(_texts(0, 30))
    _settle(shelf)
    assert postings_file.read(_file(shelf)) is not None
    expected = _right(shelf)
    shelf.store._let_go()  # as a new process would begin
    _no_building(monkeypatch)
    assert _found(shelf) == expected
    shelf.put({"new.txt": "common w3 later"})
    assert _found(shelf) == _right(shelf)


def test_the_file_is_written_anew_when_much_has_changed(shelf: "Shelf") -> None:
    shelf.put(_texts(0, 30))
    _settle(shelf)
    before = _file(shelf).stat().st_ino
    shelf.put({"one.txt": "common"})
    _settle(shelf)
    assert _file(shelf).stat().st_ino == before, "one chunk is not worth a file"
    shelf.put(_texts(100, 20))
    _settle(shelf)
    state, segment = postings_file.read(_file(shelf)) or pytest.fail("no file")
    assert len(segment) == 51
    with shelf.store.snapshot() as snapshot:
        assert state == state_of(snapshot.text._connection)
    assert _found(shelf) == _right(shelf)


@pytest.mark.parametrize("damage", ["truncated", "header", "flipped", "empty", "other"])
def test_a_damaged_file_is_noticed_and_made_anew(shelf: "Shelf", damage: str) -> None:
    shelf.put(_texts(0, 30))
    _settle(shelf)
    file = _file(shelf)
    whole = file.read_bytes()
    spoilt = {
        "truncated": whole[: len(whole) // 2],
        "header": whole[:20] + b"\xff" + whole[21:],
        "flipped": whole[:-3000] + bytes([whole[-3000] ^ 1]) + whole[-2999:],
        "empty": b"",
        "other": os.urandom(5000),
    }
    file.write_bytes(spoilt[damage])
    assert postings_file.read(file) is None
    shelf.store._let_go()
    assert _found(shelf) == _right(shelf)
    assert postings_file.read(file) is not None


def test_a_database_that_was_put_back_is_not_answered_from_a_newer_file(
    shelf: "Shelf", tmp_path: Path
) -> None:
    shelf.put(_texts(0, 20))
    shelf.store.close()
    shutil.copy(shelf.store.folder / "index.db", tmp_path / "kept.db")
    later = type(shelf)(shelf.store.folder)
    later.put({"000.txt": "common w3 of the lost future", "001.txt": "w7"})
    _settle(later)
    assert _file(later).exists()
    later.store.close()
    for rest in ("index.db-wal", "index.db-shm"):
        (shelf.store.folder / rest).unlink(missing_ok=True)
    shutil.copy(tmp_path / "kept.db", shelf.store.folder / "index.db")

    again = type(shelf)(shelf.store.folder)
    assert _found(again) == _right(again)
    again.put({"002.txt": "common w3 of another future"})  # counts up to the same generation
    assert _found(again) == _right(again)
    assert again.find("lost") == []
    again.store.close()


def test_where_nothing_can_be_written_postings_are_kept_in_memory(
    shelf: "Shelf", monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(postings_cache, "write", full)
    shelf.put(_texts(0, 30))
    _settle(shelf)
    assert _found(shelf) == _right(shelf)
    assert list(shelf.store.folder.glob("*.postings")) == []


KILLED = """
import os, sys
from pathlib import Path
from quintet.storage.text.postings import file as postings_file
from quintet.storage.text.postings import cache as postings_cache
from quintet.ports.health import HealthCheck
from quintet.storage.sqlite.store import SqliteStore
postings_cache.SMALL = 5
os.fsync = lambda _: os._exit(9)
with SqliteStore(Path(sys.argv[1])).writer(0) as writer:
    writer.settle()
"""


def test_a_kill_while_the_file_is_written_leaves_things_whole(shelf: "Shelf") -> None:
    (shelf.store.folder / "text-of-another-index.postings").touch()
    shelf.put(_texts(0, 30))
    killed = subprocess.run([sys.executable, "-c", KILLED, str(shelf.store.folder)], check=False)
    assert killed.returncode == 9
    assert len(list(shelf.store.folder.glob("*.part"))) == 1
    assert _found(shelf) == _right(shelf)
    _settle(shelf)
    assert postings_file.read(_file(shelf)) is not None
    assert list(shelf.store.folder.glob("*.part")) == []


SPILLING = """
import os, sys
from pathlib import Path
from quintet.storage.text.postings import build as postings_build
from quintet.storage.text.postings.file import Spill
from quintet.storage.text.postings import cache as postings_cache
from quintet.storage.sqlite.store import SqliteStore
postings_cache.SMALL = 5
postings_build.AT_ONCE = 20
put, lots = Spill.put, []
def killed(self, segment):
    lots.append(put(self, segment))
    if len(lots) == 3:
        os._exit(9)
    return lots[-1]
Spill.put = killed
with SqliteStore(Path(sys.argv[1])).writer(0) as writer:
    writer.settle()
"""


def test_a_kill_between_lots_leaves_nothing_behind(shelf: "Shelf") -> None:
    shelf.put(_texts(0, 30))
    before = sorted(shelf.store.folder.iterdir())
    killed = subprocess.run([sys.executable, "-c", SPILLING, str(shelf.store.folder)], check=False)
    assert killed.returncode == 9
    left = {file.name for file in set(shelf.store.folder.iterdir()) - set(before)}
    assert all(name.startswith("index.db-") for name in left), left
    _settle(shelf)
    assert _found(shelf) == _right(shelf)


def test_the_file_of_many_lots_is_that_of_one(shelf: "Shelf", monkeypatch: pytest.MonkeyPatch) -> None:
    shelf.put(_texts(0, 40))
    _settle(shelf)
    whole = _file(shelf).read_bytes()
    _file(shelf).unlink()
    monkeypatch.setattr("quintet.storage.text.postings.build.AT_ONCE", 7)
    monkeypatch.setattr("quintet.storage.text.postings.merge.AT_ONCE", 11)
    shelf.store._let_go()
    _settle(shelf)
    assert _file(shelf).read_bytes() == whole
    assert _found(shelf) == _right(shelf)


def test_a_file_that_was_just_written_is_not_written_again(
    shelf: "Shelf", monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[object] = []

    def counting(*arguments: Any) -> None:
        written.append(arguments)
        postings_file.write(*arguments)

    monkeypatch.setattr(postings_cache, "write", counting)
    shelf.put(_texts(0, 30))
    _settle(shelf)
    assert len(written) == 1


def test_an_older_snapshot_keeps_its_own_view(shelf: "Shelf") -> None:
    shelf.put(_texts(0, 10))
    with shelf.store.snapshot() as older:
        shelf.put({"new.txt": "common w3"})
        assert len(_found(shelf)) == 11
        assert len(older.text.search(QUERY, 100)) == 10
    assert len(_found(shelf)) == 11


def test_many_threads_read_while_one_writes(shelf: "Shelf") -> None:
    shelf.put(_texts(0, 30))
    wrong: list[object] = []

    def read() -> None:
        for _ in range(20):
            with shelf.store.snapshot() as snapshot:
                found = {hit.chunk_id: hit.raw for hit in snapshot.text.search(QUERY, 1000)}
                right = snapshot.text._connection.execute(
                    "SELECT c.id, rank FROM text f JOIN chunks c ON c.row = f.rowid WHERE text MATCH ?",
                    (" OR ".join(QUERY.terms),),
                )
                if found != dict(right):
                    wrong.append(found)

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for number in range(15):
        shelf.put({f"{number:03d}.txt": f"common w{number} again"})
        _settle(shelf)
    for reader in readers:
        reader.join()
    assert wrong == []


def test_the_doctor_compares_the_postings_with_the_text(
    shelf: "Shelf", monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.put(_texts(0, 30))
    _settle(shelf)
    shelf.put({"000.txt": "common getUserName"})

    def check() -> HealthCheck:
        return next(one for one in shelf.store.examine() if one.name == "postings")

    assert check().ok
    with shelf.store.snapshot() as snapshot:
        state = state_of(snapshot.text._connection)
    _, segment = postings_file.read(_file(shelf)) or pytest.fail("no file")
    postings_file.write(
        _file(shelf), state, SegmentStream.of(segment)
    )  # an older state that says it is the present one
    shelf.store._let_go()
    assert not check().ok
    assert "text-*.postings" in check().message


def test_a_file_that_is_replaced_while_it_is_read_is_read_as_it_was_checked(
    shelf: "Shelf", monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.put({f"a{number}": f"fox run {number}" for number in range(20)})
    with shelf.store.writer(0) as writer:
        writer.settle()
    (file,) = shelf.store.folder.glob("text-*.postings")
    checked = postings_file._is_sound

    def replaced(*arguments: Any) -> bool:
        other = file.with_suffix(".other")
        other.write_bytes(bytes(file.stat().st_size))
        other.replace(file)
        return checked(*arguments)

    monkeypatch.setattr(postings_file, "_is_sound", replaced)
    found = postings_file.read(file)
    assert found is not None and b"fox" in found[1].text.terms.words()


def test_a_plain_term_and_its_family_of_endings_are_kept_apart(shelf: "Shelf") -> None:
    """Both lists are long enough to be kept, and in the first segment they are the same."""
    shelf.put({f"a{number:05}": "run" for number in range(2_500)} | {"z": "other"})
    plain, family = TextQuery(("run",)), TextQuery(("run",), stems=True)
    shelf.hits(plain)
    shelf.put({"b": "running run running"})
    for queries in ((plain, family), (family, plain)):
        found = [shelf.scores(query, 3_000) for query in queries]
        assert {len(one) for one in found} == {2_501}


def test_an_index_that_grew_by_much_is_analysed_by_way_of_the_file(
    shelf: "Shelf", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postings_cache, "IN_MEMORY", 20)
    waited = list[Path]()
    spill = postings_cache.Spill
    monkeypatch.setattr(postings_cache, "Spill", lambda folder: waited.append(folder) or spill(folder))
    shelf.put(_texts(0, 30))
    _settle(shelf)
    shelf.put(_texts(30, 15))
    assert _found(shelf) == _right(shelf)
    assert len(waited) == 1
    shelf.put(_texts(45, 30))
    assert _found(shelf) == _right(shelf)
    assert len(waited) == 2
