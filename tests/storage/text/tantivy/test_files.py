"""The tantivy index is derived: whatever happens to its files, a search sees what the database holds."""

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import quintet
from quintet.model.text_query import TextQuery
from quintet.ports.store_files import INDEX_FILES

if TYPE_CHECKING:
    from conftest import MakeShelf, Shelf

COUNT = 130  # documents, so that two of them may be replaced before all is built anew


@pytest.fixture
def shelf(make_shelf: "MakeShelf") -> "Shelf":
    made = make_shelf("tantivy")
    made.put({f"{number:03d}.txt": f"one word{number}" for number in range(COUNT)})
    return made


def _derived(shelf: "Shelf") -> Path:
    (folder,) = shelf.store.folder.glob("tantivy-*")
    return folder


def _build(shelf: "Shelf") -> Path:
    """The folder with tantivy's own files."""
    stored = json.loads((_derived(shelf) / "state.json").read_text("utf-8"))
    return _derived(shelf) / str(stored["folder"])


def _again(shelf: "Shelf", make_shelf: "MakeShelf", text_index: str = "tantivy") -> "Shelf":
    """The same index, opened by someone who has nothing in memory."""
    return make_shelf(text_index, shelf.store.folder)


def test_a_run_leaves_an_index_that_the_next_reader_takes_as_it_is(
    shelf: "Shelf", make_shelf: "MakeShelf"
) -> None:
    build, files = _build(shelf), sorted(_build(shelf).iterdir())
    again = _again(shelf, make_shelf)
    assert again.find("word7") == ["007.txt"]
    assert _build(again) == build and sorted(build.iterdir()) == files


def test_a_small_change_is_put_in_its_place(shelf: "Shelf", make_shelf: "MakeShelf") -> None:
    build = _build(shelf)
    shelf.put({"007.txt": "seven", "new.txt": "fresh"})
    shelf.remove("008.txt")
    assert _build(shelf) == build
    for one in (shelf, _again(shelf, make_shelf)):
        assert one.find("word7") == one.find("word8") == []
        assert (one.find("seven"), one.find("fresh")) == (["007.txt"], ["new.txt"])


def test_after_many_changes_the_index_is_built_anew(shelf: "Shelf") -> None:
    build = _build(shelf)
    shelf.put({f"{number:03d}.txt": "other" for number in range(10)})
    assert _build(shelf) != build
    assert [one.name for one in _derived(shelf).iterdir() if one.is_dir()] == [_build(shelf).name]
    assert len(shelf.find("other")) == 10


def test_what_a_search_only_updated_the_writer_builds_anew(shelf: "Shelf", make_shelf: "MakeShelf") -> None:
    build = _build(shelf)
    reader = _again(shelf, make_shelf)
    with shelf.store.writer(0) as writer:
        with writer.batch():
            writer.remove("docs", [f"{number:03d}.txt" for number in range(10)])
        assert len(reader.find("one")) == len(shelf.find("one")) == COUNT - 10
        assert _build(shelf) == build
    assert _build(shelf) != build
    assert len(shelf.find("one")) == COUNT - 10


def test_a_change_that_is_no_change_of_text_leaves_the_index_alone(shelf: "Shelf") -> None:
    state = (_derived(shelf) / "state.json").read_bytes()
    with shelf.store.writer(0) as writer, writer.batch():
        writer.touch("docs", "001.txt", 1, 1, 1)
    assert shelf.find("word1") == ["001.txt"]
    assert (_derived(shelf) / "state.json").read_bytes() == state


def test_documents_whose_names_were_forgotten_are_gone(shelf: "Shelf", make_shelf: "MakeShelf") -> None:
    with shelf.store.writer(0) as writer, writer.batch():
        writer.remove("docs", ["003.txt"])
        writer.forget_names()
    for one in (shelf, _again(shelf, make_shelf)):
        assert one.find("word3") == []
        assert len(one.find("one")) == COUNT - 1


def _truncate(build: Path) -> None:
    largest = max(build.iterdir(), key=lambda file: file.stat().st_size)
    largest.write_bytes(largest.read_bytes()[:-9])


