"""Documents of a base: put, put again, changed, listed, removed; refused one by one."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quintet
from formats.papers import lines, paper
from knowledge.answers import found, ids
from quintet.errors import Conflict, LimitError, NotFound, UsageError
from quintet.knowledge import KnowledgeBase, Outcome, Upload
from quintet.knowledge.base import MAX_DOCUMENTS


def test_the_same_document_again_changes_nothing(base: KnowledgeBase) -> None:
    first = base.put("a word", title="One", uri="https://example.com/1", metadata={"team": "core"}, id="one")
    before = base.get("one")
    again = base.put("a word", title="One", uri="https://example.com/1", metadata={"team": "core"}, id="one")
    assert (first.outcome, again.outcome, base.get("one")) == ("created", "unchanged", before)


@pytest.mark.parametrize("change", [{"title": "Two"}, {"uri": "https://a.b"}, {"metadata": {"team": "x"}}])
def test_a_document_that_says_something_else_is_updated(base: KnowledgeBase, change: Any) -> None:
    base.put("a word", title="One", id="one")
    assert base.put("a word", **{"title": "One", **change}, id="one").outcome == "updated"
    assert base.put("another", **{"title": "One", **change}, id="one").outcome == "updated"
    assert [one["id"] for one in base.documents()] == ["one"]
    assert ids(base.search("word", mode="keyword")) == []


def test_without_an_id_the_content_names_the_document(base: KnowledgeBase) -> None:
    first, again, other = base.put("a word"), base.put("a word"), base.put("a word more")
    assert first.id == again.id != other.id
    assert again.outcome == "unchanged"


def test_content_is_another_name_for_text(base: KnowledgeBase) -> None:
    assert base.put("a").id == base.put(content="a").id
    for wrong in ({}, {"text": "a", "content": "b"}, {"text": b"a"}):
        with pytest.raises(UsageError, match="give either text or content"):
            base.put(**wrong)


def test_the_name_or_the_media_type_says_how_a_file_is_read(base: KnowledgeBase) -> None:
    page = b"<html><title>Page</title><body><p>shown</p><script>hidden</script></body></html>"
    base.put_file(page, "a.html", id="name")
    base.put_file(page, "a", mime="text/html; charset=utf-8", id="mime")
    base.put_file(page, "C:\\docs\\b.txt", id="text")
    kinds = {str(one["id"]): (one["mime_type"], one["source_name"]) for one in base.documents()}
    assert kinds["name"] == ("text/html", "a.html")
    assert kinds["mime"] == ("text/html", "a")
    assert kinds["text"] == ("text/plain", "b.txt")
    assert ids(base.search("hidden", mode="keyword")) == ["text"]


def test_a_file_is_taken_by_its_path(base: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "leave.pdf").write_bytes(paper(lines("first page"), lines("second page"), title="Leave"))
    outcome = base.put_file(tmp_path / "leave.pdf")
    assert (outcome.outcome, outcome.name, outcome.chunks) == ("created", "leave.pdf", 2)
    told = base.get(str(outcome.id))
    assert (told["title"], told["metadata"]) == ("Leave", {"page_count": 2})
    assert [one["metadata"]["page_number"] for one in found(base.search("second", mode="keyword"))] == [2]


@pytest.mark.parametrize("id", ["", "a b", "../x", "a/b", "x" * 129, "é", 5])
def test_an_id_fits_into_an_address(base: KnowledgeBase, id: Any) -> None:
    with pytest.raises(UsageError, match="the id is"):
        base.put("a", id=id)


@pytest.mark.requirement("003-REF-NO-LOCAL-PATH")
@pytest.mark.parametrize(
    "uri", ["file:///etc/hosts", "FILE://x", "/etc/hosts", "C:\\x", "~/x", "\\\\host\\x"]
)
def test_no_document_can_name_a_place_on_a_disk(base: KnowledgeBase, uri: str) -> None:
    with pytest.raises(UsageError, match="uri"):
        base.put("a", uri=uri)


@pytest.mark.parametrize("uri", ["", "a b", "javascript:alert(1)", "DATA:text/html,x", "x" * 2_001, 5])
def test_an_address_can_be_read(base: KnowledgeBase, uri: Any) -> None:
    with pytest.raises((UsageError, LimitError), match="uri"):
        base.put("a", uri=uri)


def test_metadata_is_checked_against_the_schema(index: quintet.Index) -> None:
    kinds = {"t": "text", "n": "number", "i": "int", "b": "boolean"}
    base = index.knowledge.create("typed", properties=[{"name": k, "type": v} for k, v in kinds.items()])
    base.put("fine", metadata={"t": "x", "n": 1.5, "i": 2, "b": True, "free": [1]})
    base.put("fine too", metadata={"n": 2})
    for name, value in {"t": 5, "n": "5", "i": 1.5, "b": 1}.items():
        with pytest.raises(UsageError, match=f"metadata {name} is") as refused:
            base.put("wrong", metadata={name: value})
        assert refused.value.details == {"property": name}
    for name in ("n", "i"):
        with pytest.raises(UsageError):
            base.put("wrong", metadata={name: True})
    with pytest.raises(UsageError, match="metadata i is"):
        base.put_file(b"---\ni: many\n---\ntext", "front.md")


@pytest.mark.parametrize("metadata", ["x", {"x": object()}, {"x": float("nan")}, {"_knowledge_base": {}}])
def test_metadata_that_is_no_object_of_values_is_refused(base: KnowledgeBase, metadata: Any) -> None:
    with pytest.raises(UsageError, match="metadata"):
        base.put("a", metadata=metadata)


def test_what_was_given_stands_over_what_the_file_says_and_built_in_over_both(base: KnowledgeBase) -> None:
    text = b"---\ncolour: red\nteam: file\nsource_type: forged\n_knowledge_base: {uri: forged}\n---\na word\n"
    base.put_file(text, "a.md", metadata={"team": "core", "document_id": "forged"}, id="one")
    (result,) = found(base.search("word"))
    assert result["metadata"] == {
        "colour": "red",
        "team": "core",
        "knowledge_base_id": "docs",
        "document_id": "one",
        "chunk_index": 0,
        "title": "a",
        "source_type": "upload",
        "source_name": "a.md",
        "uri": None,
        "source_id": None,
        "source_path": None,
        "managed_by_source": False,
    }


def test_of_several_documents_those_that_cannot_be_read_are_told_and_the_rest_goes_in(
    base: KnowledgeBase,
) -> None:
    outcomes = base.put_many(
        [
            Upload(b"a fine word", "fine.txt", id="one"),
            Upload(b"%PDF-1.7 torn", "torn.pdf"),
            Upload(b"\0\1\2", "binary.txt", id="bin"),
            Upload(b"   ", "blank.txt"),
            Upload(b"x", "bad.txt", id="a b"),
            Upload(b"another word", "fine.txt", id="two"),
            Upload(b"another word", "fine.txt", id="two"),
        ]
    )
    assert [one.outcome for one in outcomes] == [
        *("created", "refused", "refused", "refused", "refused", "created", "unchanged")
    ]
    assert {one.code for one in outcomes[1:4]} == {"unreadable_document"}
    assert outcomes[2] == Outcome(
        "bin", "refused", "binary.txt", 0, "unreadable_document", "the document cannot be read: binary"
    )
    assert {str(one["id"]) for one in base.documents()} == {"one", "two"}


def test_too_large_and_too_many_are_said(tmp_path: Path) -> None:
    with quintet.open(tmp_path / "index", None, max_file_bytes=100) as index:
        base = index.knowledge.create("docs")
        for put in (lambda: base.put("x" * 101), lambda: base.put_file(b"x" * 101, "a.txt")):
            with pytest.raises(LimitError, match="at most 100") as refused:
                put()
            assert refused.value.code == "too_large"
        (tmp_path / "big.txt").write_bytes(b"x" * 101)
        with pytest.raises(LimitError, match="more than 100"):
            base.put_file(tmp_path / "big.txt")
        assert base.put_many([Upload(b"x" * 101, "a.txt")])[0].code == "too_large"
        with pytest.raises(LimitError) as refused:
            base.put_many([Upload(b"x")] * (MAX_DOCUMENTS + 1))
        assert refused.value.code == "too_many"


def test_documents_are_listed_page_by_page(base: KnowledgeBase) -> None:
    base.put_many([Upload(f"text {number}".encode(), id=f"d{number}") for number in range(7)])
    pages, after = [], None
    while page := base.documents(after, limit=3):
        pages.append([str(one["id"]) for one in page])
        after = pages[-1][-1]
    assert pages == [["d0", "d1", "d2"], ["d3", "d4", "d5"], ["d6"]]
    with pytest.raises(UsageError, match="limit"):
        base.documents(limit=0)


def test_what_is_said_about_a_document_can_be_changed(base: KnowledgeBase) -> None:
    base.put_file(b"# Head\n\na word\n", "a.md", title="Old", metadata={"team": "core"}, id="one")
    assert base.update("one", title="New").outcome == "updated"
    told = base.get("one")
    assert (told["title"], told["metadata"], told["source_name"]) == ("New", {"team": "core"}, "a.md")
    assert base.update("one", title=None, metadata={}).outcome == "updated"
    assert (base.get("one")["title"], base.get("one")["metadata"]) == ("Head", {})
    assert base.update("one").outcome == "unchanged"


@pytest.mark.parametrize("removed", [False, True])
def test_a_change_of_the_title_does_not_undo_what_another_did_meanwhile(
    tmp_path: Path, removed: bool
) -> None:
    class Busy(Constant):
        """While it embeds, another process changes or removes the document."""

        def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
            if self.broken:
                with quintet.open(tmp_path / "other", Constant()) as other:
                    held = other.knowledge.get("docs")
                    held.delete("one") if removed else held.put("new text", id="one")
            return np.array([[1.0, 0.0] for _ in texts])

    embedder = Busy()
    with quintet.open(tmp_path / "other", embedder) as index:
        base = index.knowledge.create("docs")
        base.put("old text", id="one")
        embedder.broken = True
        with pytest.raises(Conflict, match="try again"):
            base.update("one", title="Title")
        assert [one["title"] for one in base.documents()] == ([] if removed else ["new text"])


def test_a_removed_document_is_found_by_nothing(base: KnowledgeBase, tmp_path: Path) -> None:
    base.put_file(b"a zirconium word", "a.txt", id="one")
    base.put_file(b"a zirconium word", "b.txt", id="two")
    original = base.source_file("one").location
    base.delete("one")
    assert ids(base.search("zirconium", mode="hybrid")) == ["two"]
    assert original.is_file()  # the other has the same content
    base.delete("two")
    assert (ids(base.search("zirconium", mode="hybrid")), original.exists()) == ([], False)
    for ask in (base.get, base.delete, base.update, base.source_file):
        with pytest.raises(NotFound) as refused:
            ask("one")
        assert refused.value.code == "document_not_found"


def test_the_original_of_a_document_can_be_had(base: KnowledgeBase) -> None:
    data = paper(lines("a page"))
    base.put_file(data, "a.pdf", id="file")
    base.put("a text", id="text")
    file = base.source_file("file")
    assert (file.location.read_bytes(), file.name, file.mime_type) == (data, "a.pdf", "application/pdf")
    assert base.source_file("text").location.read_bytes() == b"a text"
    base.put_file(b"%PDF but no longer", "a.txt", id="file")
    assert not file.location.exists()
    base.source_file("text").location.unlink()
    with pytest.raises(NotFound) as refused:
        base.source_file("text")
    assert refused.value.code == "source_file_not_found"


class Constant:
    """Everything means the same, unless it is broken."""

    identity, dimensions = "constant", 2

    def __init__(self) -> None:
        self.broken = False

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        if self.broken:
            raise quintet.StoreError("the embedder is away")
        return np.array([[1.0, 0.0] for _ in texts])

    def embed_query(self, text: str) -> np.ndarray:
        return np.array([1.0, 0.0])


def test_an_embedder_that_fails_does_not_lose_the_text(tmp_path: Path) -> None:
    embedder = Constant()
    embedder.broken = True
    with quintet.open(tmp_path / "other", embedder) as index:
        base = index.knowledge.create("docs")
        outcome = base.put("a word", id="one")
        assert (outcome.outcome, outcome.code) == ("created", "embedding_postponed")
        assert "the embedder is away" in str(outcome.message)
        assert ids(base.search("word", mode="keyword")) == ["one"]
        assert base.describe()["embedded"] == 0
        embedder.broken = False
        assert (base.embed(), base.describe()["embedded"]) == (1, 1)
        assert ids(base.search("word")) == ["one"]


def test_another_embedder_makes_the_vectors_anew(tmp_path: Path) -> None:
    with quintet.open(tmp_path / "index", "hashing") as index:
        index.knowledge.create("docs").put("a word", id="one")
    with quintet.open(tmp_path / "index", Constant()) as index:
        base = index.knowledge.get("docs")
        assert base.search("word", mode="hybrid").status == "degraded"
        assert base.put("a second word", id="two").code == "embedding_postponed"
        assert set(ids(base.search("word", mode="keyword"))) == {"one", "two"}
        assert base.embed() == 2
        answer = base.search("word", mode="hybrid")
        assert (answer.status, set(ids(answer))) == ("ok", {"one", "two"})
