"""The address in a reference leads to the file of a source for those with a key, and for nobody else."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from http_serving import code_of, indexed, serving

from quintet.serving.keys import Keys

BASE = "/v1/knowledge-bases/manuals"
TEXT = "The pump of the boiler moves water."


@pytest.fixture(scope="module")
def clients(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, httpx.Client]]:
    """By name: who owns the server, may read the base, may read another one, or has no key at all."""
    place: Path = indexed(tmp_path_factory.mktemp("keys"))
    (place / "papers").mkdir()
    (place / "papers" / "pump.txt").write_text(TEXT, "utf-8")
    keys = Keys(place / ".quintet")
    given = {
        "owner": keys.add("owner", "write")[1],
        "reader": keys.add("reader", "read", ["manuals"])[1],
        "stranger": keys.add("stranger", "read", ["elsewhere"])[1],
        "revoked": keys.add("revoked", "read", ["manuals"])[1],
    }
    keys.revoke("revoked")
    with ExitStack() as stack:
        server = stack.enter_context(serving(place, "--require-key"))
        opened = {
            name: stack.enter_context(server.client(headers={"Authorization": f"Bearer {key}"}))
            for name, key in given.items()
        }
        owner = opened["owner"]
        owner.post("/v1/knowledge-bases", json={"slug": "manuals"})
        owner.post("/v1/knowledge-bases", json={"slug": "elsewhere"})
        owner.post(f"{BASE}/sources", json={"directory": "papers"})
        job = owner.post(f"{BASE}/sources/papers/sync").headers["location"]
        with owner.stream("GET", f"{job}/events") as events:
            assert '"state": "done"' in "".join(events.iter_lines())
        yield {**opened, "nobody": stack.enter_context(server.client())}


@pytest.mark.requirement("003-REF-FILE-URL")
def test_the_address_of_a_file_of_a_source_opens_with_a_key_of_its_base_alone(
    clients: dict[str, httpx.Client],
) -> None:
    asked = {"query": "boiler pump", "index": "kb_manuals", "search_method": "keyword"}
    answer = clients["reader"].post("/v1/retrieval", json={"retrieval": asked, "references": True})
    (result,) = answer.json()["retrieval_calls"][0]["results"]
    assert result["metadata"]["managed_by_source"] is True
    (reference,) = answer.json()["references"]
    url = reference["file_url"]
    assert url.startswith("/v1/playgrounds/") and url.endswith("/source-file")
    for name in ("owner", "reader"):
        assert clients[name].get(url).text == TEXT
    for name in ("nobody", "revoked"):
        assert code_of(clients[name].get(url)) == (401, "unauthorized")
        assert clients[name].head(url).status_code == 401
    assert code_of(clients["stranger"].get(url))[0] in (403, 404)
    wrong = {"Authorization": "Bearer qk_000000000000_" + "a" * 43}
    assert code_of(clients["nobody"].get(url, headers=wrong)) == (401, "unauthorized")


@pytest.mark.requirement("003-REF-FILE-URL")
def test_on_this_machine_the_file_of_a_source_needs_a_key_as_soon_as_there_is_one(tmp_path: Path) -> None:
    place = indexed(tmp_path)
    (place / "papers").mkdir()
    (place / "papers" / "pump.txt").write_text(TEXT, "utf-8")
    keys = Keys(place / ".quintet")
    asked = {"query": "boiler pump", "index": "kb_manuals", "search_method": "keyword"}
    with serving(place) as server, server.client() as client:
        client.post("/v1/knowledge-bases", json={"slug": "manuals"})
        client.post(f"{BASE}/sources", json={"directory": "papers"})
        job = client.post(f"{BASE}/sources/papers/sync").headers["location"]
        with client.stream("GET", f"{job}/events") as events:
            assert '"state": "done"' in "".join(events.iter_lines())
        answer = client.post("/v1/retrieval", json={"retrieval": asked, "references": True})
        url = answer.json()["references"][0]["file_url"]
        assert client.get(url).text == TEXT
        _, key = keys.add("reader", "read", ["manuals"])
        assert code_of(client.get(url)) == (401, "unauthorized")
        assert client.head(url).status_code == 401
        assert client.get(url, headers={"Authorization": f"Bearer {key}"}).text == TEXT
        assert client.get(f"{BASE}/documents").status_code == 200  # other routes stay open here
        keys.revoke("reader")
        assert client.get(url).text == TEXT
