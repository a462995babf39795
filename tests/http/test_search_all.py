"""Code and memory ranked together: the same bytes at every door, and to nobody who may not recall."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from http_serving import Running, code_of, environment, indexed, serving
from jsonschema import Draft202012Validator
from mcp.client.client import Client
from mcp.client.stdio import stdio_client

import quintet
from mcp import StdioServerParameters
from quintet.cli.main import run
from quintet.http.schema.requests import search_all_request
from quintet.model.results import AnswerStatus
from quintet.model.schema import schema_of
from quintet.serving.keys import Keys
from quintet.serving.results import SearchAllBody

ALL = "/v1/search/all"
SECRET = "the cache was sold to Umbrella"


@dataclass(frozen=True)
class Asked:
    query: str
    code: dict[str, Any] = field(default_factory=dict)
    memory: dict[str, Any] = field(default_factory=dict)
    context: dict[str, Any] = field(default_factory=dict)

    @property
    def body(self) -> dict[str, Any]:
        return {"query": self.query, "context": self.context, "code": self.code, "memory": self.memory}


REQUESTS = [
    Asked("cache"),
    Asked("Čaj 検索 don't C++"),
    Asked("zeppelin"),
    Asked("cache", {"limit": 1}, {"limit": 1}),
    Asked("cache", {"k": 2, "filters": "path:docs/**"}, {"kind": "decision"}),
    Asked("cache", {"graph_expansion": {"callers": {"depth": 2}}}, {"about": "cache_answer"}),
    Asked("cache NOT bread", {"syntax": "fts5"}, {"include_superseded": True, "session": "monday"}),
    Asked("cache", {"scope_filter": {"file": "src/store.py"}}, {"tags": ["ttl"], "since": 0}),
    Asked("cache", context={"symbols": ["cache_answer", "nobody"], "open_files": ["docs/cache.md"]}),
    Asked("cache", context={"project": "elsewhere"}),
]


@pytest.fixture(scope="module")
def remembering(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index with memories, for tests that only read."""
    folder = indexed(tmp_path_factory.mktemp("remembering"))
    with quintet.open(folder / ".quintet") as index:
        old = index.memory.remember("cache answers for a minute", "decision", session="monday")
        about = ["cache_answer", "docs/cache.md"]
        kept = {"tags": ["ttl"], "about": about, "supersedes": old.id, "metadata": {"by": "Čaj"}}
        index.memory.remember("cache answers for five minutes", "decision", **kept)  # type: ignore[arg-type]
        index.memory.remember(SECRET, session="monday")
    return folder


@pytest.fixture(scope="module")
def served(remembering: Path) -> Iterator[Running]:
    with serving(remembering) as running:
        yield running


@dataclass(frozen=True)
class Place:
    folder: Path
    server: Running
    capture: pytest.CaptureFixture[str]


def dumped(wire: object) -> bytes:
    return (json.dumps(wire, ensure_ascii=False) + "\n").encode()


def python(place: Place, asked: Sequence[Asked]) -> list[bytes]:
    with quintet.open(place.folder / ".quintet", create=False) as index:
        return [dumped(index.search_all(**one.body).wire()) for one in asked]


def command_line(place: Place, asked: Sequence[Asked]) -> list[bytes]:
    printed = []
    for one in asked:
        halves = {"context": one.context, "code": one.code, "memory": one.memory}
        given = [f"--{half}={n}={json.dumps(v)}" for half, of in halves.items() for n, v in of.items()]
        run(["search-all", "--json", "--db", str(place.folder / ".quintet"), *given, one.query])
        printed.append(place.capture.readouterr().out.encode())
    return printed


def rest(place: Place, asked: Sequence[Asked]) -> list[bytes]:
    with place.server.client() as client:
        return [client.post(ALL, json=one.body).content for one in asked]


def mcp_http(place: Place, asked: Sequence[Asked]) -> list[bytes]:
    return anyio.run(called, f"{place.server.url}/mcp", asked)


def mcp_stdio(place: Place, asked: Sequence[Asked]) -> list[bytes]:
    words = ["-m", "quintet", "mcp"]
    process = StdioServerParameters(command=sys.executable, args=words, cwd=place.folder, env=environment())
    return anyio.run(called, stdio_client(process), asked)


async def called(server: Any, asked: Sequence[Asked]) -> list[bytes]:
    found = []
    async with Client(server) as client:
        for one in asked:
            result = await client.call_tool("search_all", one.body)
            assert not result.is_error, result.content
            found.append(dumped(result.structured_content))
    return found


Door = Callable[[Place, Sequence[Asked]], list[bytes]]
DOORS: tuple[Door, ...] = (command_line, rest, mcp_http, mcp_stdio)


@pytest.mark.requirement("002-UNIFIED-RANK", "002-UNIFIED-CONTEXT")
@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_every_door_ranks_code_and_memory_as_python_does(
    door: Door, remembering: Path, served: Running, capsys: pytest.CaptureFixture[str]
) -> None:
    place = Place(remembering, served, capsys)
    expected = python(place, REQUESTS)
    assert any(b'"code": [{' in one and b'"memory": [{' in one for one in expected)
    assert door(place, REQUESTS) == expected


