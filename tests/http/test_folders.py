"""Memory, the code graph, reading, forgetting and context over HTTP answer as Python does."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import httpx
import pytest
from http_serving import code_of, indexed, serving

import quintet
from quintet.serving.keys import Keys
from quintet.serving.results import passage_fields


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = indexed(tmp_path_factory.mktemp("folders"))
    (folder / "app").mkdir()
    (folder / "app" / "shop.py").write_text(
        "def tax(x):\n    return x\n\n\ndef total(x):\n    return tax(x)\n", "utf-8"
    )
    with quintet.open(folder / ".quintet") as index:
        index.sync([folder])
    return folder


@pytest.fixture(scope="module")
def client(place: Path) -> Iterator[httpx.Client]:
    with serving(place) as server, server.client() as client:
        yield client


@pytest.fixture(scope="module")
def index(place: Path) -> Iterator[quintet.Index]:
    with quintet.open(place / ".quintet") as opened:
        yield opened


def test_a_document_is_read_by_its_path_its_lines_or_a_chunk(
    client: httpx.Client, index: quintet.Index
) -> None:
    for reference in ("app/shop.py", "app/shop.py:5-6", index.get("app/shop.py")[0].chunk.id):
        answer = client.post("/v1/read", json={"reference": reference})
        passages = [passage_fields(passage) for passage in index.get(reference)]
        assert answer.json() == {"reference": reference, "passages": passages}
    assert code_of(client.post("/v1/read", json={"reference": "/etc/hosts"})) == (404, "document_not_found")


def test_the_code_graph_is_walked_and_outlined(client: httpx.Client, index: quintet.Index) -> None:
    asked = {"reference": "tax", "strategy": "callers"}
    found = client.post("/v1/related", json=asked).json()
    assert found == index.related("tax", "callers").wire()
    assert [one["name"] for one in found["neighbours"]] == ["app.shop.total"]
    outline = client.post("/v1/map", json={"paths": ["app"], "budget": 500}).json()
    assert outline == index.map(["app"], budget=500).wire()
    assert "def tax(x)" in outline["map"]


def test_the_folders_give_a_context(client: httpx.Client, index: quintet.Index) -> None:
    asked = {"query": "cache", "budget": 200, "search_method": "keyword"}
    body = client.post("/v1/context", json=asked).json()
    assert body == index.context("cache", 200, search_method="keyword").wire()
    assert body["text"]


def test_what_is_remembered_is_recalled(client: httpx.Client, index: quintet.Index) -> None:
    kept = client.post("/v1/remember", json={"text": "taxes are doubled", "about": ["app/shop.py"]}).json()
    assert kept["id"]
    found = client.post("/v1/recall", json={"query": "taxes", "about": "app/shop.py"}).json()
    assert found == index.memory.recall("taxes", about="app/shop.py").wire()
    assert [one["id"] for one in found["results"]] == [kept["id"]]
    again = client.post("/v1/remember", json={"text": "taxes are doubled"}).json()
    assert again["merged"] is True
    assert set(again) == set(asdict(index.memory.remember("taxes are doubled")))


def test_a_document_is_forgotten(tmp_path: Path) -> None:
    folder = indexed(tmp_path / "library")
    with serving(folder) as server, server.client() as client:
        before = client.get("/v1/status").json()["files"]
        gone = client.post("/v1/forget?wait=300", json={"path": "docs/cache.md"})
        assert gone.json() == {"forgotten": 1}
        assert client.get("/v1/status").json()["files"] == before - 1
        assert code_of(client.post("/v1/forget", json={"path": "docs/cache.md"})) == (
            404,
            "document_not_found",
        )


def test_a_key_that_reads_neither_forgets_nor_sees_memories(tmp_path: Path) -> None:
    folder = indexed(tmp_path / "library")
    reading = {"Authorization": f"Bearer {Keys(folder / '.quintet').add('reader', 'read')[1]}"}
    with serving(folder, "--require-key") as server, server.client(headers=reading) as client:
        for path, body in (
            ("forget", {"path": "docs"}),
            ("remember", {"text": "x"}),
            ("recall", {"query": "x"}),
        ):
            assert code_of(client.post(f"/v1/{path}", json=body)) == (403, "forbidden")
        assert client.post("/v1/read", json={"reference": "docs/cache.md"}).status_code == 200
