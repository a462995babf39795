"""The postings of a large run are written beside it; whatever becomes of that process, they are written."""

import json
import sys
from pathlib import Path

import pytest

import quintet
from quintet.stores.sqlite import compacting, postings_view
from quintet.stores.sqlite.postings_view import PostingsViews

CHUNKS = 600  # more than are analysed without a file


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postings_view, "BESIDE", CHUNKS)


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
    monkeypatch.setattr(postings_view, "write", None)  # here it would raise
    with quintet.open(tmp_path / "index", "hashing") as index:
        index.sync([notes])
        (file,) = (tmp_path / "index").glob("text-*")
        assert file.suffix == ".postings"
        assert sound(index)
        assert index.search("lantern 599", "rifflux", mode="lexical").body["count"] == 10


def test_a_small_run_starts_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, notes: Path) -> None:
    monkeypatch.setattr(postings_view, "BESIDE", CHUNKS + 1)
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

    def stop(stage: str, done: int, total: int) -> None:
        if stage == "embed":
            raise KeyboardInterrupt

    with quintet.open(tmp_path / "index", "hashing") as index:
        with pytest.raises(KeyboardInterrupt):
            index.sync([notes], progress=stop)
        monkeypatch.undo()
        index.sync([notes])
        assert sound(index)


def test_what_changed_since_the_file_decides_whether_there_is_much_to_do(tmp_path: Path, notes: Path) -> None:
    with quintet.open(tmp_path / "index", "none") as index:
        index.sync([notes])
        (notes / "more.txt").write_text("One more.\n")
        index.sync([notes])
        database = compacting.Database(tmp_path / "index" / "index.db")
        with database.reading() as connection:
            assert not PostingsViews(tmp_path / "index").much_to_do(connection)
        database.close()
        for file in (tmp_path / "index").glob("text-*"):
            file.unlink()
        with compacting.Database(tmp_path / "index" / "index.db").reading() as connection:
            assert PostingsViews(tmp_path / "index").much_to_do(connection)
