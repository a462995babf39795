"""Every tool and resource, asked by the SDK's client over streamable HTTP."""

from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from jsonschema import Draft202012Validator
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp_support import body, inside, refusal, text
from mcp_types import ResourceLink

import quintet
from quintet.serving.shared_index import SharedIndex

pytestmark = pytest.mark.anyio

CALLS: dict[str, dict[str, Any]] = {
    "search": {"query": "cache"},
    "read": {"reference": "docs/cache.md"},
    "related": {"reference": "cache_answer"},
    "search_rifflux": {"query": "cache"},
    "retrieve": {"query": "cache"},
    "reindex": {},
    "status": {},
    "remember": {"text": "the cache is cold"},
    "recall": {"query": "cache"},
    "search_all": {"query": "cache"},
}


async def test_the_tools_are_listed_with_typed_schemas_and_hints(address: str) -> None:
    async with Client(address) as client:
        tools = (await client.list_tools()).tools
    assert {tool.name for tool in tools} == set(CALLS)
    for tool in tools:
        Draft202012Validator.check_schema(tool.input_schema)
        Draft202012Validator.check_schema(tool.output_schema)
        assert tool.input_schema["additionalProperties"] is False
        assert tool.title and tool.description and tool.annotations
        assert tool.annotations.read_only_hint is (tool.name not in ("reindex", "remember"))
        assert tool.annotations.destructive_hint is False
        assert tool.annotations.idempotent_hint is (tool.name != "remember")
        assert tool.annotations.open_world_hint is False


@pytest.mark.requirement("000-4.4-TOOL", "000-4.5-INPUT")
async def test_the_contract_tools_take_what_their_specifications_print(address: str) -> None:
    async with Client(address) as client:
        tools = {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}
    rifflux = {name: one.get("default") for name, one in tools["search_rifflux"]["properties"].items()}
    assert rifflux == {"query": None, "top_k": 10, "mode": "hybrid", "db_path": None, "syntax": "plain"}
    assert tools["search_rifflux"]["required"] == ["query"]
    reindex = {name: one["default"] for name, one in tools["reindex"]["properties"].items()}
    assert reindex == {"path": None, "paths": None, "force": False}
    assert set(tools["retrieve"]["properties"]) == {
        *("query", "index", "top_k", "filters"),
        *("search_method", "query_preprocessing", "hybrid_alpha", "syntax"),
    }


@pytest.mark.parametrize("contract", ["quintet", "rifflux", "harness", "mcb", "knowledge", "cfs"])
async def test_search_takes_every_default_it_publishes_whatever_the_contract(
    address: str, shelf: Path, contract: str
) -> None:
    async with Client(address) as client:
        (tool,) = [one for one in (await client.list_tools()).tools if one.name == "search"]
        published = {
            name: one["default"] for name, one in tool.input_schema["properties"].items() if "default" in one
        }
        given = {**published, "query": "cache key", "contract": contract}
        found = body(await client.call_tool("search", given))
    with quintet.open(shelf / ".quintet") as index:
        assert found == index.search("cache key", contract).wire()
    assert not {"limit", "mode"} & set(published)
    for name in ("limit", "mode"):
        assert "the contract's own" in tool.input_schema["properties"][name]["description"]


@pytest.mark.parametrize("name", CALLS)
async def test_each_tool_answers_as_its_output_schema_says(address: str, name: str) -> None:
    async with Client(address) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        result = await client.call_tool(name, CALLS[name])
    Draft202012Validator(tools[name].output_schema).validate(body(result))
    assert text(result).strip()


@pytest.mark.requirement("000-AC-006")
async def test_search_rifflux_gives_its_five_fields_with_status_and_notes_beside_them(address: str) -> None:
    async with Client(address) as client:
        found = body(await client.call_tool("search_rifflux", {"query": "cache", "top_k": 2}))
    assert set(found) == {"query", "mode", "count", "embedding_model", "results", "status", "notes"}
    assert (found["query"], found["mode"], found["embedding_model"]) == ("cache", "hybrid", "hash-384")
    assert found["count"] == len(found["results"]) == 2
    assert found["status"] == "ok"


