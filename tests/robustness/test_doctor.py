"""The doctor finds what was altered in an index, and one thing that is broken does not hide the others."""

from pathlib import Path

import apsw
import pytest

import quintet
from quintet import StoreError

CHECKS = ["sqlite", "database", "text", "vectors", "graph", "tree", "matrix", "postings", "speed"]


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """The folder of a closed index of three notes."""
    notes = tmp_path / "notes"
    notes.mkdir()
    for number, animal in enumerate(("zebras", "camels", "whales")):
        (notes / f"{number}.md").write_text(f"# Note {number}\n\nprose about {animal}\n", "utf-8")
    with quintet.open(tmp_path / "index", embedder="hashing") as index:
        index.sync([notes])
        index.search("prose")
    return tmp_path / "index"


def altered(index: Path, sql: str) -> None:
    connection = apsw.Connection(str(index / "index.db"))
    connection.execute(sql)
    connection.close()


def wrong(index: quintet.Index) -> dict[str, str]:
    found = index.doctor()
    assert [check.name for check in found][: len(CHECKS)] == CHECKS
    return {check.name: check.message for check in found if not check.ok}


def test_text_that_was_altered_is_found_and_not_proved(built: Path) -> None:
    altered(built, "UPDATE contents SET content = replace(content, 'zebras', 'horses')")
    with quintet.open(built, "hashing") as index:
        found = wrong(index)
        assert "1 of 3 chunks is not what was indexed; run 'quintet index --force'" in found["text"]
        for read in (lambda: index.search("prose"), lambda: index.get("0.md")):
            with pytest.raises(StoreError, match=r"is not what was indexed.*move it away"):
                read()
        index.sync(force=True)
        assert wrong(index) == {}


def test_text_that_is_gone_is_found(built: Path) -> None:
    altered(built, "DELETE FROM contents WHERE row = 2")
    with quintet.open(built, "hashing") as index:
        assert "1 of 3 chunks" in wrong(index)["text"]


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE meta SET value = 'zz' || substr(value, 3) WHERE key = 'sketch'",
        "UPDATE meta SET value = CAST(x'ff' AS TEXT) WHERE key = 'sketch'",
    ],
)
def test_what_cannot_be_read_fails_its_own_check(built: Path, sql: str) -> None:
    altered(built, sql)
    with quintet.open(built, "hashing") as index:
        found = wrong(index)
        assert list(found) == ["tree"]
        assert "move the index away and run 'quintet index'" in found["tree"]
        (built.parent / "notes" / "new.md").write_text("more prose", "utf-8")
        with pytest.raises(StoreError, match="is damaged"):
            index.sync()


def test_a_folder_in_the_place_of_a_file_is_named(built: Path) -> None:
    (vectors,) = built.glob("vectors-*")
    (vectors / "exact.i16").unlink()
    (vectors / "exact.i16").mkdir(0o700)
    with quintet.open(built, "hashing") as index:
        found = wrong(index)
        assert list(found) == ["matrix"]
        assert "delete the folders vectors-*" in found["matrix"]
        with pytest.raises(StoreError, match=r"exact\.i16: "):
            index.search("prose")
