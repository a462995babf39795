"""A receipt through MCP: one more key of the structured answer, and never of half an answer."""

import threading
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from mcp.client.client import Client
from mcp_support import body, refusal, text

import quintet
from quintet.embed.hashing import HashingEmbedder
from quintet.query.search import Response
from quintet.serving.shared_index import SharedIndex

PATIENCE = 60  # seconds; only a fault takes that long


@pytest.mark.anyio
async def test_search_adds_a_receipt_beside_the_body_it_gives_anyway(address: str, shelf: Path) -> None:
    async with Client(address) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        plain = body(await client.call_tool("search", {"query": "cache"}))
        without = body(await client.call_tool("search", {"query": "cache", "receipt": False}))
        result = await client.call_tool("search", {"query": "cache", "receipt": True})
    found = dict(body(result))
    Draft202012Validator(tools["search"].output_schema).validate(found)
    receipt = found.pop("receipt")
    assert found == plain == without
    assert f"receipt {receipt['digest']}" in text(result)
    with quintet.open(shelf / ".quintet") as index:
        assert index.receipts.search("cache")[1]["digest"] == receipt["digest"]
        assert index.receipts.verify(receipt).identical


@pytest.mark.anyio
async def test_a_receipt_is_of_the_whole_answer_though_the_answer_is_cut(address: str) -> None:
    async with Client(address) as client:
        given = {"query": "cache", "max_tokens": 40, "receipt": True}
        found = body(await client.call_tool("search", given))
    assert found["notes"][-1]["code"] == "results_cut"
    assert len(found["receipt"]["claim"]["results"]) > len(found["results"])


@pytest.mark.anyio
async def test_a_receipt_is_asked_for_by_true_or_false(address: str) -> None:
    async with Client(address) as client:
        _, message = refusal(await client.call_tool("search", {"query": "cache", "receipt": "yes"}))
    assert "receipt is 'yes'" in message


@pytest.mark.anyio
@pytest.mark.parametrize("tool", ["search_rifflux", "retrieve"])
async def test_the_tools_of_published_contracts_take_nothing_but_their_own(address: str, tool: str) -> None:
    async with Client(address) as client:
        _, message = refusal(await client.call_tool(tool, {"query": "cache", "receipt": True}))
    assert "has no argument 'receipt'" in message


class LateEmbedder(HashingEmbedder):
    """A model that is not there until it is let go."""

    kind = "canonical"
    identity = "late-384"

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.released = threading.Event()

    def embed_query(self, text: str) -> np.ndarray | None:
        self.asked.set()
        assert self.released.wait(PATIENCE)
        return super().embed_query(text)


def test_while_the_model_loads_a_receipt_waits_for_it(library: Path) -> None:
    late = LateEmbedder()
    with quintet.open(library / ".quintet", late) as index:
        index.sync([library])
    shared = SharedIndex(quintet.open(library / ".quintet", late, model_seconds=0), base=library)
    got: list[Response] = []
    asking = threading.Thread(target=lambda: got.append(shared.search("cache", receipt=True)))
    asking.start()
    assert late.asked.wait(PATIENCE)
    partial = shared.search("cache")
    assert [note["code"] for note in partial.notes] == ["embedder_loading"]
    assert (partial.status, partial.receipt, got) == ("degraded", None, [])
    late.released.set()
    asking.join(PATIENCE)
    (whole,) = got
    assert whole.receipt is not None
    assert whole.receipt["claim"]["status"] == whole.status == "ok"  # type: ignore[index, call-overload]
    assert shared.verify(whole.receipt).identical
    shared.close()


def test_an_answer_from_text_alone_says_so_in_its_claim(library: Path) -> None:
    with quintet.open(library / ".quintet", "hashing") as index:
        index.sync([library])
        _, before = index.receipts.search("cache")
    with quintet.open(library / ".quintet", None) as index:
        response, receipt = index.receipts.search("cache")
        assert response.status == "degraded"
        claim = receipt["claim"]
        assert (claim["status"], claim["embedder"]) == ("degraded", "none")  # type: ignore[index, call-overload]
        differences = index.receipts.verify(before).differences
    assert any(line.endswith("status was 'ok', is 'degraded'") for line in differences)
