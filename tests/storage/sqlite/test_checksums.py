from pathlib import Path

import apsw
import pytest

import quintet
from quintet.storage.sqlite.checksums import row_checksum, vector_checksum

TABLES = ("documents", "chunks", "symbols", "edges", "vectors", "next_vectors")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.py").write_text(
        "def tide():\n    return wave()\n\n\ndef wave():\n    return 1\n"
    )
    (tmp_path / "notes" / "b.md").write_text("# Naïve 茶\n\nthe tide\n", "utf-8")
    with quintet.open(tmp_path / "index", "hashing") as index:
        index.sync([tmp_path / "notes"])
    return tmp_path / "index"


def test_an_index_without_checksums_gets_them_when_it_is_opened(folder: Path) -> None:
    connection = apsw.Connection(str(folder / "index.db"))
    before = {table: connection.execute(f"SELECT checksum FROM {table}").fetchall() for table in TABLES}
    for table in TABLES:
        connection.execute(f"ALTER TABLE {table} DROP COLUMN checksum")
    connection.execute("DELETE FROM meta WHERE key = 'seal'")
    connection.pragma("user_version", 6)
    connection.close()
    with quintet.open(folder) as index:
        assert [check.message for check in index.doctor() if not check.ok] == []
        assert index.search("tide").body["results"]
    connection = apsw.Connection(str(folder / "index.db"))
    after = {table: connection.execute(f"SELECT checksum FROM {table}").fetchall() for table in TABLES}
    assert after == before
    connection.close()


def test_a_file_that_was_only_touched_keeps_a_right_checksum(folder: Path) -> None:
    file = folder.parent / "notes" / "b.md"
    file.touch()
    with quintet.open(folder) as index:
        index.sync()
        assert index.search("tide").body["results"]
        assert [check.message for check in index.doctor() if not check.ok] == []


def test_a_checksum_tells_values_and_their_order_apart() -> None:
    rows = [("a", 1, None), ("a", 1, 0), (1, "a", None), ("a1", None), ("b", 1, None), (b"a", 1, None)]
    assert len({row_checksum(*row) for row in rows}) == len(rows)
    assert vector_checksum(b"text", b"\0\1") != vector_checksum(b"texu", b"\0\1")
    assert vector_checksum(b"text", b"\0\1") != vector_checksum(b"text", b"\0\3")