def _lose_a_file(build: Path) -> None:
    max(build.iterdir(), key=lambda file: file.stat().st_size).unlink()


def _lose_the_meta(build: Path) -> None:
    (build / "meta.json").unlink()


def _spoil_the_meta(build: Path) -> None:
    (build / "meta.json").write_text("{", "utf-8")


def _spoil_the_state(build: Path) -> None:
    (build.parent / "state.json").write_text('{"folder": "../.."}', "utf-8")


def _lose_everything(build: Path) -> None:
    shutil.rmtree(build.parent)


@pytest.mark.parametrize(
    "damage",
    [_truncate, _lose_a_file, _lose_the_meta, _spoil_the_meta, _spoil_the_state, _lose_everything],
)
def test_a_damaged_index_is_built_anew(
    shelf: "Shelf", make_shelf: "MakeShelf", damage: Callable[[Path], None]
) -> None:
    expected = shelf.scores(TextQuery(("one", "word7")))
    build = _build(shelf)
    damage(build)
    again = _again(shelf, make_shelf)
    assert again.scores(TextQuery(("one", "word7"))) == expected
    assert _build(again) != build


def test_an_update_that_was_killed_before_its_state_was_written_is_noticed(
    shelf: "Shelf", make_shelf: "MakeShelf"
) -> None:
    state = _derived(shelf) / "state.json"
    before = state.read_bytes()
    shelf.put({"007.txt": "seven"})
    state.write_bytes(before)
    again = _again(shelf, make_shelf)
    assert (again.find("word7"), again.find("seven")) == ([], ["007.txt"])
    assert len(again.find("one")) == COUNT - 1


