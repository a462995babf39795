"""The remote embedder against a real server on loopback. No test waits: pauses are noted, not slept."""

import json
import socket
from collections.abc import Iterator

import numpy as np
import pytest

from embed.server import Answer, Server, running, vectors
from quintet.embed import load_embedder
from quintet.embed.http import ATTEMPTS, LONGEST_PAUSE, Endpoint
from quintet.embed.remote import BATCH_BYTES, BATCH_TEXTS, RemoteEmbedder, batches
from quintet.errors import AccessError, QuintetError, StoreError, UsageError

KEY = "sk-very-secret"


@pytest.fixture
def server() -> Iterator[Server]:
    with running() as server:
        yield server


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def remote(server: Server, pauses: list[float]) -> RemoteEmbedder:
    return RemoteEmbedder(server.url, "small", KEY, 3, sleep=pauses.append)


def test_vectors_come_in_the_order_of_the_texts(remote: RemoteEmbedder, server: Server) -> None:
    found = remote.embed_documents(["a", "bb", "cccc"])
    assert found[:, 0].tolist() == [1.0, 2.0, 4.0]
    (asked,) = server.asked
    assert asked.path == "/v1/embeddings"
    assert asked.authorization == f"Bearer {KEY}"
    assert asked.body == {
        "model": "small", "input": ["a", "bb", "cccc"], "encoding_format": "float", "dimensions": 3,
    }  # fmt: skip


def test_a_query_is_one_text(remote: RemoteEmbedder) -> None:
    vector = remote.embed_query("four")
    assert vector is not None
    assert vector.tolist() == [4.0, 1.0, 0.5]


def test_many_texts_go_in_batches(remote: RemoteEmbedder, server: Server) -> None:
    found = remote.embed_documents(["x" * (n % 9 + 1) for n in range(150)])
    assert [len(asked.body["input"]) for asked in server.asked] == [64, 64, 22]
    assert found[:, 0].tolist() == [n % 9 + 1 for n in range(150)]