@pytest.mark.parametrize("mode", ["lexical", "semantic", "hybrid"])
async def test_a_tool_gives_the_very_body_of_the_engine(address: str, shelf: Path, mode: str) -> None:
    async with Client(address) as client:
        found = body(await client.call_tool("search_rifflux", {"query": "cache key", "mode": mode}))
    with quintet.open(shelf / ".quintet") as index:
        assert found == index.search("cache key", "rifflux", mode=mode).wire()


@pytest.mark.parametrize("contract", ["quintet", "rifflux", "harness", "mcb", "knowledge", "cfs"])
async def test_search_speaks_every_contract(address: str, shelf: Path, contract: str) -> None:
    async with Client(address) as client:
        given = {"query": "cache key", "contract": contract, "limit": 2}
        found = body(await client.call_tool("search", given))
    with quintet.open(shelf / ".quintet") as index:
        assert found == index.search("cache key", contract, limit=2).wire()


async def test_search_takes_filters_and_further_parameters(address: str) -> None:
    async with Client(address) as client:
        filters = {"path": "docs/**"}
        given = {"query": "cache", "filters": filters, "params": {"semantic_weight": 0.5}, "mode": "hybrid"}
        found = body(await client.call_tool("search", given))
    assert {result["path"] for result in found["results"]} == {"docs/cache.md", "docs/keys.md"}
    weights = [seen["weight"] for seen in found["results"][0]["signals"].values()]
    assert weights == [0.5, 0.5]


async def test_retrieve_takes_the_canonical_request(address: str) -> None:
    given = {
        "index": "default",
        "query": "How long does the CACHE keep answers?",
        "top_k": 2,
        "filters": {"source_path": "docs/cache.md"},
        "search_method": "hybrid",
        "query_preprocessing": "normalize",
        "hybrid_alpha": 0.25,
    }
    async with Client(address) as client:
        (call,) = body(await client.call_tool("retrieve", given))["retrieval_calls"]
    assert call["query"] == "how long does the cache keep answers"
    assert call["hybrid_alpha"] == 0.25
    assert call["result_count"] == len(call["results"])
    assert {result["metadata"]["source_path"] for result in call["results"]} == {"docs/cache.md"}


async def test_retrieve_takes_the_query_language_of_fts5(address: str, shelf: Path) -> None:
    given = {"query": "cache NOT digest", "search_method": "keyword", "syntax": "fts5"}
    async with Client(address) as client:
        found = body(await client.call_tool("retrieve", given))
        code, _ = refusal(await client.call_tool("retrieve", {**given, "query": "cache AND"}))
    with quintet.open(shelf / ".quintet") as index:
        params = {"search_method": "keyword", "syntax": "fts5"}
        assert found == index.search("cache NOT digest", "knowledge", **params).wire()
    assert all("digest" not in one["text"] for one in found["retrieval_calls"][0]["results"])
    assert code == "bad_query"


async def test_the_text_says_what_the_structure_says(address: str) -> None:
    async with Client(address) as client:
        result = await client.call_tool("search", {"query": "minutes"})
    for found in body(result)["results"]:
        assert found["content"] in text(result)
        assert found["chunk_id"] in text(result)


async def test_results_link_to_files_that_can_be_read_as_resources(address: str) -> None:
    async with Client(address) as client:
        result = await client.call_tool("search", {"query": "minutes"})
        links = [one for one in result.content if isinstance(one, ResourceLink)]
        (content,) = (await client.read_resource(links[0].uri)).contents
    assert unquote(links[0].uri).endswith("docs/cache.md")
    assert "The cache keeps answers for five minutes." in content.text
    assert content.mime_type == "text/markdown"


async def test_chunks_and_files_are_resources(address: str) -> None:
    async with Client(address) as client:
        templates = (await client.list_resource_templates()).resource_templates
        found = body(await client.call_tool("search", {"query": "digest"}))["results"][0]
        (chunk,) = (await client.read_resource(f"quintet://chunk/{found['chunk_id']}")).contents
        (file,) = (await client.read_resource("quintet://file/docs/keys.md")).contents
        with pytest.raises(MCPError, match="document_not_found"):
            await client.read_resource("quintet://file/..%2F..%2Fetc%2Fpasswd")
        with pytest.raises(MCPError, match="there is no resource"):
            await client.read_resource("quintet://secret/1")
    assert {one.uri_template for one in templates} == {"quintet://chunk/{id}", "quintet://file/{path}"}
    assert chunk.text == found["content"]
    assert found["content"] in file.text


