"""What is broken on the server's disk is told to clients, but not where it lies."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from http_serving import code_of, indexed, serving
from jsonschema import Draft202012Validator

from quintet.http.routes.knowledge import Bases
from quintet.model.schema import schema_of
from quintet.serving.keys import Keys

BASES = "/v1/knowledge-bases"
INVENTED = "qk_000000000000_" + "x" * 43
ASKED = {"query": "noon", "index": "kb_faq"}


@dataclass(frozen=True)
class Broken:
    """A server whose index lies at `folder`, and a client that has the key of base `faq`."""

    folder: Path
    client: httpx.Client


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Broken]:
    folder = indexed(tmp_path / "library") / ".quintet"
    owner, desk = Keys(folder).add("owner", "write")[1], Keys(folder).add("desk", "read", ["faq"])[1]
    with serving(folder.parent, "--require-key") as server, server.client() as client:
        client.post(BASES, json={"slug": "faq"}, headers={"Authorization": f"Bearer {owner}"})
        client.headers["Authorization"] = f"Bearer {desk}"
        yield Broken(folder, client)


def told(site: Broken, method: str, path: str, **asked: Any) -> tuple[int, str]:
    answer = site.client.request(method, path, **asked)
    assert str(site.folder.parent) not in answer.text
    return code_of(answer)


def test_a_search_of_a_damaged_base_does_not_tell_where_it_lies(site: Broken) -> None:
    (site.folder / "knowledge" / "faq" / "base.json").write_text("{", "utf-8")
    searches: dict[str, dict[str, Any]] = {
        "/v1/retrieval": {"retrieval": ASKED},
        "/v1/search": {"contract": "knowledge", **ASKED},
        "/v1/contracts/knowledge/search": ASKED,
    }
    for path, body in searches.items():
        assert told(site, "POST", path, json=body) == (503, "store_failed")


def test_a_list_with_a_damaged_base_is_as_its_schema_says(site: Broken) -> None:
    (site.folder / "knowledge" / "faq" / "base.json").write_text("{", "utf-8")
    listed = site.client.get(BASES).json()
    Draft202012Validator(schema_of(Bases)).validate(listed)
    (base,) = listed["knowledge_bases"]
    assert (base["id"], base["state"]) == ("faq", "error")
    assert "base.json cannot be read" in base["error"]
    assert str(site.folder.parent) not in base["error"]


def test_a_damaged_file_of_keys_does_not_tell_strangers_where_it_lies(site: Broken) -> None:
    (site.folder / "keys.json").write_text("{", "utf-8")
    site.client.headers["Authorization"] = f"Bearer {INVENTED}"
    for path in (BASES, f"{BASES}/faq", "/v1/status", "/mcp"):
        assert told(site, "GET", path) == (503, "store_failed")
    assert told(site, "POST", "/v1/search", json={"query": "noon"}) == (503, "store_failed")


def test_an_index_that_cannot_be_read_does_not_tell_strangers_where_it_lies(site: Broken) -> None:
    for file in site.folder.glob("index.db*"):
        file.write_bytes(b"no database " * 1000)
    assert told(site, "GET", "/readyz") == (503, "store_failed")