def test_a_batch_holds_so_many_bytes_and_a_longer_text_goes_alone() -> None:
    half = "x" * (BATCH_BYTES // 2)
    cut = list(batches([half, half, "y", half * 3, "z"]))
    assert [(one.start, one.stop) for one in cut] == [(0, 2), (2, 3), (3, 4), (4, 5)]
    assert list(batches([])) == []
    assert len(list(batches(["a"] * BATCH_TEXTS))) == 1


def test_dimensions_are_asked_for_once_and_only_when_needed(server: Server) -> None:
    remote = RemoteEmbedder(server.url + "/v1/", "small")
    assert server.asked == []
    assert remote.identity == "remote:small:3"
    assert remote.dimensions == 3
    assert len(server.asked) == 1
    assert "dimensions" not in server.asked[0].body
    assert server.asked[0].authorization is None


def test_strange_text_is_sent_so_that_a_server_can_read_it(remote: RemoteEmbedder, server: Server) -> None:
    remote.embed_documents(["", "\ud800!"])
    assert server.asked[0].body["input"] == [" ", "?!"]


def test_no_texts_ask_nothing(remote: RemoteEmbedder, server: Server) -> None:
    assert remote.embed_documents([]).shape == (0, 3)
    assert server.asked == []


def test_passing_failures_are_tried_again_with_longer_pauses(
    remote: RemoteEmbedder, server: Server, pauses: list[float]
) -> None:
    server.plan = [Answer(b"busy", 503), Answer(b"slow down", 429), Answer(b"", 500)]
    assert remote.embed_documents(["a"]).shape == (1, 3)
    assert pauses == [1.0, 2.0, 4.0]


def test_the_servers_own_pause_is_kept_up_to_a_limit(
    remote: RemoteEmbedder, server: Server, pauses: list[float]
) -> None:
    server.plan = [Answer(b"", 429, {"Retry-After": wait}) for wait in ("7", "86400", "Wed, 21 Oct 2026")]
    remote.embed_documents(["a"])
    assert pauses == [7.0, LONGEST_PAUSE, 4.0]


def test_a_failure_that_stays_is_one_clear_error(
    remote: RemoteEmbedder, server: Server, pauses: list[float]
) -> None:
    server.plan = [Answer(b"out of order", 502)] * ATTEMPTS
    with pytest.raises(StoreError, match=f"failed {ATTEMPTS} times: 502 out of order"):
        remote.embed_documents(["a"])
    assert len(server.asked) == ATTEMPTS
    assert len(pauses) == ATTEMPTS - 1


@pytest.mark.parametrize(
    ("status", "kind"), [(401, AccessError), (403, AccessError), (400, UsageError), (404, UsageError)]
)
def test_a_refusal_is_not_repeated_and_never_shows_the_key(
    status: int, kind: type[QuintetError], remote: RemoteEmbedder, server: Server, pauses: list[float]
) -> None:
    server.plan = [Answer(f"bad key {KEY}".encode(), status)]
    with pytest.raises(kind) as caught:
        remote.embed_documents(["a"])
    assert KEY not in caught.value.message
    assert str(status) in caught.value.message
    assert (len(server.asked), pauses) == (1, [])


def test_a_server_that_is_not_there_is_tried_and_named(pauses: list[float]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(StoreError, match=host):
            RemoteEmbedder(f"http://{host}", "small", KEY, 3, sleep=pauses.append).embed_query("a")
    assert len(pauses) == ATTEMPTS - 1


def test_a_silent_server_times_out(pauses: list[float]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/v1/embeddings"
        with pytest.raises(StoreError, match="timed out"):
            Endpoint(address, None, pauses.append, timeout=0.05).post({})
    assert len(pauses) == ATTEMPTS - 1


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_refused_and_the_key_stays_here(
    status: int, remote: RemoteEmbedder, server: Server
) -> None:
    with running() as elsewhere:
        server.plan = [Answer(b"", status, {"Location": elsewhere.url + "/v1/embeddings"})]
        with pytest.raises(QuintetError, match=r"redirects to|refused the request"):
            remote.embed_documents(["a"])
        assert elsewhere.asked == []


@pytest.mark.parametrize(
    "body",
    [
        b"not json",
        b"[]",
        b"{}",
        b'{"data": 7}',
        b'{"data": []}',
        b'{"data": [{"index": 0}]}',
        b'{"data": [{"index": 1, "embedding": [1, 2, 3]}]}',
        b'{"data": [{"index": 0, "embedding": []}]}',
        b'{"data": [{"index": 0, "embedding": "AAAA"}]}',
        b'{"data": [{"index": 0, "embedding": [1, null, 3]}]}',
        b'{"data": [{"index": 0, "embedding": [1, 2]}]}',
        b'{"data": [{"index": 0, "embedding": [1, 2, 3]}, {"index": 1, "embedding": [1, 2, 3]}]}',
    ],
)
def test_an_answer_that_makes_no_sense_is_an_error(
    body: bytes, remote: RemoteEmbedder, server: Server
) -> None:
    server.plan = [Answer(body)]
    with pytest.raises(StoreError, match="the embedding server"):
        remote.embed_documents(["a"])


def test_other_dimensions_than_expected_name_the_setting(remote: RemoteEmbedder, server: Server) -> None:
    server.usual = lambda asked: vectors(asked, 5)
    with pytest.raises(StoreError, match="5 dimensions instead of 3"):
        remote.embed_documents(["a"])


@pytest.mark.parametrize(
    "url",
    [
        "ftp://host/v1",
        "file:///etc/passwd",
        "host/v1",
        "http://",
        "http://me:pw@host",
        "http://[",
        "http://h:x",
    ],
)
def test_only_web_addresses_are_taken(url: str) -> None:
    with pytest.raises(UsageError, match="QUINTET_REMOTE_URL"):
        RemoteEmbedder(url, "small")


def test_it_is_set_up_by_the_environment(monkeypatch: pytest.MonkeyPatch, server: Server) -> None:
    for name in ("URL", "MODEL", "KEY", "DIMENSIONS"):
        monkeypatch.delenv(f"QUINTET_REMOTE_{name}", raising=False)
    with pytest.raises(UsageError, match="QUINTET_REMOTE_URL and QUINTET_REMOTE_MODEL"):
        load_embedder("remote")
    monkeypatch.setenv("QUINTET_REMOTE_URL", server.url)
    monkeypatch.setenv("QUINTET_REMOTE_MODEL", "small")
    monkeypatch.setenv("QUINTET_REMOTE_KEY", KEY)
    embedder = load_embedder("remote")
    assert embedder is not None
    assert server.asked == []
    assert (embedder.identity, embedder.dimensions) == ("remote:small:3", 3)
    vector = embedder.embed_query("a")
    assert vector is not None
    assert vector.dtype == np.int16
    monkeypatch.setenv("QUINTET_REMOTE_DIMENSIONS", "many")
    with pytest.raises(UsageError, match="QUINTET_REMOTE_DIMENSIONS is 'many'"):
        load_embedder("remote")


def test_the_largest_body_is_valid_json(remote: RemoteEmbedder, server: Server) -> None:
    remote.embed_documents(['"\\\n\u2028图🙂' * 1_000])
    assert json.dumps(server.asked[0].body)
