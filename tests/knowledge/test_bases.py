"""Knowledge bases themselves: made, listed, archived and deleted, whole or not at all."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import quintet
from knowledge.answers import ids
from quintet.embed.hashing import HashingEmbedder
from quintet.errors import Conflict, LimitError, NotFound, StoreError, UsageError
from quintet.filters.fields import BUILT_IN
from quintet.knowledge import KnowledgeBase
from quintet.knowledge import bases as bases_module


def test_a_new_base_is_ready_and_empty(index: quintet.Index) -> None:
    index.knowledge.create("product_docs", "Docs", [{"name": "year", "type": "int"}])
    (told,) = index.knowledge.list()
    assert {**told, "created_ms": 0} == {
        "id": "product_docs",
        "index": "kb_product_docs",
        "title": "Docs",
        "state": "ready",
        "archived": False,
        "created_ms": 0,
        "properties": [{"name": "year", "type": "int"}],
        "documents": 0,
        "chunks": 0,
        "embedded": 0,
        "sources": [],
    }
    assert index.search("x", "knowledge", index="kb_product_docs", mode="keyword").status == "never_indexed"


def test_a_base_is_there_after_the_index_was_closed(tmp_path: Path) -> None:
    with quintet.open(tmp_path / "index", "hashing") as index:
        index.knowledge.create("docs").put("a word", id="one")
    with quintet.open(tmp_path / "index", "hashing") as index:
        assert [one["id"] for one in index.knowledge.list()] == ["docs"]
        assert ids(index.knowledge.get("kb_docs").search("word")) == ["one"]


@pytest.mark.parametrize(
    "slug", ["", "A", "a b", "../x", "a/b", "kb_x", "default", "registry", "-a", "é", 5, None]
)
def test_a_slug_is_a_short_plain_word(index: quintet.Index, slug: Any) -> None:
    with pytest.raises(UsageError, match="slug"):
        index.knowledge.create(slug)


def test_a_slug_is_taken_once(index: quintet.Index, base: KnowledgeBase) -> None:
    with pytest.raises(Conflict, match="already") as refused:
        index.knowledge.create("docs")
    assert refused.value.code == "knowledge_base_exists"


@pytest.mark.requirement("003-META-RESERVED-SCHEMA")
@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_a_schema_that_repeats_a_built_in_field_is_refused_by_name(index: quintet.Index, name: str) -> None:
    with pytest.raises(UsageError, match=name) as refused:
        index.knowledge.create("docs", properties=[{"name": name, "type": "text"}])
    assert (refused.value.code, refused.value.details) == ("reserved_property", {"property": name})
    assert index.knowledge.list() == []


@pytest.mark.parametrize(
    "properties",
    [
        "team",
        [{"name": "team"}],
        [{"name": "team", "type": "date"}],
        [{"name": "a b", "type": "text"}],
        [{"name": 5, "type": "text"}],
        [{"name": "team", "type": "text", "more": 1}],
        [{"name": "team", "type": "text"}] * 2,
    ],
)
def test_a_schema_that_is_not_understood_is_refused(index: quintet.Index, properties: Any) -> None:
    with pytest.raises(UsageError, match="propert"):
        index.knowledge.create("docs", properties=properties)


def test_a_schema_has_only_so_many_properties(index: quintet.Index) -> None:
    many = [{"name": f"p{number}", "type": "text"} for number in range(65)]
    with pytest.raises(LimitError, match="65 properties"):
        index.knowledge.create("docs", properties=many)


@pytest.mark.requirement("003-OWN-BACKEND-KB")
@pytest.mark.parametrize("name", ["other", "kb_other", "kb_", "../docs", "kb_../docs"])
def test_an_unknown_base_is_not_found(index: quintet.Index, base: KnowledgeBase, name: str) -> None:
    for ask in (
        lambda: index.search("x", "knowledge", index=name),
        lambda: index.context("x", 100, name),
        lambda: index.knowledge.get(name),
        lambda: index.knowledge.delete(name),
    ):
        with pytest.raises(NotFound) as refused:
            ask()
        assert refused.value.code == "unknown_index"


@pytest.mark.requirement("003-OWN-BACKEND-KB")
def test_an_archived_base_answers_nothing_until_it_is_taken_back(
    index: quintet.Index, base: KnowledgeBase
) -> None:
    base.put("a word", id="one")
    index.knowledge.archive("docs")
    assert base.describe()["archived"] is True
    with pytest.raises(Conflict, match="archived") as refused:
        index.search("word", "knowledge", index="kb_docs")
    assert refused.value.code == "knowledge_base_not_ready"
    assert base.get("one")["title"] == "a word"
    index.knowledge.unarchive("docs")
    assert ids(base.search("word")) == ["one"]


def test_bases_share_nothing(index: quintet.Index, base: KnowledgeBase) -> None:
    other = index.knowledge.create("other")
    base.put("common word", id="one")
    alone = base.search("word", mode="keyword").body
    for number in range(20):
        other.put(f"common word {number}", id=f"o{number}")
    assert base.search("word", mode="keyword").body == alone  # not even statistics
    assert ids(other.search("word", filters={"document_id": "one"})) == []
    assert index.search("word", "knowledge", mode="keyword").status == "never_indexed"
    assert index.status().files == 0
    with pytest.raises(NotFound):
        other.get("one")


def test_deleting_a_base_leaves_no_byte_of_it(tmp_path: Path, index: quintet.Index) -> None:
    base = index.knowledge.create("docs", "Zirconium title")
    base.put("the zirconium lantern", id="one", metadata={"note": "zirconium"})
    base.put_file(b"zirconium again", "zirconium.txt")
    assert ids(base.search("zirconium lantern", mode="hybrid"))
    assert holds(tmp_path, b"zirconium")
    index.knowledge.delete("docs")
    assert index.knowledge.list() == []
    assert not holds(tmp_path, b"zirconium")
    assert not holds(tmp_path, b"Zirconium")
    with pytest.raises(NotFound):
        base.search("zirconium")
    again = index.knowledge.create("docs")
    assert (again.describe()["documents"], ids(again.search("zirconium", mode="keyword"))) == (0, [])
    with pytest.raises(NotFound):
        base.put("into the void")


def holds(folder: Path, word: bytes) -> bool:
    files = [one for one in folder.rglob("*") if one.is_file()]
    return any(word in one.read_bytes() or word in one.name.encode() for one in files)


def test_another_process_sees_that_a_base_is_gone_or_another(tmp_path: Path, index: quintet.Index) -> None:
    index.knowledge.create("docs").put("old word", id="one")
    with quintet.open(tmp_path / ".quintet", "hashing") as other:
        held = other.knowledge.get("docs")
        assert ids(held.search("word")) == ["one"]
        index.knowledge.delete("docs")
        with pytest.raises(NotFound):
            held.search("word")
        index.knowledge.create("docs").put("new word", id="two")
        with pytest.raises(NotFound):
            held.put("late")
        assert ids(other.knowledge.get("docs").search("word")) == ["two"]


@pytest.mark.parametrize("made_again", [False, True])
def test_what_is_put_while_its_base_is_deleted_goes_nowhere(tmp_path: Path, made_again: bool) -> None:
    class Slow(HashingEmbedder):
        """While it embeds, another process deletes the base."""

        def embed_documents(self, texts: Sequence[str]) -> Any:
            with quintet.open(tmp_path / "index", "hashing") as other:
                other.knowledge.delete("docs")
                if made_again:
                    other.knowledge.create("docs")
            return super().embed_documents(texts)

    with quintet.open(tmp_path / "index", Slow()) as index:
        base = index.knowledge.create("docs")
        with pytest.raises(NotFound) as refused:
            base.put("zirconium", id="one")
        assert refused.value.code == "unknown_index"
        assert [one["documents"] for one in index.knowledge.list()] == ([0] if made_again else [])
    assert not holds(tmp_path, b"zirconium")
    assert (tmp_path / "index" / "knowledge" / "docs").exists() == made_again


def test_what_was_half_made_or_half_deleted_goes_with_the_next_opening(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    with quintet.open(folder, "hashing") as index:
        index.knowledge.create("docs").put("kept word", id="one")
    place = folder / "knowledge"
    for name in (".new-a-1", ".gone-b-2"):
        shutil.copytree(place / "docs", place / name)
    (place / "nameless").mkdir()
    with quintet.open(folder, "hashing") as index:
        assert [one["id"] for one in index.knowledge.list()] == ["docs"]
        assert {one.name for one in place.iterdir() if one.is_dir()} == {"docs"}
        assert ids(index.knowledge.get("docs").search("word")) == ["one"]


def test_a_base_whose_registration_is_lost_keeps_its_documents_until_it_is_back(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    with quintet.open(folder, "hashing") as index:
        index.knowledge.create("docs").put("kept word", id="one")
    registration = folder / "knowledge" / "docs" / "base.json"
    saved = registration.read_bytes()
    registration.unlink()
    with quintet.open(folder, "hashing") as index:
        assert index.knowledge.list() == []
        with pytest.raises(Conflict, match="registration is missing"):
            index.knowledge.create("docs")
    registration.write_bytes(saved)
    with quintet.open(folder, "hashing") as index:
        assert ids(index.knowledge.get("docs").search("word")) == ["one"]


def test_only_so_many_bases_are_kept_open_and_one_in_hand_goes_on(
    index: quintet.Index, base: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bases_module, "MAX_OPEN", 2)
    base.put("word of the first", id="first")
    assert ids(base.search("word")) == ["first"]
    for number in range(5):
        index.knowledge.create(f"other{number}").put("word of another", id="other")
    assert open_files(tmp_path / ".quintet" / "knowledge" / "docs") == 0
    assert open_files(tmp_path / ".quintet" / "knowledge" / "other0") == 0
    assert open_files(tmp_path / ".quintet" / "knowledge" / "other4") > 0
    base.put("word of mine", id="second")
    assert sorted(ids(base.search("word"))) == ["first", "second"]
    assert open_files(tmp_path / ".quintet" / "knowledge" / "docs" / "index.db") == 0
    assert ids(index.knowledge.get("other0").search("word")) == ["other"]


def open_files(place: Path) -> int:
    links = Path("/proc/self/fd")
    if not links.is_dir():
        pytest.skip("open files can be counted on Linux only")
    return sum(str(place.resolve()) in str(one.readlink()) for one in links.iterdir() if one.is_symlink())


@pytest.fixture
def _open_folders_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows, which moves no folder in which a file is open or mapped."""
    rename = Path.rename

    def refusing(self: Path, target: Path) -> Path:
        if open_files(self) or str(self) in Path("/proc/self/maps").read_text("utf-8"):
            raise PermissionError(13, "Access is denied")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refusing)