@pytest.mark.parametrize("reference", ["docs/cache.md", "docs/cache.md:7", "docs/cache.md:5-7"])
async def test_read_gives_a_file_or_the_passages_at_some_lines(address: str, reference: str) -> None:
    async with Client(address) as client:
        found = body(await client.call_tool("read", {"reference": reference}))
        last = found["passages"][-1]
        again = body(await client.call_tool("read", {"reference": last["chunk_id"]}))
    assert "five minutes" in last["content"]
    assert again["passages"] == [last]


async def test_a_budget_cuts_whole_results_and_says_so(address: str) -> None:
    async with Client(address) as client:
        whole = body(await client.call_tool("search", {"query": "cache"}))
        result = await client.call_tool("search", {"query": "cache", "max_tokens": 60})
    short = body(result)
    kept = len(short["results"])
    assert 0 < kept < len(whole["results"])
    assert short["results"] == whole["results"][:kept]
    assert short["notes"][-1]["code"] == "results_cut"
    assert f"{kept} of {len(whole['results'])}" in text(result)


async def test_a_very_long_document_is_cut_unless_all_of_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "long.md").write_text("One more line of a long story.\n\n" * 5_000, "utf-8")
    with quintet.open(tmp_path / ".quintet", None) as index:
        index.sync([tmp_path])
        shared = SharedIndex(index, base=tmp_path)
        async with inside(shared) as client:
            short = body(await client.call_tool("read", {"reference": "long.md"}))
            whole = body(await client.call_tool("read", {"reference": "long.md", "max_tokens": None}))
    assert 0 < len(short["passages"]) < len(whole["passages"])
    assert [note["code"] for note in short["notes"]] == ["results_cut"]
    assert whole["notes"] == []


@pytest.mark.parametrize("contract", ["rifflux", "knowledge"])
async def test_counts_stay_true_when_results_are_cut(address: str, contract: str) -> None:
    async with Client(address) as client:
        given = {"query": "cache", "contract": contract, "max_tokens": 1}
        found = body(await client.call_tool("search", given))
    holder = found["retrieval_calls"][0] if contract == "knowledge" else found
    assert holder["results"] == []
    assert holder.get("count", holder.get("result_count")) == 0


@pytest.mark.parametrize(
    ("name", "given", "code", "hint"),
    [
        ("search", {"qery": "x"}, "invalid_parameter", "did you mean 'query'?"),
        ("search_rifflux", {"query": "x", "topk": 3}, "invalid_parameter", "did you mean 'top_k'?"),
        ("status", {"verbose": True}, "invalid_parameter", "it takes: nothing"),
        ("search", {}, "invalid_parameter", "needs the argument 'query'"),
        ("search_rifflux", {"query": "x", "top_k": 0}, "invalid_parameter", "from 1 to 1000"),
        ("search_rifflux", {"query": "x", "top_k": "3"}, "invalid_parameter", "from 1 to 1000"),
        ("search_rifflux", {"query": "x", "mode": "magic"}, "invalid_parameter", "one of lexical"),
        ("search_rifflux", {"query": " "}, "bad_query", ""),
        ("search_rifflux", {"query": "a AND", "syntax": "fts5"}, "bad_query", ""),
        ("search", {"query": "x", "contract": "other"}, "unknown_contract", "there are: quintet"),
        ("search", {"query": "x", "filters": {"pth": "a"}}, "invalid_filter", "did you mean 'path'?"),
        ("search", {"query": "x", "params": {"query": "y"}}, "invalid_parameter", "beside params"),
        ("search", {"query": "x", "max_tokens": 0}, "invalid_parameter", "greater than or equal to 1"),
        ("retrieve", {"query": "x", "top_k": 0}, "invalid_top_k", "from 1 to 1000"),
        ("retrieve", {"query": "x", "hybrid_alpha": 2}, "invalid_hybrid_alpha", "from 0 to 1"),
        ("retrieve", {"query": "x", "index": "other"}, "unknown_index", ""),
        ("read", {"reference": "nothing.md"}, "document_not_found", ""),
        ("related", {"reference": "x", "steps": 2}, "invalid_parameter", "it takes: reference, strategy"),
        ("related", {"reference": "nothing_so_called"}, "document_not_found", "nothing_so_called"),
        ("related", {"reference": "x", "strategy": "friends"}, "invalid_parameter", "one of callers"),
        ("related", {"reference": "x", "strategy": ["callers"]}, "invalid_parameter", "one of callers"),
        ("related", {"reference": "x", "depth": 11}, "invalid_parameter", "from 1 to 10"),
        ("related", {"reference": "x", "depth": 1.0}, "invalid_parameter", "from 1 to 10"),
        ("related", {"reference": "x", "limit": True}, "invalid_parameter", "from 1 to 1000"),
        ("related", {"reference": "x", "possible": "yes"}, "invalid_parameter", "possible"),
        ("reindex", {"paths": "docs"}, "invalid_parameter", "paths"),
        ("reindex", {"path": "nowhere"}, "invalid_path", "nowhere"),
    ],
)
async def test_a_wrong_call_is_a_tool_error_with_its_code_and_one_sentence(
    address: str, name: str, given: dict[str, Any], code: str, hint: str
) -> None:
    async with Client(address) as client:
        found, message = refusal(await client.call_tool(name, given))
    assert found == code
    assert hint in message
    assert "\n" not in message


