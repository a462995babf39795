"""Where a result stands: its root among several, and the page of a PDF."""

from collections.abc import Iterator

import pytest
from mcp_support import body, inside, text

import quintet
from formats.papers import lines, paper
from quintet.serving.shared_index import SharedIndex

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedIndex]:
    """The shared to an index of two folders with a note of the same name; one has a PDF of two pages."""
    folder = tmp_path_factory.mktemp("places")
    for root, words in (("attic", "an amber lantern"), ("cellar", "a cold lantern")):
        (folder / root).mkdir()
        (folder / root / "note.md").write_text(f"# Note\n\nHere is {words}.\n", "utf-8")
    pages = paper(lines("On this page is nothing."), lines("On this page is a zeppelin."))
    (folder / "attic" / "manual.pdf").write_bytes(pages)
    opened = SharedIndex(quintet.open(folder / ".quintet", "hashing"), base=folder)
    opened.index.sync([folder / "attic", folder / "cellar"])
    yield opened
    opened.close()


async def test_among_several_roots_a_path_begins_with_its_root_and_can_be_read_so(
    places: SharedIndex,
) -> None:
    async with inside(places) as client:
        found = await client.call_tool("search", {"query": "lantern", "mode": "lexical"})
        assert {(one["root"], one["path"]) for one in body(found)["results"]} == {
            ("attic", "note.md"),
            ("cellar", "note.md"),
        }
        shown = [line.split()[1] for line in text(found).splitlines() if line[:2] in ("1.", "2.")]
        assert sorted(shown) == ["attic/note.md:1-3", "cellar/note.md:1-3"]
        for place in shown:
            (passage,) = body(await client.call_tool("read", {"reference": place}))["passages"]
            assert place.startswith(passage["root"])


async def test_results_of_one_root_keep_their_paths(places: SharedIndex) -> None:
    async with inside(places) as client:
        found = await client.call_tool("search", {"query": "amber", "mode": "lexical"})
    assert "\n1. note.md:1-3 ·" in text(found)


async def test_a_result_from_a_pdf_names_its_page(places: SharedIndex) -> None:
    async with inside(places) as client:
        found = await client.call_tool("search", {"query": "zeppelin", "mode": "lexical"})
        (result,) = body(found)["results"]
        read = await client.call_tool("read", {"reference": result["chunk_id"]})
    assert (result["page"], result["lines"]) == (2, [1, 1])
    assert "1. manual.pdf:1-1 (page 2)" in text(found)
    assert body(read)["passages"][0]["page"] == 2
    assert text(read).startswith("manual.pdf:1-1 (page 2)")