@pytest.mark.parametrize("steps", [1, 2, 5, 9])
def test_a_process_that_was_killed_leaves_everything_whole(
    make_shelf: "MakeShelf", tmp_path: Path, steps: int
) -> None:
    script = Path(__file__).with_name("killed_tantivy.py")
    with subprocess.Popen(
        [sys.executable, str(script), str(tmp_path / "index")], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        for _ in range(steps):
            child.stdout.readline()
        child.kill()
    ours = make_shelf("tantivy", tmp_path / "index")
    words = TextQuery(("same", *(f"word{number}" for number in range(steps + 2))))
    found = ours.scores(words)
    assert len(found) == len(ours.scores(replace(words, exact_bm25=True))) > 0
    shutil.rmtree(_derived(ours))
    anew = make_shelf("tantivy", tmp_path / "index").scores(words)
    assert set(found) == set(anew)
    assert all(check.ok for check in ours.store.examine() if check.name == "tantivy")


def test_what_a_killed_build_left_is_cleared_away(shelf: "Shelf") -> None:
    left = _derived(shelf) / "3-deadbeef"
    left.mkdir()
    (left / "meta.json").write_text("{", "utf-8")
    shelf.put({f"{number:03d}.txt": "other" for number in range(10)})
    assert not left.exists()


def test_a_database_that_was_put_back_is_not_answered_from_the_newer_index(
    shelf: "Shelf", make_shelf: "MakeShelf", tmp_path: Path
) -> None:
    database = shelf.store.folder / "index.db"
    shelf.store.copy(tmp_path, INDEX_FILES)
    shelf.put({"007.txt": "seven"})
    shelf.store.close()
    for file in shelf.store.folder.glob("index.db*"):
        file.unlink()
    shutil.copy(tmp_path / "index.db", database)
    again = _again(shelf, make_shelf)
    assert (again.find("word7"), again.find("seven")) == (["007.txt"], [])
    again.put({"007.txt": "eight"})  # the same generation a second time, with another text
    last = _again(shelf, make_shelf)
    assert (last.find("seven"), last.find("eight")) == ([], ["007.txt"])


def test_an_older_snapshot_sees_its_own_texts(shelf: "Shelf", make_shelf: "MakeShelf") -> None:
    reader = _again(shelf, make_shelf)
    with reader.store.snapshot() as snapshot:
        assert snapshot.catalog.counts().chunks == COUNT
        shelf.put({"007.txt": "seven"})
        assert len(snapshot.text.search(TextQuery(("word7",)), 5)) == 1
        assert snapshot.text.search(TextQuery(("seven",)), 5) == []
    assert reader.find("seven") == ["007.txt"]


def _find(shelf: "Shelf", found: list[list[str]]) -> None:
    found.append(shelf.find("word7"))


def test_several_may_build_at_once(shelf: "Shelf", make_shelf: "MakeShelf") -> None:
    shutil.rmtree(_derived(shelf))
    readers = [_again(shelf, make_shelf) for _ in range(3)]
    found: list[list[str]] = []
    threads = [threading.Thread(target=_find, args=(one, found)) for one in readers for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [["007.txt"]] * 6
    assert _build(shelf).is_dir()


def test_the_index_goes_when_the_setting_goes_back(shelf: "Shelf", make_shelf: "MakeShelf") -> None:
    assert _derived(shelf).is_dir()
    back = _again(shelf, make_shelf, "fts5")
    assert back.find("word7") == ["007.txt"]
    back.put({"007.txt": "seven"})
    assert not list(shelf.store.folder.glob("tantivy-*"))


def test_the_doctor_finds_a_damaged_file_and_says_what_to_do(shelf: "Shelf", make_shelf: "MakeShelf") -> None:
    (sound,) = [check for check in shelf.store.examine() if check.name == "tantivy"]
    assert sound.ok and sound.message == f"{COUNT} chunks, as in the database"
    largest = max(_build(shelf).iterdir(), key=lambda file: file.stat().st_size)
    data = bytearray(largest.read_bytes())
    data[len(data) // 2] ^= 1
    largest.write_bytes(data)
    (wrong,) = [check for check in shelf.store.examine() if check.name == "tantivy"]
    assert not wrong.ok
    assert f"delete {_derived(shelf)}: it is rebuilt" in wrong.message
    shutil.rmtree(_derived(shelf))
    assert all(check.ok for check in _again(shelf, make_shelf).store.examine() if check.name == "tantivy")


def test_the_setting_chooses_it_and_contracts_that_name_fts5_keep_its_scores(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for number in range(20):
        (notes / f"{number}.txt").write_text(f"cache {'word ' * number} number{number}\n", "utf-8")
    answers = {}
    for name in ("fts5", "tantivy"):
        with quintet.open(tmp_path / name, embedder=None, text_index=name) as index:
            index.sync([notes])
            promised = index.search("cache word", contract="rifflux", mode="lexical").body
            ours = index.search("cache word", mode="lexical").answer
            assert ours is not None
            answers[name] = promised, [item.evidence["lexical"].raw for item in ours.ranked]
            assert bool(list(index.folder.glob("tantivy-*"))) == (name == "tantivy")
    assert answers["fts5"][0] == answers["tantivy"][0]
    assert answers["fts5"][1] != answers["tantivy"][1]


def test_an_unknown_text_index_is_refused(tmp_path: Path) -> None:
    with pytest.raises(quintet.UsageError, match="text_index is 'lucene'; it must be one of: fts5, tantivy"):
        quintet.open(tmp_path / "index", text_index="lucene")


def test_a_receipt_names_tantivy_where_it_scored_the_answer(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for name, text in {"a.txt": "a cache", "b.txt": "some text"}.items():
        (notes / name).write_text(text, "utf-8")
    with quintet.open(tmp_path / "index", embedder=None, text_index="tantivy") as index:
        index.sync([notes])
        _, ours = index.receipts.search("cache", mode="lexical")
        _, promised = index.receipts.search("cache", contract="rifflux", mode="lexical")
        assert index.receipts.verify(ours).identical
    with quintet.open(tmp_path / "index", embedder=None) as index:
        verdict = index.receipts.verify(ours)
        assert "another tokenizer" in verdict.differences[0] and "tantivy" in verdict.differences[0]
        assert index.receipts.verify(promised).identical
