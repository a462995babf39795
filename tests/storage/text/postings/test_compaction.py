"""The postings of a large run are written beside it; whatever becomes of that process, they are written."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

import quintet
from processes.waiting import gone
from quintet.model.documents import Chunk, Document
from quintet.ports.reading import Root
from quintet.ports.writing import Entry
from quintet.storage.sqlite import writer as writing
from quintet.storage.sqlite.database import Database
from quintet.storage.sqlite.store import SqliteStore
from quintet.storage.text.postings import cache as postings_cache
from quintet.storage.text.postings import compaction as compacting
from quintet.storage.text.postings.cache import PostingsCache

CHUNKS = 600  # more than are analysed without a file


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postings_cache, "BESIDE", CHUNKS)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    records = ({"text": f"Lantern number {number} burns for {number * 7} hours."} for number in range(CHUNKS))
    (folder / "notes.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
    return folder


def sound(index: quintet.Index) -> bool:
    return all(check.ok for check in index.doctor())


def test_another_process_writes_them(tmp_path: Path, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postings_cache, "write", None)  # here it would raise
    with quintet.open(tmp_path / "index", "hashing") as index:
        index.sync([notes])
        (file,) = (tmp_path / "index").glob("text-*")
        assert file.suffix == ".postings"
        assert sound(index)
        assert index.search("lantern 599", "rifflux", mode="lexical").body["count"] == 10


def test_it_follows_the_first_run_of_an_index(
    tmp_path: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither process analyses text behind the run: there, it would raise."""
    child = (
        "import sys; from quintet.storage.text.postings import compaction as c; c.PostingsCache.view = None; "
        "c.main(sys.argv[1], *map(c.Path, sys.argv[2:]))"
    )
    monkeypatch.setattr(compacting, "COMMAND", (sys.executable, "-c", child))
    for number in range(5):
        text = "".join(f"# Part {at}\n\nThe harbour of getHarbour{number}.\n\n" for at in range(300))
        (notes / f"{number}.md").write_text(text)
    with quintet.open(tmp_path / "index", "hashing", processes=2, batch_files=2) as index:
        with monkeypatch.context() as patch:
            patch.setattr(postings_cache, "write", None)
            index.sync([notes])
        assert list((tmp_path / "index").glob("text-*.postings"))
        assert sound(index)


@pytest.mark.parametrize("command", [("no such program",), (sys.executable, "-c", "raise SystemExit(4)")])
def test_if_it_dies_while_it_follows_another_begins(
    tmp_path: Path, notes: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    commands = [command, compacting.COMMAND]

    class Noted(compacting.CompactionProcess):
        def begin(self, database: Path, folder: Path) -> None:
            monkeypatch.setattr(compacting, "COMMAND", commands.pop(0))
            super().begin(database, folder)

        @property
        def is_alive(self) -> bool:
            if len(commands) == 1 and self._process is not None:
                self._process.wait()
            return super().is_alive

    (notes / "more.txt").write_text("One more.\n")
    monkeypatch.setattr(writing, "CompactionProcess", Noted)
    monkeypatch.setattr(postings_cache, "write", None)  # here it would raise
    with quintet.open(tmp_path / "index", "hashing", processes=2) as index:
        index.sync([notes])
        assert not commands
        assert sound(index)


def test_a_run_that_never_says_that_this_was_all_does_not_wait(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "index")
    store.create()
    with store.writer(0) as writer:
        writer.expect_text()
        writer.settle()
    store.close()


def test_what_is_removed_meanwhile_is_not_in_them(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "index")
    store.create()

    def put(path: str) -> None:
        document = Document("docs", path, "", "text/plain", None, 1, 0, path)
        chunks = [
            Chunk(f"{path} {at}", document.id, at, f"{path} lantern {at}", "", 1, 1) for at in range(CHUNKS)
        ]
        with writer.batch():
            writer.put(Entry(document, tuple(chunks), 0))

    with store.writer(0) as writer:
        with writer.batch():
            writer.put_root(Root("docs", "/docs"))
        writer.expect_text()
        put("a.txt")
        put("b.txt")
        with writer.batch():
            writer.remove("docs", ["b.txt"])
        put("c.txt")  # in the rows of b
        writer.finish_text()
        writer.settle()
    assert all(check.ok for check in store.examine())
    store.close()


def test_a_small_run_starts_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, notes: Path) -> None:
    monkeypatch.setattr(postings_cache, "BESIDE", CHUNKS + 1)
    monkeypatch.setattr(compacting, "COMMAND", None)  # to start it would raise
    with quintet.open(tmp_path / "index", "none") as index:
        index.sync([notes])
        assert sound(index)


