"""The code graph as a tool."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from mcp_support import body, inside, refusal, text
from mcp_types import CallToolResult, ResourceLink

import quintet
from quintet.serving.shared_index import SharedIndex

pytestmark = pytest.mark.anyio

FILES = {
    "app/store.py": "def keep(entry):\n    return entry\n\n\ndef close():\n    keep(None)\n",
    "app/service.py": "from app.store import keep\n\n\ndef answer(question):\n    return keep(question)\n",
    "app/page.py": "from app import service\n\n\ndef show():\n    return service.answer(1)\n",
    "app/door.py": "def close():\n    pass\n",
}


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedIndex]:
    """The shared to an index of a small program."""
    folder = tmp_path_factory.mktemp("code")
    (folder / "app").mkdir()
    for name, source in FILES.items():
        (folder / name).write_text(source, "utf-8")
    opened = SharedIndex(quintet.open(folder / ".quintet", "hashing"), base=folder)
    opened.index.sync([folder])
    yield opened
    opened.close()


async def ask(shared: SharedIndex, **given: Any) -> CallToolResult:
    async with inside(shared) as client:
        return await client.call_tool("related", given)


def names(result: CallToolResult) -> list[tuple[str, int]]:
    return [(one["name"], one["distance"]) for one in body(result)["neighbours"]]


async def test_related_walks_the_way_it_is_told(code: SharedIndex) -> None:
    callers = await ask(code, reference="keep", strategy="callers", depth=2)
    needed = await ask(code, reference="service.answer", strategy="dependencies")
    assert names(callers) == [("app.service.answer", 1), ("app.store.close", 1), ("app.page.show", 2)]
    assert names(needed) == [("app.store.keep", 1)]


async def test_related_gives_the_very_body_of_the_engine(code: SharedIndex) -> None:
    found = body(await ask(code, reference="app/store.py:1", depth=3, limit=2))
    assert found == {**code.index.related("keep", depth=3, limit=2).wire(), "notes": []}
    assert found["more"] is True


async def test_each_line_of_the_text_is_a_neighbour_with_its_step_and_how_sure_it_is(
    code: SharedIndex,
) -> None:
    result = await ask(code, reference="service.answer", strategy="callers")
    assert text(result).splitlines()[:-1] == [
        "app.service.answer (function, app/service.py:4-5)",
        "1. app.page.show (function, app/page.py:4-5): "
        "app.page.show calls app.service.answer at app/page.py:5 (exact)",
    ]


async def test_related_links_to_the_files_of_what_it_names(code: SharedIndex) -> None:
    result = await ask(code, reference="keep", strategy="callers", depth=2)
    links = [unquote(one.uri) for one in result.content if isinstance(one, ResourceLink)]
    assert [link.rpartition("/app/")[2] for link in links] == ["store.py", "service.py", "page.py"]


async def test_nothing_around_a_symbol_is_an_answer_that_says_so(code: SharedIndex) -> None:
    result = await ask(code, reference="page.show", strategy="callers")
    assert body(result)["neighbours"] == []
    assert "nothing within 1 by callers; `possible` follows guesses too" in text(result)


async def test_a_name_of_several_symbols_is_refused_with_all_of_them(code: SharedIndex) -> None:
    result = await ask(code, reference="close")
    found, message = refusal(result)
    assert found == "invalid_parameter"
    assert "app.door.close at app/door.py:1" in message
    assert result.meta is not None
    candidates = result.meta["quintet/error"]["details"]["candidates"]
    assert [one["path"] for one in candidates] == ["app/door.py", "app/store.py"]
    for one in candidates:
        again = await ask(code, reference=f"{one['path']}:{one['lines'][0]}")
        assert body(again)["start"] == one


async def test_a_budget_cuts_neighbours_off_the_end_and_says_so(code: SharedIndex) -> None:
    whole = body(await ask(code, reference="keep", depth=2))
    result = await ask(code, reference="keep", depth=2, max_tokens=60)
    short = body(result)
    kept = len(short["neighbours"])
    assert 0 < kept < len(whole["neighbours"])
    assert short["neighbours"] == whole["neighbours"][:kept]
    assert (whole["more"], short["more"]) == (False, True)
    assert short["notes"][-1]["code"] == "results_cut"
    assert f"{kept} of {len(whole['neighbours'])} fit" in text(result)


async def test_an_index_without_symbols_says_what_to_do(tmp_path: Path) -> None:
    shared = SharedIndex(quintet.open(tmp_path / ".quintet", "hashing"), base=tmp_path)
    try:
        found, message = refusal(await ask(shared, reference="keep"))
    finally:
        shared.close()
    assert found == "document_not_found"
    assert "index source code" in message
