"""An index has a folder of its own: the ignore file in it hides everything."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import quintet
from quintet.errors import NotFound, UsageError
from quintet.storage.sqlite.database import Database


def test_a_folder_that_others_use_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("mine", "utf-8")
    with pytest.raises(UsageError, match=r"'notes\.md'.*\.quintet"):
        quintet.open(tmp_path, None)
    assert [entry.name for entry in tmp_path.iterdir()] == ["notes.md"]


def test_an_empty_folder_and_the_root_of_a_disk_are_taken(tmp_path: Path) -> None:
    (tmp_path / "lost+found").mkdir()
    quintet.open(tmp_path, None).close()
    assert (tmp_path / "index.db").is_file()


def test_the_rest_of_an_index_whose_database_was_moved_away_is_taken(tmp_path: Path) -> None:
    with quintet.open(tmp_path / "index", None) as index:
        index.memory.remember("the cache lives for an hour")
    (tmp_path / "index" / "index.db").unlink()
    with quintet.open(tmp_path / "index", None) as index:
        assert "the cache lives for an hour" in str(index.memory.recall("cache").body)


def test_the_rest_of_an_index_is_known_where_text_has_other_line_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = Path.write_text

    def as_on_windows(self: Path, text: str, *given: Any, newline: str | None = None) -> int:
        return plain(self, text, *given, newline="\r\n" if newline is None else newline)

    monkeypatch.setattr(Path, "write_text", as_on_windows)
    quintet.open(tmp_path / "index", None).close()
    (tmp_path / "index" / "index.db").unlink()
    quintet.open(tmp_path / "index", None).close()
    assert (tmp_path / "index" / "index.db").is_file()


def test_an_index_that_another_process_makes_meanwhile_is_no_stranger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = Path.iterdir

    def made_first(folder: Path) -> Iterator[Path]:
        monkeypatch.undo()
        Database(tmp_path / "index.db").create()
        return iter(listed(folder))

    monkeypatch.setattr(Path, "iterdir", made_first)
    quintet.open(tmp_path, None).close()
    assert (tmp_path / ".gitignore").is_file()


def test_a_memory_is_made_while_another_process_writes_the_ignore_file(tmp_path: Path) -> None:
    with quintet.open(tmp_path / "index", None) as index:
        (tmp_path / "index" / ".gitignore").write_bytes(b"")
        assert index.memory.remember("the cache lives for an hour").id


@pytest.mark.parametrize("name", ["", "a\0b"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="name one"):
        quintet.open(name)


def test_whoever_names_the_folder_around_an_index_is_told_of_it(tmp_path: Path) -> None:
    quintet.open(tmp_path / ".quintet", None).close()
    with pytest.raises(NotFound, match=r"there is one in .*\.quintet"):
        quintet.open(tmp_path, create=False)


@pytest.mark.parametrize("text_index", ["fts5", "tantivy"])
def test_a_closed_index_has_no_file_mapped(tmp_path: Path, text_index: str) -> None:
    """Windows would neither move nor delete it."""
    maps = Path("/proc/self/maps")
    if not maps.is_file():
        pytest.skip("mapped files can be listed on Linux only")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# Title\n\na word\n", "utf-8")
    index = quintet.open(tmp_path / "index", "hashing", text_index=text_index)
    index.sync([tmp_path / "notes"])
    assert index.search("word").body["results"]
    assert str(tmp_path) in maps.read_text("utf-8")
    index.close()
    assert str(tmp_path) not in maps.read_text("utf-8")


@pytest.mark.parametrize("precious", [False, True])
def test_only_what_nobody_could_build_again_waits_for_the_drive_itself(
    tmp_path: Path, precious: bool
) -> None:
    database = Database(tmp_path / "some.db", precious=precious)
    database.create()
    with database.writing() as connection:
        assert connection.pragma("fullfsync") == precious
    database.close()
