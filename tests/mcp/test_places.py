"""Where a result stands: its root among several, and the page of a PDF."""

from collections.abc import Iterator
from pathlib import Path

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


async def test_a_path_from_one_of_several_roots_has_its_root_in_front_and_can_be_opened_on_disk(
    places: SharedIndex,
) -> None:
    async with inside(places) as client:
        for contract in ("quintet", "rifflux", "mcb"):
            found = await client.call_tool("search", {"query": "amber", "contract": contract, "limit": 1})
            lines = text(found).splitlines()
            (shown,) = [line.split()[1].partition(":")[0] for line in lines if line.startswith("1. ")]
            assert shown == "attic/note.md"
            (begins,) = [line for line in lines if line.startswith("attic/ is ")]
            root, folder = begins.split("/ is ")
            assert "amber" in (Path(folder) / shown.removeprefix(root + "/")).read_text("utf-8")


async def test_a_printed_path_is_a_filter_and_an_argument_of_every_tool(places: SharedIndex) -> None:
    async with inside(places) as client:
        found = await client.call_tool(
            "search", {"query": "lantern", "mode": "lexical", "filters": "path:attic/note.md"}
        )
        assert [(one["root"], one["path"]) for one in body(found)["results"]] == [("attic", "note.md")]
        kept = body(
            await client.call_tool("remember", {"text": "the lantern is old", "about": ["attic/note.md"]})
        )
        recalled = await client.call_tool("recall", {"query": "lantern", "about": "attic/note.md"})
        assert kept["id"] in text(recalled)
        assert "about attic/note.md: " in text(recalled)
        related = await client.call_tool("related", {"reference": "attic/note.md"})
        assert text(related).startswith("note.md (document, attic/note.md:")


async def test_a_path_in_a_single_root_is_given_with_the_folder_it_begins_in(
    shared: SharedIndex, library: Path
) -> None:
    shared.index.sync([library])
    async with inside(shared) as client:
        found = text(await client.call_tool("search", {"query": "digest", "mode": "lexical", "limit": 1}))
    assert "\n1. docs/keys.md:1-3 " in found
    assert f"\npaths begin in {library}" in found


async def test_a_result_from_a_pdf_names_its_page(places: SharedIndex) -> None:
    async with inside(places) as client:
        found = await client.call_tool("search", {"query": "zeppelin", "mode": "lexical"})
        (result,) = body(found)["results"]
        read = await client.call_tool("read", {"reference": result["chunk_id"]})
        again = await client.call_tool("read", {"reference": "attic/manual.pdf:1-1 (page 2)"})
    assert (result["page"], result["lines"]) == (2, [1, 1])
    assert result["chunk_id"] in [passage["chunk_id"] for passage in body(again)["passages"]]
    assert "1. attic/manual.pdf:1-1 (page 2)" in text(found)
    assert body(read)["passages"][0]["page"] == 2
    assert text(read).startswith("attic/manual.pdf:1-1 (page 2)")
