"""Two tenants on one server: each with a key for its own knowledge base, and no way to the other's."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from http_serving import code_of, command, indexed, serving

from quintet.errors import UsageError
from quintet.serving.keys import Keys

BASES = "/v1/knowledge-bases"
FILES = "/v1/playgrounds/knowledge-bases"
SECRET = "the merger with Umbrella is on Tuesday"


@dataclass(frozen=True)
class Clients:
    """The owner of the server, who may write in base `ours`, who may read it, and who has `theirs`."""

    owner: httpx.Client
    ours: httpx.Client
    reader: httpx.Client
    theirs: httpx.Client
    their_job: str


@pytest.fixture(scope="module")
def clients(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clients]:
    place = indexed(tmp_path_factory.mktemp("tenants"))
    (place / "papers").mkdir()
    (place / "papers" / "plan.txt").write_text("a secret plan of theirs", "utf-8")
    keys = Keys(place / ".quintet")
    given = {
        "owner": keys.add("owner", "write")[1],
        "ours": keys.add("ours", "write", ["ours"])[1],
        "reader": keys.add("reader", "read", ["kb_ours"])[1],
        "theirs": keys.add("theirs", "write", ["theirs", "later"])[1],
    }
    with ExitStack() as stack:
        server = stack.enter_context(serving(place, "--require-key"))
        opened = {
            name: stack.enter_context(server.client(headers={"Authorization": f"Bearer {key}"}))
            for name, key in given.items()
        }
        owner, theirs = opened["owner"], opened["theirs"]
        for slug in ("ours", "theirs"):
            assert owner.post(BASES, json={"slug": slug, "title": f"The base {slug}"}).status_code == 201
        put = theirs.post(f"{BASES}/theirs/documents", json={"id": "doc", "text": SECRET})
        assert put.json()["documents"][0]["outcome"] == "created"
        owner.post(f"{BASES}/theirs/sources", json={"directory": "papers"})
        job = theirs.post(f"{BASES}/theirs/sources/papers/sync").headers["location"]
        with theirs.stream("GET", f"{job}/events") as events:
            assert '"state": "done"' in "".join(events.iter_lines())
        yield Clients(**opened, their_job=job)


def retrieval(index: str | None, query: str = "merger", **more: Any) -> dict[str, Any]:
    named = {} if index is None else {"index": index}
    return {"retrieval": {"query": query, "search_method": "keyword", **named, **more}}


def test_a_tenant_has_all_of_its_own_base(clients: Clients) -> None:
    ours = clients.ours
    made = ours.post(f"{BASES}/ours/documents", files={"file": ("a.txt", "our own zebra")}, data={"id": "a"})
    assert made.json()["documents"][0]["outcome"] == "created"
    for client in (ours, clients.reader):
        assert client.get(f"{BASES}/ours").json()["documents"] == 1
        assert client.get(f"{FILES}/ours/documents/a/source-file").text == "our own zebra"
        body = client.post("/v1/retrieval", json=retrieval("kb_ours", "zebra")).json()
        assert body["retrieval_calls"][0]["result_count"] == 1
        asked = {"query": "zebra", "index": "kb_ours", "search_method": "keyword"}
        assert client.post("/v1/contracts/knowledge/search", json=asked).status_code == 200
        assert client.post("/v1/search", json={**asked, "contract": "knowledge"}).status_code == 200
        by_house = {"query": "zebra", "index": "kb_ours"}
        for path in ("/v1/search", "/v1/contracts/quintet/search"):
            assert [one["path"] for one in client.post(path, json=by_house).json()["results"]] == ["a"]
        assert client.post(f"{BASES}/ours/context", json={"query": "zebra"}).status_code == 200
    assert ours.delete(f"{BASES}/ours/documents/a").status_code == 200


def test_a_list_shows_only_what_the_key_opens(clients: Clients) -> None:
    def slugs(client: httpx.Client) -> list[str]:
        return [one["id"] for one in client.get(BASES).json()["knowledge_bases"]]

    assert slugs(clients.owner) == ["ours", "theirs"]
    assert slugs(clients.ours) == slugs(clients.reader) == ["ours"]
    assert slugs(clients.theirs) == ["theirs"]
    assert "theirs" not in clients.ours.get(BASES).text


REQUESTS = (
    ("GET", f"{BASES}/@", None),
    ("GET", f"{BASES}/kb_@", None),
    ("DELETE", f"{BASES}/@", None),
    ("POST", f"{BASES}/@/archive", None),
    ("POST", f"{BASES}/@/unarchive", None),
    ("GET", f"{BASES}/@/documents", None),
    ("POST", f"{BASES}/@/documents", {"text": "planted"}),
    ("GET", f"{BASES}/@/documents/doc", None),
    ("PUT", f"{BASES}/@/documents/doc", {"text": "planted"}),
    ("PUT", f"{BASES}/@/documents/doc", {"title": "planted"}),
    ("DELETE", f"{BASES}/@/documents/doc", None),
    ("GET", f"{BASES}/@/sources", None),
    ("DELETE", f"{BASES}/@/sources/papers", None),
    ("POST", f"{BASES}/@/sources/papers/sync", None),
    ("GET", f"{BASES}/@/runs", None),
    ("POST", f"{BASES}/@/context", {"query": "merger"}),
    ("GET", f"{FILES}/@/documents/doc/source-file", None),
    ("POST", "/v1/retrieval", {"retrieval": {"query": "merger", "index": "kb_@"}}),
    ("POST", "/v1/retrieval", {"retrieval": {"query": "merger", "index": "@"}}),
    ("POST", "/v1/contracts/knowledge/search", {"query": "merger", "index": "kb_@"}),
    ("POST", "/v1/search", {"query": "merger", "contract": "knowledge", "index": "kb_@"}),
    ("POST", "/v1/search", {"query": "merger", "index": "kb_@"}),
    ("POST", "/v1/search", {"query": "merger", "index": " kb_@"}),
    ("POST", "/v1/contracts/quintet/search", {"query": "merger", "index": "kb_@"}),
)


@pytest.mark.parametrize(("method", "path", "body"), REQUESTS)
def test_a_base_of_another_is_refused_in_the_words_of_one_that_is_not_there(
    clients: Clients, method: str, path: str, body: dict[str, Any] | None
) -> None:
    def asked(slug: str) -> tuple[int, str, str]:
        sent = None if body is None else json.loads(json.dumps(body).replace("@", slug))
        answer = clients.ours.request(method, path.replace("@", slug), json=sent)
        return answer.status_code, answer.text.replace(slug, "@"), str(sorted(answer.headers))

    there, nowhere = asked("theirs"), asked("nobody")
    assert there == nowhere
    assert there[0] == 404
    assert "unknown_index" in there[1]


def test_an_upload_into_another_base_is_refused_in_the_same_words(clients: Clients) -> None:
    answers = [
        clients.ours.post(f"{BASES}/{slug}/documents", files={"file": ("a.txt", "planted")})
        for slug in ("theirs", "nobody")
    ]
    assert [one.status_code for one in answers] == [404, 404]
    assert answers[0].text.replace("theirs", "nobody") == answers[1].text


def test_nothing_of_what_was_tried_reached_the_other_base(clients: Clients) -> None:
    told = clients.theirs.get(f"{BASES}/theirs").json()
    assert (told["documents"], told["archived"], len(told["sources"])) == (2, False, 1)
    body = clients.theirs.post("/v1/retrieval", json=retrieval("kb_theirs")).json()
    assert body["retrieval_calls"][0]["results"][0]["text"] == SECRET


def test_ids_and_filters_of_another_base_find_nothing_in_ones_own(clients: Clients) -> None:
    ours = clients.ours
    assert code_of(ours.get(f"{BASES}/ours/documents/doc")) == (404, "document_not_found")
    assert code_of(ours.delete(f"{BASES}/ours/documents/doc")) == (404, "document_not_found")
    assert code_of(ours.get(f"{FILES}/ours/documents/doc/source-file")) == (404, "document_not_found")
    theirs = clients.theirs.get(f"{BASES}/theirs/documents").json()["documents"]
    for id in [one["id"] for one in theirs]:
        assert code_of(ours.get(f"{FILES}/ours/documents/{id}/source-file")) == (404, "document_not_found")
    for filters in ({"knowledge_base_id": "theirs"}, {"document_id": "doc"}, {"source_id": "papers"}):
        body = ours.post("/v1/retrieval", json=retrieval("kb_ours", filters=filters)).json()
        assert body["retrieval_calls"][0]["results"] == []
    assert ours.get(f"{BASES}/ours/runs").json() == {"runs": []}
    assert ours.get(f"{BASES}/ours/runs", params={"source": "papers"}).json() == {"runs": []}
    assert code_of(ours.post(f"{BASES}/ours/sources/papers/sync")) == (404, "unknown_source")


def test_a_search_that_another_made_before_brings_nothing_from_its_cache(clients: Clients) -> None:
    for _ in range(2):
        found = clients.theirs.post("/v1/retrieval", json=retrieval("kb_theirs")).json()
        assert found["retrieval_calls"][0]["result_count"] == 1
        mine = clients.ours.post("/v1/retrieval", json=retrieval("kb_ours")).json()
        assert mine["retrieval_calls"][0]["result_count"] == 0


def test_a_job_of_another_base_is_not_there(clients: Clients) -> None:
    nowhere = "/v1/jobs/0123456789abcdef"
    for path in (clients.their_job, f"{clients.their_job}/events"):
        assert clients.ours.get(path).text == clients.ours.get(nowhere).text
        assert code_of(clients.ours.get(path)) == (404, "unknown_job")
    assert code_of(clients.ours.delete(clients.their_job)) == (404, "unknown_job")
    assert clients.theirs.get(clients.their_job).status_code == 200
    assert clients.owner.get(clients.their_job).status_code == 200
    reindex = clients.owner.post("/v1/reindex", json={"path": "docs"}).headers["location"]
    assert code_of(clients.ours.get(reindex)) == (404, "unknown_job")


@pytest.mark.parametrize("contract", ["quintet", "rifflux", "harness", "mcb", "cfs"])
def test_a_key_for_bases_does_not_search_the_folders(clients: Clients, contract: str) -> None:
    for client in (clients.ours, clients.reader):
        named = client.post(f"/v1/contracts/{contract}/search", json={"query": "cache"})
        assert code_of(named) == (403, "forbidden")
        assert "cache_answer" not in named.text
        asked = client.post("/v1/search", json={"query": "cache", "contract": contract})
        assert code_of(asked) == (403, "forbidden")
    assert code_of(clients.ours.post("/v1/search", json={"query": "cache"})) == (403, "forbidden")


@pytest.mark.parametrize("index", [None, "default", "", "kb_", "kb_default"])
def test_the_index_of_all_folders_is_not_there_for_a_key_for_bases(
    clients: Clients, index: str | None
) -> None:
    assert code_of(clients.ours.post("/v1/retrieval", json=retrieval(index, "cache"))) == (
        404,
        "unknown_index",
    )


def test_a_name_that_is_no_name_is_refused_too(clients: Clients) -> None:
    for index in (7, None, ["kb_ours"], {"a": 1}):
        body = {"retrieval": {"query": "cache", "index": index}}
        assert clients.ours.post("/v1/retrieval", json=body).status_code in (400, 404)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/status", None),
        ("GET", "/metrics", None),
        ("GET", "/v1/chunks/" + "0" * 32, None),
        ("POST", "/v1/reindex", {}),
        ("POST", "/v1/verify", {}),
        ("POST", "/v1/why", {"query": "cache", "reference": "docs/cache.md"}),
        ("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
        ("GET", "/mcp", None),
        ("DELETE", "/mcp", None),
        ("POST", BASES, {"slug": "mine"}),
        ("POST", BASES, {"slug": "theirs"}),
        ("POST", f"{BASES}/ours/sources", {"directory": "papers"}),
        ("POST", f"{BASES}/theirs/sources", {"directory": "papers"}),
    ],
)
def test_what_is_of_all_is_not_for_a_key_for_bases(
    clients: Clients, method: str, path: str, body: dict[str, Any] | None
) -> None:
    refused = clients.ours.request(method, path, json=body)
    assert code_of(refused) == (403, "forbidden")
    assert "key" in refused.json()["error"]["message"]


def test_a_key_that_only_reads_changes_nothing_and_learns_nothing(clients: Clients) -> None:
    for method, path, body in REQUESTS:
        if method == "GET" or path.endswith(("search", "retrieval", "context")):
            continue
        for slug in ("ours", "theirs", "nobody"):
            refused = clients.reader.request(method, path.replace("@", slug), json=body)
            assert code_of(refused) == (403, "forbidden"), path
            assert refused.text == clients.reader.request(method, path.replace("@", "x"), json=body).text


def test_without_a_key_nothing_is_told(clients: Clients) -> None:
    with httpx.Client(base_url=clients.ours.base_url, trust_env=False) as nobody:
        for method, path, body in REQUESTS:
            answer = nobody.request(method, path.replace("@", "theirs"), json=body)
            assert code_of(answer) == (401, "unauthorized")
        assert code_of(nobody.get(BASES)) == (401, "unauthorized")


def test_on_this_machine_without_keys_everything_is_open(library: Path) -> None:
    with serving(library) as server, server.client() as client:
        assert client.post(BASES, json={"slug": "open"}).status_code == 201
        assert client.get(BASES).json()["knowledge_bases"][0]["id"] == "open"
        key = Keys(library / ".quintet").add("some", "read", ["other"])[1]
        scoped = client.get(BASES, headers={"Authorization": f"Bearer {key}"})
        assert scoped.json() == {"knowledge_bases": []}


def test_a_damaged_base_hides_no_other_and_tells_no_place(library: Path) -> None:
    key = Keys(library / ".quintet").add("both", "read", ["broken", "whole"])[1]
    with serving(library) as server, server.client() as client:
        for slug in ("broken", "whole"):
            assert client.post(BASES, json={"slug": slug}).status_code == 201
        (library / ".quintet" / "knowledge" / "broken" / "base.json").write_text("{", "utf-8")
        for headers in ({}, {"Authorization": f"Bearer {key}"}):
            answer = client.get(BASES, headers=headers)
            shown = answer.json()["knowledge_bases"]
            assert [(one["id"], one["state"]) for one in shown] == [("broken", "error"), ("whole", "ready")]
            assert "cannot be read" in shown[0]["error"]
            assert str(library) not in answer.text


def test_the_command_line_makes_keys_for_bases(library: Path) -> None:
    done = command("keys", "add", "desk", "--write", "--kb", "b", "--kb", "kb_a", "--json", cwd=library)
    made = json.loads(done.stdout)
    assert (made["scope"], made["bases"]) == ("write", ["a", "b"])
    key = Keys(library / ".quintet").verify(made["key"])
    assert [key.reaches(slug) for slug in ("a", "b", "c")] == [True, True, False]
    assert "(only a, b)" in command("keys", "list", cwd=library).stdout
    for name in ("../x", "", "A B", "kb_", "default"):
        refused = command("keys", "add", "other", "--kb", name, cwd=library)
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)


def test_a_key_file_whose_bases_make_no_sense_lets_nobody_in(tmp_path: Path) -> None:
    keys = Keys(tmp_path)
    _, secret = keys.add("desk", "read", ["a"])
    file = tmp_path / "keys.json"
    stored = json.loads(file.read_text("utf-8"))
    wrong: list[Any] = ["a", [1], None, {}]
    for bases in wrong:
        stored["keys"][0]["bases"] = bases
        file.write_text(json.dumps(stored), "utf-8")
        with pytest.raises(Exception, match="cannot be read"):
            Keys(tmp_path).verify(secret)
    with pytest.raises(UsageError):
        Keys(tmp_path / "new").add("desk", "read", ["Not A Slug"])