def test_an_answer_is_as_its_schema_says_and_so_is_every_request(served: Running) -> None:
    takes, gives = (
        Draft202012Validator(search_all_request()),
        Draft202012Validator(schema_of(SearchAllBody, AnswerStatus)),
    )
    with served.client() as client:
        for one in REQUESTS:
            takes.validate(one.body)
            gives.validate(client.post(ALL, json=one.body).json())
        body = client.post(ALL, json={"query": "cache"}).json()
    assert [one["kind"] for one in body["hybrid_rank"]][:2] == ["code", "memory"]
    for where in (body, body["memory"][0], body["code"][0], body["hybrid_rank"][0]):
        where["stranger"] = 1
        assert not gives.is_valid(body)
        del where["stranger"]


@pytest.mark.parametrize(
    ("asked", "code", "parameter", "says"),
    [
        ({}, "bad_query", None, "no query"),
        ({"query": " "}, "bad_query", None, ""),
        ({"query": 7}, "bad_query", None, ""),
        ({"query": "x", "limit": 3}, "invalid_parameter", "limit", "it takes: code, context, memory, query"),
        ({"query": "x", "memories": {}}, "invalid_parameter", "memories", "did you mean 'memory'?"),
        ({"query": "x", "code": None}, "invalid_parameter", "code", "an object"),
        ({"query": "x", "memory": [1]}, "invalid_parameter", "memory", "an object"),
        ({"query": "x", "code": {"limits": 3}}, "invalid_parameter", "limits", "did you mean 'limit'?"),
        ({"query": "x", "code": {"mode": "hybrid"}}, "invalid_parameter", "mode", "code has no field"),
        ({"query": "x", "code": {"contract": "cfs"}}, "invalid_parameter", "contract", ""),
        ({"query": "x", "memory": {"self": 1}}, "invalid_parameter", "self", ""),
        ({"query": "x", "memory": {"kind": "idea"}}, "invalid_parameter", "kind", "one of decision"),
        ({"query": "x", "memory": {"limit": 0}}, "invalid_parameter", "limit", "from 1 to 1000"),
        ({"query": "x", "code": {"filters": {"pth": "x"}}}, "invalid_filter", None, "did you mean 'path'?"),
    ],
)
def test_a_wrong_request_is_refused_in_one_sentence(
    served: Running, asked: dict[str, Any], code: str, parameter: str | None, says: str
) -> None:
    with served.client() as client:
        answer = client.post(ALL, json=asked)
    assert code_of(answer) == (400, code)
    error = answer.json()["error"]
    assert says in error["message"]
    assert "\n" not in error["message"]
    assert parameter is None or error["details"] == {"parameter": parameter}


def test_an_index_that_was_never_filled_and_no_memory_are_told(tmp_path: Path) -> None:
    quintet.open(tmp_path / ".quintet", "hashing").close()
    with serving(tmp_path) as server, server.client() as client:
        answer = client.post(ALL, json={"query": "x"})
    body = answer.json()
    assert (answer.status_code, body["status"]) == (200, "never_indexed")
    assert (body["code"], body["memory"], body["hybrid_rank"]) == ([], [], [])


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def test_only_a_key_that_may_recall_is_shown_what_is_remembered(library: Path) -> None:
    """`recall` is at /mcp, which takes a key made with --write and without --kb; this takes the same."""
    with quintet.open(library / ".quintet") as index:
        index.memory.remember(SECRET)
    keys = Keys(library / ".quintet")
    given = {
        "reader": keys.add("reader", "read")[1],
        "tenant": keys.add("tenant", "write", ["ours"])[1],
        "owner": keys.add("owner", "write")[1],
    }
    with serving(library, "--require-key", "--access-log") as server, server.client() as client:

        def asked(path: str, **options: Any) -> httpx.Response:
            return client.post(path, json={"query": "cache"}, **options)

        assert code_of(asked(ALL)) == (401, "unauthorized")
        assert code_of(asked(ALL, headers=bearer("qk_no"))) == (401, "unauthorized")
        for name in ("reader", "tenant"):
            refused = asked(ALL, headers=bearer(given[name]))
            assert code_of(refused) == (403, "forbidden")
            assert "Umbrella" not in refused.text
            assert code_of(asked("/mcp", headers=bearer(given[name]))) == (403, "forbidden")
        assert "Umbrella" not in asked("/v1/search", headers=bearer(given["reader"])).text
        found = asked(ALL, headers=bearer(given["owner"])).json()
        assert [one["text"] for one in found["memory"]] == [SECRET]
        metrics = client.get("/metrics", headers=bearer(given["reader"])).text
    assert 'route="/v1/search/all",status="200"' in metrics
    assert "Umbrella" not in metrics + "".join(server.told)
    assert "POST /v1/search/all 200" in "".join(server.told)
