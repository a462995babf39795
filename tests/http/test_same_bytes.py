"""The same requests through every door give the same bytes. A further door is one more entry of DOORS."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
from http_serving import Running, environment
from mcp.client.client import Client
from mcp.client.stdio import stdio_client

import quintet
from mcp import StdioServerParameters
from quintet.cli.main import run


@dataclass(frozen=True)
class Asked:
    query: str
    contract: str = "quintet"
    params: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Place:
    shelf: Path
    server: Running
    capture: pytest.CaptureFixture[str]


QUERIES = ["five minutes", "cache key", '"cache key" digest', "Čaj 検索", "don't C++ local-first", "zeppelin"]
REQUESTS = [
    *(Asked(query, contract) for query in QUERIES[:4] for contract in ("quintet", "rifflux", "harness")),
    *(Asked(query, contract) for query in QUERIES[2:] for contract in ("mcb", "knowledge", "cfs")),
    *(Asked("cache", "rifflux", {"mode": mode}) for mode in ("lexical", "semantic", "hybrid")),
    *(Asked("cache", "knowledge", {"search_method": name}) for name in ("keyword", "semantic", "hybrid")),
    *(Asked("cache", contract, {"limit": 2}) for contract in ("quintet", "harness", "mcb", "cfs")),
    Asked("cache", "quintet", {"semantic_weight": 0.5, "filters": {"path": "docs/**"}}),
    Asked("cache", "quintet", {"filters": "path:docs/** OR -lang:python"}),
    Asked("cache lang:python", "quintet", {"filters": {"or": ["path:src/**", {"not": {"lang": "c"}}]}}),
    Asked("cache", "cfs", {"filters": {"path": "docs/**"}, "filter_mode": "post"}),
    Asked("cache", "harness", {"hybrid_alpha": 7, "doc_agg": "avg", "group_by": "chunk"}),
    Asked("cache", "mcb", {"graph_expansion": {"callers": {"depth": 2}}, "field_weights": {"title": 3}}),
    Asked("cache", "mcb", {"scope_filter": {"file": "src/store.py"}}),
    Asked("Cache?", "knowledge", {"query_preprocessing": "normalize", "filters": {"chunk_index": 1}}),
    Asked("cache NOT bread", "rifflux", {"syntax": "fts5", "mode": "lexical"}),
    *(Asked(query, "quintet", {"index": "kb_shop"}) for query in ("running shoes", "shoes price<20")),
    Asked("shoes", "quintet", {"index": "kb_shop", "filters": "price < 20 OR since>2026-01-01"}),
    Asked("shoes", "quintet", {"index": "kb_shop", "filters": {"price": {">=": 10, "<": 25}}, "limit": 1}),
    Asked("shoes", "knowledge", {"index": "kb_shop", "filters": "-price<20", "search_method": "hybrid"}),
]
SHOES: dict[str, dict[str, Any]] = {
    "red": {"price": 19.5, "since": "2025-01-31"},
    "blue": {"price": 25, "since": "2026-06-01"},
}


def python(place: Place, asked: Sequence[Asked]) -> list[bytes]:
    with quintet.open(place.shelf / ".quintet", create=False) as index:
        wires = [index.search(one.query, one.contract, **one.params).wire() for one in asked]
    return [dumped(wire) for wire in wires]


def command_line(place: Place, asked: Sequence[Asked]) -> list[bytes]:
    printed = []
    for one in asked:
        given = [f"--param={name}={json.dumps(value)}" for name, value in one.params.items()]
        run(
            [
                "search",
                "--json",
                "--db",
                str(place.shelf / ".quintet"),
                "--contract",
                one.contract,
                *given,
                one.query,
            ]
        )
        printed.append(place.capture.readouterr().out.encode())
    return printed


def rest(place: Place, asked: Sequence[Asked]) -> list[bytes]:
    with place.server.client() as client:
        bodies = [{"query": one.query, "contract": one.contract, **one.params} for one in asked]
        return [client.post("/v1/search", json=body).content for body in bodies]


def rest_by_contract(place: Place, asked: Sequence[Asked]) -> list[bytes]:
    with place.server.client() as client:
        return [
            client.post(
                f"/v1/contracts/{one.contract}/search", json={"query": one.query, **one.params}
            ).content
            for one in asked
        ]


def mcp_http(place: Place, asked: Sequence[Asked]) -> list[bytes]:
    """At /mcp of the same server."""
    return anyio.run(called, f"{place.server.url}/mcp", asked)


def mcp_stdio(place: Place, asked: Sequence[Asked]) -> list[bytes]:
    words = ["-m", "quintet", "mcp"]
    process = StdioServerParameters(command=sys.executable, args=words, cwd=place.shelf, env=environment())
    return anyio.run(called, stdio_client(process), asked)


async def called(server: Any, asked: Sequence[Asked]) -> list[bytes]:
    found = []
    async with Client(server) as client:
        for one in asked:
            arguments = {"query": one.query, "contract": one.contract, "params": one.params}
            result = await client.call_tool("search", arguments)
            assert not result.is_error, result.content
            found.append(dumped(result.structured_content))
    return found


def dumped(wire: object) -> bytes:
    return (json.dumps(wire, ensure_ascii=False) + "\n").encode()


Door = Callable[[Place, Sequence[Asked]], list[bytes]]
DOORS: tuple[Door, ...] = (command_line, rest, rest_by_contract, mcp_http, mcp_stdio)


@pytest.fixture(scope="module", autouse=True)
def shop(shelf: Path) -> Iterator[None]:
    """A knowledge base beside the folders, for this module."""
    properties = [{"name": "price", "type": "number"}, {"name": "since", "type": "text"}]
    with quintet.open(shelf / ".quintet", create=False) as index:
        base = index.knowledge.create("shop", properties=properties)
        for name, metadata in SHOES.items():
            base.put(f"{name} running shoes", id=name, metadata=metadata)
        yield
        index.knowledge.delete("shop")


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_every_door_gives_what_python_gives(
    door: Door, shelf: Path, server: Running, capsys: pytest.CaptureFixture[str]
) -> None:
    place = Place(shelf, server, capsys)
    expected = python(place, REQUESTS)
    assert len(REQUESTS) >= 40
    assert any(b'"results": [{' in one for one in expected)
    assert door(place, REQUESTS) == expected