@pytest.mark.usefixtures("_open_folders_stay")
def test_a_base_that_was_searched_can_be_deleted_where_open_folders_cannot_be_moved(
    tmp_path: Path, index: quintet.Index, base: KnowledgeBase
) -> None:
    base.put("a zirconium word", id="one")
    assert ids(base.search("word")) == ["one"]
    index.knowledge.delete("docs")
    assert (index.knowledge.list(), holds(tmp_path, b"zirconium")) == ([], False)


@pytest.mark.usefixtures("_open_folders_stay")
def test_a_base_that_another_has_open_says_so_and_stays(
    tmp_path: Path, index: quintet.Index, base: KnowledgeBase
) -> None:
    base.put("a word", id="one")
    with quintet.open(tmp_path / ".quintet", "hashing") as other:
        assert ids(other.knowledge.get("docs").search("word")) == ["one"]
        with pytest.raises(quintet.StoreError, match="another process has it open"):
            index.knowledge.delete("docs")
        assert ids(index.knowledge.get("docs").search("word")) == ["one"]
    index.knowledge.delete("docs")
    assert index.knowledge.list() == []


def test_a_deletion_cut_short_is_finished_later(
    tmp_path: Path, index: quintet.Index, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    base.put("zirconium", id="one")
    monkeypatch.setattr(bases_module.shutil, "rmtree", lambda *_, **__: None)
    index.knowledge.delete("docs")
    monkeypatch.undo()
    assert (index.knowledge.list(), holds(tmp_path, b"zirconium")) == ([], True)
    with quintet.open(tmp_path / ".quintet", "hashing") as later:
        assert later.knowledge.list() == []
    assert not holds(tmp_path, b"zirconium")


@pytest.mark.parametrize("file", ["base.json", "index.db"])
def test_a_damaged_base_says_so_and_the_others_answer(tmp_path: Path, file: str) -> None:
    folder = tmp_path / "index"
    with quintet.open(folder, "hashing") as index:
        index.knowledge.create("broken")
        index.knowledge.create("whole").put("a word", id="one")
    for one in (folder / "knowledge" / "broken").glob(f"{file}*"):
        one.write_bytes(b"no such thing")
    with quintet.open(folder, "hashing") as index:
        first, second = index.knowledge.list()
        assert (first["id"], first["state"], second["state"]) == ("broken", "error", "ready")
        assert file in str(first["error"])
        assert ids(index.knowledge.get("whole").search("word")) == ["one"]
        with pytest.raises(quintet.StoreError):
            index.knowledge.get("broken")


def test_no_index_run_touches_a_base(index: quintet.Index, base: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("a word in a folder", "utf-8")
    base.put("a word in a base", id="one")
    index.sync([tmp_path / "notes"])
    index.clear()
    index.sync([tmp_path])
    assert ids(base.search("word")) == ["one"]
    assert [one.chunk.content for one in index.get("notes/a.md")] == ["a word in a folder"]


def test_a_place_that_cannot_be_written_is_a_failed_store(index: quintet.Index) -> None:
    base = index.knowledge.create("docs")
    place = index.folder / "knowledge"
    (index.folder.parent / "more").mkdir()
    for lock in (place / bases_module.LOCK, place / "docs" / "sync.lock"):
        lock.unlink(missing_ok=True)
        lock.mkdir()
    for change in (lambda: index.knowledge.create("more"), lambda: index.knowledge.archive("docs")):
        with pytest.raises(StoreError, match="check the disk"):
            change()
    (place / bases_module.LOCK).rmdir()
    source = base.add_source(index.folder.parent / "more")
    with pytest.raises(StoreError, match="check the disk"):
        base.sync_source(str(source["id"]))