def test_nor_does_a_run_that_was_told_to_be_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, notes: Path
) -> None:
    monkeypatch.setattr(compacting, "COMMAND", None)
    with quintet.open(tmp_path / "index", "none", processes=1) as index:
        index.sync([notes])
        assert sound(index)


@pytest.mark.parametrize("command", [("no such program",), (sys.executable, "-c", "raise SystemExit(4)")])
def test_if_it_fails_the_run_writes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, notes: Path, command: tuple[str, ...]
) -> None:
    monkeypatch.setattr(compacting, "COMMAND", command)
    with quintet.open(tmp_path / "index", "none") as index:
        index.sync([notes])
        assert list((tmp_path / "index").glob("text-*.postings"))
        assert sound(index)


def test_a_run_that_is_stopped_takes_it_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, notes: Path
) -> None:
    """The process would never end by itself."""
    monkeypatch.setattr(compacting, "COMMAND", (sys.executable, "-c", "while True: pass"))
    begun = []

    class Noted(compacting.CompactionProcess):
        def begin(self, database: Path, folder: Path) -> None:
            super().begin(database, folder)
            begun.append(self.pid)

    monkeypatch.setattr(writing, "CompactionProcess", Noted)

    def stop(stage: str, done: int, total: int) -> None:
        if stage == "embed":
            raise KeyboardInterrupt

    with quintet.open(tmp_path / "index", "hashing") as index:
        with pytest.raises(KeyboardInterrupt):
            index.sync([notes], progress=stop)
        (pid,) = begun
        assert pid is not None
        assert gone(pid)
        monkeypatch.undo()
        index.sync([notes])
        assert sound(index)


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs a way to wait for a stranger's process")
@pytest.mark.parametrize("said", ["", "made.tell(0); made.finish(); "])
def test_it_ends_with_a_run_that_is_killed(tmp_path: Path, said: str) -> None:
    child = (
        "import signal, sys; from quintet.storage.text.postings import compaction as c; "
        "c.PostingsCache.compact = lambda *_: signal.pause(); c.main(sys.argv[1], *map(c.Path, sys.argv[2:]))"
    )
    code = (
        "import os, sys; from quintet.storage.text.postings import compaction as c; "
        f"c.COMMAND = (sys.executable, '-c', {child!r}); made = c.CompactionProcess(); "
        f"made.begin(c.Path({str(tmp_path / 'index' / 'index.db')!r}), c.Path({str(tmp_path)!r})); {said}"
        "print(made.pid, flush=True); os._exit(9)"
    )
    with quintet.open(tmp_path / "index", "none"):
        done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, timeout=60)
    assert done.returncode == 9
    assert gone(int(done.stdout))


def test_another_quintet_writes_nothing(tmp_path: Path, notes: Path) -> None:
    with quintet.open(tmp_path / "index", "none", processes=1) as index:
        index.sync([notes])
        for file in (tmp_path / "index").glob("text-*"):
            file.unlink()
        compacting.main("elsewhere.py", tmp_path / "index" / "index.db", tmp_path / "index")
        assert not list((tmp_path / "index").glob("text-*"))


def test_nor_does_one_that_was_put_in_the_place_of_ours(
    tmp_path: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would wait for something else to be said, and we for it."""
    with monkeypatch.context() as patch, quintet.open(tmp_path / "index", "none") as index:
        patch.setattr(compacting, "CODE", compacting.CODE + "0")
        index.sync([notes])
        assert list((tmp_path / "index").glob("text-*.postings"))
        assert sound(index)


def test_a_finished_run_is_in_the_database_itself(tmp_path: Path, notes: Path) -> None:
    """While the other process reads, SQLite leaves what is committed in its log."""
    with quintet.open(tmp_path / "index", "hashing") as index:
        index.sync([notes])
        shutil.copy(tmp_path / "index" / "index.db", tmp_path / "alone.db")
    connection = apsw.Connection(str(tmp_path / "alone.db"))
    assert connection.execute("SELECT count(*) FROM vectors").get == CHUNKS
    assert connection.execute("SELECT count(*) FROM unsettled").get == 0
    connection.close()


def test_what_changed_since_the_file_decides_whether_there_is_much_to_do(tmp_path: Path, notes: Path) -> None:
    with quintet.open(tmp_path / "index", "none") as index:
        index.sync([notes])
        (notes / "more.txt").write_text("One more.\n")
        index.sync([notes])
        database = Database(tmp_path / "index" / "index.db")
        with database.reading() as connection:
            assert not PostingsCache(tmp_path / "index").much_to_do(connection)
            for file in (tmp_path / "index").glob("text-*"):
                file.unlink()
            assert PostingsCache(tmp_path / "index").much_to_do(connection)
        database.close()