async def test_an_unknown_tool_is_refused_with_a_hint(address: str) -> None:
    async with Client(address) as client:
        with pytest.raises(MCPError, match="did you mean 'search'"):
            await client.call_tool("serch", {})


async def test_the_instructions_name_what_is_indexed_and_every_tool(address: str, shelf: Path) -> None:
    async with Client(address) as client:
        said = client.instructions
    assert said is not None
    assert str(shelf) in said
    assert all(f"`{name}`" in said for name in CALLS)


@pytest.mark.parametrize("path", ["..", "/", "../../etc", "docs/../../.."])
async def test_a_path_outside_the_allowed_folders_is_refused(address: str, path: str) -> None:
    async with Client(address) as client:
        code, message = refusal(await client.call_tool("reindex", {"path": path}))
        again, _ = refusal(await client.call_tool("reindex", {"paths": ["docs", path]}))
    assert code == again
    assert code in ("forbidden", "invalid_path")
    assert path in message


@pytest.mark.requirement("000-4.4-TOOL")
async def test_a_link_that_leads_out_is_refused(address: str, shelf: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("# Secret\n", "utf-8")
    link = shelf / "way-out"
    link.symlink_to(tmp_path)
    try:
        async with Client(address) as client:
            for path in ("way-out", "way-out/secret.md"):
                code, _ = refusal(await client.call_tool("reindex", {"path": path}))
                assert code == "forbidden"
            code, _ = refusal(await client.call_tool("search_rifflux", {"query": "x", "db_path": "way-out"}))
            assert code == "forbidden"
    finally:
        link.unlink()


@pytest.mark.requirement("000-4.4-TOOL")
async def test_another_index_is_read_only_below_the_folder_that_holds_the_servers_own(
    address: str, shelf: Path, tmp_path: Path
) -> None:
    other = shelf / "other" / ".quintet"
    note = tmp_path / "note.md"
    note.write_text("# Boats\n\nA boat floats.\n", "utf-8")
    for place in (other, tmp_path / ".quintet"):
        with quintet.open(place, "hashing") as index:
            index.sync([note])
    async with Client(address) as client:
        for db_path in ("other/.quintet", "other/.quintet/index.db"):
            given = {"query": "boat", "db_path": db_path}
            found = body(await client.call_tool("search_rifflux", given))
            assert [result["path"] for result in found["results"]] == ["note.md"]
        for db_path in (str(tmp_path / ".quintet"), "..", "/etc", "other/../../x"):
            given = {"query": "boat", "db_path": db_path}
            code, said = refusal(await client.call_tool("search_rifflux", given))
            assert code in ("forbidden", "invalid_path")
            assert "--allow" not in said
            if code == "forbidden":
                assert f"it must lie under {shelf}, the folder that holds this server's index" in said
        code, _ = refusal(await client.call_tool("search_rifflux", {"query": "boat", "db_path": "docs"}))
        assert code == "not_indexed"


async def test_an_index_that_holds_nothing_is_told_with_what_to_do(shared: SharedIndex) -> None:
    async with inside(shared) as client:
        for name in ("search", "search_rifflux", "status"):
            assert "`reindex`" in text(await client.call_tool(name, CALLS[name]))
        await client.call_tool("reindex", {})
        shared.index.clear()
        assert "the index is empty" in text(await client.call_tool("search", CALLS["search"]))
