"""An index has a folder of its own: the ignore file in it hides everything."""

from pathlib import Path

import pytest

import quintet
from quintet.errors import NotFound, UsageError


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


@pytest.mark.parametrize("name", ["", "a\0b"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="name one"):
        quintet.open(name)


def test_whoever_names_the_folder_around_an_index_is_told_of_it(tmp_path: Path) -> None:
    quintet.open(tmp_path / ".quintet", None).close()
    with pytest.raises(NotFound, match=r"there is one in .*\.quintet"):
        quintet.open(tmp_path, create=False)
