"""Knowledge bases over HTTP: made, filled, asked, cited, archived and deleted."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from http_serving import Running, code_of, indexed, serving

from quintet.http.access import without_paths
from quintet.knowledge.folder_sources import MAX_SOURCES
from quintet.knowledge.registration import MAX_PROPERTIES

BASES = "/v1/knowledge-bases"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return indexed(tmp_path_factory.mktemp("bases"))


@pytest.fixture(scope="module")
def running(place: Path) -> Iterator[Running]:
    with serving(place) as server:
        yield server


@pytest.fixture(scope="module")
def asking(running: Running) -> Iterator[httpx.Client]:
    with running.client() as client:
        yield client


@pytest.fixture
def base(asking: httpx.Client) -> Iterator[str]:
    """An empty base with a schema, for one test."""
    properties = [{"name": "team", "type": "text"}, {"name": "year", "type": "int"}]
    made = asking.post(BASES, json={"slug": "product_docs", "title": "Docs", "properties": properties})
    assert (made.status_code, made.headers["location"]) == (201, f"{BASES}/product_docs")
    yield f"{BASES}/product_docs"
    asking.delete(f"{BASES}/product_docs")


def put(client: httpx.Client, base: str, **document: Any) -> dict[str, Any]:
    answer = client.post(f"{base}/documents", json=document)
    assert answer.status_code == 200, answer.text
    (outcome,) = answer.json()["documents"]
    return dict(outcome)


def retrieved(client: httpx.Client, **asked: Any) -> dict[str, Any]:
    beside = {name: asked.pop(name) for name in ("references",) if name in asked}
    answer = client.post("/v1/retrieval", json={"retrieval": asked, **beside})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_a_base_is_made_listed_described_and_deleted(asking: httpx.Client, base: str) -> None:
    described = asking.get(base).json()
    assert (described["id"], described["index"], described["title"]) == (
        "product_docs",
        "kb_product_docs",
        "Docs",
    )
    assert (described["state"], described["archived"], described["documents"]) == ("ready", False, 0)
    assert asking.get(f"{BASES}/kb_product_docs").json() == described
    assert asking.get(BASES).json() == {"knowledge_bases": [described]}
    again = asking.post(BASES, json={"slug": "product_docs"})
    assert code_of(again) == (409, "knowledge_base_exists")
    assert asking.delete(base).json() == {"id": "product_docs", "outcome": "deleted"}
    assert code_of(asking.get(base)) == (404, "unknown_index")
    assert asking.get(BASES).json() == {"knowledge_bases": []}


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({}, "invalid_parameter"),
        ({"slug": "Upper"}, "invalid_parameter"),
        ({"slug": "../up"}, "invalid_parameter"),
        ({"slug": 7}, "invalid_parameter"),
        ({"slug": "x", "colour": "red"}, "invalid_parameter"),
        ({"slug": "x", "properties": [{"name": "page_number", "type": "int"}]}, "reserved_property"),
        ({"slug": "x", "properties": "team"}, "invalid_parameter"),
    ],
)
def test_a_base_that_cannot_be_is_refused(asking: httpx.Client, asked: dict[str, Any], code: str) -> None:
    assert code_of(asking.post(BASES, json=asked)) == (400, code)
    assert asking.get(BASES).json() == {"knowledge_bases": []}


def test_what_waiting_cannot_help_is_too_large_and_nobody_is_told_to_return(
    asking: httpx.Client, base: str, place: Path
) -> None:
    many = [{"name": f"p{number}", "type": "text"} for number in range(MAX_PROPERTIES + 1)]
    wide = asking.post(BASES, json={"slug": "wide", "properties": many})
    for number in range(MAX_SOURCES + 1):
        (place / "sources" / str(number)).mkdir(parents=True)
        added = asking.post(f"{base}/sources", json={"directory": f"sources/{number}"})
        assert (added.status_code == 201) is (number < MAX_SOURCES)
    for answer in (wide, added):
        assert code_of(answer) == (413, "too_large")
        assert "retry-after" not in answer.headers


@pytest.mark.requirement("003-OWN-BACKEND-REQUEST")
@pytest.mark.requirement("003-OWN-BACKEND-KB")
@pytest.mark.requirement("003-OWN-BACKEND-FORWARD")
def test_the_canonical_request_gives_the_canonical_result(asking: httpx.Client, base: str) -> None:
    text = "Hybrid retrieval blends semantic recall with lexical precision."
    put(
        asking,
        base,
        id="doc-1",
        text=text,
        title="Architecture Overview",
        uri="https://example.com/architecture",
    )
    asked = {
        "index": "kb_product_docs",
        "query": "How does retrieval work?",
        "top_k": 5,
        "filters": {},
        "search_method": "hybrid",
        "query_preprocessing": "normalize",
        "hybrid_alpha": 0.5,
    }
    body = retrieved(asking, **asked)
    assert set(body) == {"retrieval_calls", "status", "notes"}
    (call,) = body["retrieval_calls"]
    (result,) = call.pop("results")
    assert call == {
        "index": "kb_product_docs",
        "query": "how does retrieval work",
        "top_k": 5,
        "search_method": "hybrid",
        "query_preprocessing": "normalize",
        "hybrid_alpha": 0.5,
        "result_count": 1,
    }
    assert result["text"] == text
    assert result["metadata"] == {
        "knowledge_base_id": "product_docs",
        "document_id": "doc-1",
        "chunk_index": 0,
        "title": "Architecture Overview",
        "source_type": "text",
        "source_name": None,
        "uri": "https://example.com/architecture",
        "source_id": None,
        "source_path": None,
        "managed_by_source": False,
    }
    parts = result["relevance_components"]
    assert result["score"] == result["relevance_score"]
    assert result["score"] == pytest.approx(0.5 * parts["semantic_score"] + 0.5 * parts["keyword_score"])
    assert (result["score_kind"], result["relevance_kind"]) == ("hybrid_score", "hybrid_score")


@pytest.mark.parametrize("path", ["/v1/search", "/v1/contracts/knowledge/search"])
def test_every_search_route_reaches_a_base_by_its_index(asking: httpx.Client, base: str, path: str) -> None:
    put(asking, base, text="zeppelins are airships")
    asked = {"query": "zeppelins", "index": "kb_product_docs", "search_method": "keyword"}
    extra = {"contract": "knowledge"} if path == "/v1/search" else {}
    (call,) = asking.post(path, json={**asked, **extra}).json()["retrieval_calls"]
    assert call["result_count"] == 1
    unknown = asking.post(path, json={**asked, **extra, "index": "kb_none"})
    assert code_of(unknown) == (404, "unknown_index")


def test_documents_are_put_changed_listed_and_removed(asking: httpx.Client, base: str) -> None:
    first = put(asking, base, id="one", text="the first text", metadata={"team": "red", "year": 2026})
    assert (first["id"], first["outcome"], first["chunks"]) == ("one", "created", 1)
    assert put(asking, base, id="one", text="the first text", metadata={"team": "red", "year": 2026})[
        "outcome"
    ] == ("unchanged")
    several = [{"id": f"n{number}", "content": f"text number {number}"} for number in range(4)]
    told = asking.post(f"{base}/documents", json={"documents": several}).json()["documents"]
    assert [(one["id"], one["outcome"]) for one in told] == [(f"n{n}", "created") for n in range(4)]
    page = asking.get(f"{base}/documents", params={"limit": 3}).json()
    assert len(page["documents"]) == 3
    rest = asking.get(f"{base}/documents", params={"limit": 3, "after": page["next"]}).json()
    assert rest["next"] is None
    ids = [one["id"] for one in (*page["documents"], *rest["documents"])]
    assert sorted(ids) == ["n0", "n1", "n2", "n3", "one"]
    changed = asking.put(f"{base}/documents/one", json={"title": "First", "metadata": {"team": "blue"}})
    assert changed.json()["documents"][0]["outcome"] == "updated"
    found = asking.get(f"{base}/documents/one").json()
    assert (found["title"], found["metadata"]) == ("First", {"team": "blue"})
    asking.put(f"{base}/documents/one", json={"text": "another text about zebras"})
    assert (
        retrieved(asking, index="kb_product_docs", query="zebras", search_method="keyword")[
            "retrieval_calls"
        ][0]["result_count"]
        == 1
    )
    assert asking.delete(f"{base}/documents/one").json() == {"id": "one", "outcome": "deleted"}
    assert code_of(asking.delete(f"{base}/documents/one")) == (404, "document_not_found")
    assert code_of(asking.get(f"{base}/documents/one")) == (404, "document_not_found")


def test_filters_take_the_properties_of_the_schema(asking: httpx.Client, base: str) -> None:
    for team, year in (("red", 2025), ("blue", 2026)):
        put(asking, base, id=team, text=f"the plan of {team}", metadata={"team": team, "year": year})
    for filters, found in (({"team": "red"}, ["red"]), ({"year": 2026}, ["blue"]), ({"team": "none"}, [])):
        for method in ("semantic", "keyword", "hybrid"):
            body = retrieved(
                asking, index="kb_product_docs", query="plan", filters=filters, search_method=method
            )
            results = body["retrieval_calls"][0]["results"]
            assert [one["metadata"]["document_id"] for one in results] == found
    wrong = {"retrieval": {"query": "plan", "index": "kb_product_docs", "filters": {"colour": "red"}}}
    assert code_of(asking.post("/v1/retrieval", json=wrong))[0] == 400


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"text": 3},
        {"text": "a", "content": "b"},
        {"text": "a", "colour": "red"},
        {"text": "a", "id": "../x"},
        {"text": "a", "uri": "file:///etc/passwd"},
        {"text": "a", "metadata": [1]},
        {"text": "a", "metadata": {"year": "soon"}},
        {"text": "a", "mime": 3},
        {"documents": []},
        {"documents": [3]},
        {"documents": [{"title": "no text"}]},
        {"documents": [{"text": "a"}], "text": "b"},
    ],
)
def test_a_document_that_cannot_be_is_refused(asking: httpx.Client, base: str, body: dict[str, Any]) -> None:
    assert code_of(asking.post(f"{base}/documents", json=body))[0] == 400
    assert asking.get(base).json()["documents"] == 0


def test_one_bad_document_of_several_does_not_keep_out_the_rest(asking: httpx.Client, base: str) -> None:
    several = [{"text": "good"}, {"text": "bad", "metadata": {"year": "x"}}, {"text": "good too"}]
    told = asking.post(f"{base}/documents", json={"documents": several}).json()["documents"]
    assert [one["outcome"] for one in told] == ["created", "refused", "created"]
    assert "year" in told[1]["message"]
    assert asking.get(base).json()["documents"] == 2


@pytest.mark.parametrize("asked", ["limit=0", "limit=x", "limit=1001", "limit=1&limit=2", "colour=red"])
def test_a_page_that_means_nothing_is_refused(asking: httpx.Client, base: str, asked: str) -> None:
    assert code_of(asking.get(f"{base}/documents?{asked}")) == (400, "invalid_parameter")


def test_an_archived_base_answers_no_search_until_it_is_taken_out(asking: httpx.Client, base: str) -> None:
    put(asking, base, text="something")
    assert asking.post(f"{base}/archive").json()["archived"] is True
    asked = {"retrieval": {"query": "something", "index": "kb_product_docs"}}
    assert code_of(asking.post("/v1/retrieval", json=asked)) == (409, "knowledge_base_not_ready")
    packed = asking.post(f"{base}/context", json={"query": "something"})
    assert code_of(packed) == (409, "knowledge_base_not_ready")
    assert asking.post(f"{base}/unarchive").json()["archived"] is False
    assert asking.post("/v1/retrieval", json=asked).status_code == 200


@pytest.mark.requirement("003-OWN-BACKEND-PROJECT")
@pytest.mark.requirement("003-REF-FILE-URL")
def test_references_name_each_document_once_and_lead_to_its_file(asking: httpx.Client, base: str) -> None:
    long = "\n\n".join(f"# Part {n}\n\nThe lighthouse of part {n} shines far." for n in range(3))
    files = [("file", ("guide.md", long)), ("file", ("short.txt", "A lighthouse stands here."))]
    asking.post(f"{base}/documents", files=files)
    put(asking, base, text="A lighthouse in a text", uri="https://example.com/a")
    body = retrieved(
        asking, index="kb_product_docs", query="lighthouse", search_method="keyword", references=True
    )
    results, references = body["retrieval_calls"][0]["results"], body["references"]
    assert len(results) > len(references) == 3
    assert [one["citation_label"] for one in references] == ["[1]", "[2]", "[3]"]
    assert {one["reference_id"] for one in results} == {one["id"] for one in references}
    by_title = {one["title"]: one for one in references}
    for reference in references:
        tagged = [one["id"] for one in results if one["reference_id"] == reference["id"]]
        assert reference["source_ids"] == tagged
    plain = by_title.pop("A lighthouse in a text")
    assert "file_url" not in plain
    assert plain["uri"] == "https://example.com/a"
    sent = {asking.get(one["file_url"]).text for one in by_title.values()}
    assert sent == {long, "A lighthouse stands here."}
    unasked = retrieved(asking, index="kb_product_docs", query="lighthouse", search_method="keyword")
    assert "references" not in unasked
    wrong = {"retrieval": {"query": "x"}, "references": "yes"}
    assert code_of(asking.post("/v1/retrieval", json=wrong)) == (400, "invalid_parameter")


def test_a_context_is_cited_within_its_budget_and_the_same_each_time(asking: httpx.Client, base: str) -> None:
    for number in range(6):
        put(
            asking,
            base,
            id=f"d{number}",
            text=f"Fact {number}: the harbour has {number * 7} cranes and ships.",
        )
    asked = {"query": "harbour cranes", "budget": 60, "search_method": "keyword"}
    first = asking.post(f"{base}/context", json=asked)
    assert first.status_code == 200
    assert asking.post(f"{base}/context", json=asked).content == first.content
    body = first.json()
    assert 0 < body["tokens"] <= 60
    assert body["text"].startswith("[1]\n```passage\n")
    assert len(body["references"]) == len(body["sources"]) < 6
    assert code_of(asking.post(f"{base}/context", json={"budget": 60})) == (400, "bad_query")
    assert code_of(asking.post(f"{base}/context", json={**asked, "budget": 0})) == (400, "invalid_parameter")
    assert code_of(asking.post(f"{base}/context", json={**asked, "index": "kb_x"})) == (
        400,
        "invalid_parameter",
    )


def synced(client: httpx.Client, base: str, source: str) -> dict[str, Any]:
    started = client.post(f"{base}/sources/{source}/sync")
    assert started.status_code == 202
    assert started.headers["location"] == f"/v1/jobs/{started.json()['id']}"
    with client.stream("GET", f"{started.headers['location']}/events") as events:
        lines = [line for line in events.iter_lines() if line.startswith("data: ")]
    ended = json.loads(lines[-1].removeprefix("data: "))
    assert client.get(started.headers["location"]).json() == ended
    return dict(ended)


@pytest.mark.requirement("003-REF-NO-LOCAL-PATH")
def test_a_source_is_synced_as_a_job_and_no_answer_tells_where_it_lies(
    asking: httpx.Client, base: str, place: Path
) -> None:
    folder = place / "manuals"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.md").write_text("# Pumps\n\nA pump moves water.\n", "utf-8")
    (folder / "deep" / "b.txt").write_text("Valves close pipes.", "utf-8")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 but no more")
    added = asking.post(f"{base}/sources", json={"directory": "manuals"})
    assert (added.status_code, added.json()["id"]) == (201, "manuals")
    ended = synced(asking, base, "manuals")
    assert (ended["kind"], ended["state"]) == ("sync", "done")
    assert (ended["result"]["scanned"], ended["result"]["created_documents"]) == (3, 2)
    assert [one["path"] for one in ended["result"]["problems"]] == ["broken.pdf"]
    (folder / "a.md").unlink()
    again = synced(asking, base, "manuals")
    assert (again["result"]["deleted_documents"], again["result"]["created_documents"]) == (1, 0)
    answers = [
        asking.get(base),
        asking.get(f"{base}/runs"),
        asking.get(f"{base}/sources"),
        asking.get(f"{base}/documents"),
        asking.post(
            "/v1/retrieval",
            json={
                "retrieval": {"query": "valves", "index": "kb_product_docs", "search_method": "keyword"},
                "references": True,
            },
        ),
        asking.post(f"{base}/context", json={"query": "valves", "search_method": "keyword"}),
        asking.post(f"{base}/sources", json={"directory": "manuals"}),
        asking.post(f"{base}/sources", json={"directory": ".."}),
        asking.post(f"{base}/sources", json={"directory": ".quintet"}),
        asking.post(f"{base}/sources", json={"directory": "docs/cache.md"}),
    ]
    assert [one.status_code for one in answers] == [200] * 6 + [409, 403, 403, 400]
    for one in answers:
        assert str(place) not in one.text, one.url
        assert "file:" not in one.text
    (run, _) = asking.get(f"{base}/runs", params={"source": "manuals"}).json()["runs"]
    assert run == again["result"]
    (reference,) = answers[4].json()["references"]
    assert asking.get(reference["file_url"]).text == "Valves close pipes."
    managed = asking.get(f"{base}/documents").json()["documents"][0]["id"]
    assert code_of(asking.delete(f"{base}/documents/{managed}")) == (409, "managed_by_source")
    gone = asking.delete(f"{base}/sources/manuals").json()
    assert gone == {"id": "manuals", "outcome": "deleted", "documents": 1}
    assert code_of(asking.post(f"{base}/sources/manuals/sync")) == (404, "unknown_source")


def test_a_run_that_fails_tells_why_but_not_where(asking: httpx.Client, base: str, place: Path) -> None:
    folder = place / "fleeting"
    folder.mkdir()
    asking.post(f"{base}/sources", json={"directory": "fleeting"})
    folder.rmdir()
    ended = synced(asking, base, "fleeting")
    assert (ended["state"], ended["error"]["code"]) == ("failed", "source_gone")
    assert asking.get(base).json()["state"] == "error"
    asked = {"retrieval": {"query": "x", "index": "kb_product_docs"}}
    assert code_of(asking.post("/v1/retrieval", json=asked)) == (409, "knowledge_base_not_ready")
    assert str(place) not in json.dumps([ended, asking.get(f"{base}/runs").json()])


def test_a_place_is_hidden_as_it_is_and_as_errors_quote_it() -> None:
    shared: Any = SimpleNamespace(
        folder=Path("/srv/a\\b/.quintet"), base=Path("/srv/a\\b"), allowed=(Path("/srv/more"),)
    )
    error = OSError(13, "Permission denied", "/srv/a\\b/.quintet/index.db")
    assert without_paths(shared, str(error)) == "[Errno 13] Permission denied: '…/index.db'"
    assert without_paths(shared, "/srv/a\\b/.quintet and /srv/more/x") == "… and …/x"
