"""Faults that were reported once; each stays fixed."""

import os
from collections.abc import Callable
from pathlib import Path

import apsw
import numpy as np
import pytest

import quintet
from quintet.errors import StoreError, UsageError
from quintet.settings import load_settings


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


@pytest.mark.parametrize("expression", ["t* OR " * 20 + "t*", "NEAR(" + "t* " * 20 + ", 9)", "word " * 100])
def test_an_fts5_expression_that_would_take_minutes_is_refused(tmp_path: Path, expression: str) -> None:
    with (
        quintet.open(tmp_path / "index", embedder=None) as index,
        pytest.raises(UsageError, match="shorten it") as caught,
    ):
        index.search(expression, syntax="fts5")
    assert caught.value.code == "bad_query"


def test_another_chunk_size_cuts_known_files_anew(tmp_path: Path) -> None:
    folder = write(tmp_path / "notes", {"a.txt": "word " * 2000})
    with quintet.open(tmp_path / "index", embedder=None) as index:
        index.sync([folder])
    with quintet.open(tmp_path / "index", embedder=None, chunk_chars=400) as index:
        assert index.status().lag.changed == 1
        assert index.sync().indexed == 1
        again = index.status()
    with quintet.open(tmp_path / "other", embedder=None, chunk_chars=400) as index:
        index.sync([folder])
        fresh = index.status()
    assert (again.chunks, again.state_root) == (fresh.chunks, fresh.state_root)
    assert again.lag.changed == 0


@pytest.fixture
def two_roots(tmp_path: Path) -> Path:
    return write(tmp_path, {"a/docs/n.md": "one", "b/docs/n.md": "two"})


def test_forget_takes_only_the_document_of_the_folder_it_is_called_in(
    two_roots: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with quintet.open(two_roots / "index", embedder=None) as index:
        index.sync([two_roots / "a/docs", two_roots / "b/docs"])
        monkeypatch.chdir(two_roots / "b/docs")
        assert index.forget("n.md") == 1
        (left,) = index.search("one two").body["results"]  # type: ignore[misc,union-attr]
        assert left["content"] == "one"  # type: ignore[index,call-overload]


def test_forget_refuses_a_name_that_several_roots_have(two_roots: Path) -> None:
    with quintet.open(two_roots / "index", embedder=None) as index:
        index.sync([two_roots / "a/docs", two_roots / "b/docs"])
        with pytest.raises(UsageError, match="matches 2 documents"):
            index.forget("n.md")
        assert index.status().files == 2


@pytest.mark.parametrize("blank", ["", "  "])
def test_forgetting_nothing_is_refused(two_roots: Path, monkeypatch: pytest.MonkeyPatch, blank: str) -> None:
    with quintet.open(two_roots / "index", embedder=None) as index:
        index.sync([two_roots / "a/docs"])
        monkeypatch.chdir(two_roots / "a/docs")
        with pytest.raises(UsageError, match="no path was given"):
            index.forget(blank)
        assert index.status().files == 1


def test_the_order_of_paths_does_not_change_the_state(two_roots: Path) -> None:
    roots = [two_roots / "a/docs", two_roots / "b/docs"]
    states = []
    for number, order in enumerate((roots, roots[::-1])):
        with quintet.open(two_roots / f"index{number}", embedder=None) as index:
            index.sync(order)
            states.append(index.status().state_root)
    assert states[0] == states[1]


@pytest.mark.parametrize("text", ["9" * 5000, "[" * 50_000])
def test_a_setting_that_python_cannot_read_is_a_usage_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="max_terms"):
        load_settings(tmp_path, {"QUINTET_MAX_TERMS": text})
    (tmp_path / "quintet.toml").write_text(f"max_terms = {text}", "utf-8")
    with pytest.raises(UsageError):
        load_settings(tmp_path, {})


@pytest.mark.parametrize(
    "make",
    [lambda path: path.symlink_to("/dev/zero"), os.mkfifo, lambda path: path.write_bytes(b"#" * 2**20)],
)
def test_a_settings_file_that_is_no_small_file_is_refused(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    make(tmp_path / "quintet.toml")
    with pytest.raises(UsageError, match="correct or remove it"):
        load_settings(tmp_path, {})


@pytest.mark.parametrize("name", ["coarse.i8", "rows.f32", "exact.i16"])
def test_damaged_vector_files_are_made_anew(tmp_path: Path, name: str) -> None:
    folder = write(tmp_path / "notes", {f"{n}.txt": f"text number {n} about {n % 7}" for n in range(60)})
    with quintet.open(tmp_path / "index", embedder="hashing") as index:
        index.sync([folder])
        before = index.search("text about 3", mode="semantic").body
    (file,) = (tmp_path / "index").glob(f"vectors-*/{name}")
    file.write_bytes(np.random.default_rng(1).bytes(file.stat().st_size))
    with quintet.open(tmp_path / "index") as index:
        assert index.search("text about 3", mode="semantic").body == before


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE meta SET value = 'abc' WHERE key = 'generation'",
        "INSERT OR REPLACE INTO meta VALUES ('choices', '[1')",
        "UPDATE vectors SET vector = x'0102'",
        "DROP TABLE meta",
    ],
)
def test_a_damaged_database_says_what_to_do(tmp_path: Path, damage: str) -> None:
    folder = write(tmp_path / "notes", {"a.txt": "a text"})
    with quintet.open(tmp_path / "index", embedder="hashing") as index:
        index.sync([folder])
    connection = apsw.Connection(str(tmp_path / "index" / "index.db"))
    connection.execute(damage)
    connection.close()
    with pytest.raises(StoreError, match="move"), quintet.open(tmp_path / "index") as index:
        index.search("text")


def test_front_matter_cannot_set_a_reserved_field(tmp_path: Path) -> None:
    folder = write(tmp_path / "notes", {"a.md": "---\npage_number: 7\nauthor: me\n---\n\nwords\n"})
    with quintet.open(tmp_path / "index", embedder=None) as index:
        index.sync([folder])
        (call,) = index.search("words", "knowledge", search_method="keyword").body["retrieval_calls"]  # type: ignore[misc,union-attr]
    metadata = call["results"][0]["metadata"]  # type: ignore[index,call-overload]
    assert metadata["author"] == "me"
    assert "page_number" not in metadata
