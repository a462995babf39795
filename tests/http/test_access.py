"""Who may ask what: hosts, origins, keys and paths."""

import json
import re
from pathlib import Path

import httpx
import pytest
from http_serving import Running, code_of, command, serving

from quintet.errors import UsageError
from quintet.http.config import Config
from quintet.serving.keys import Keys

ASKED = {"query": "cache"}


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "[::1]", "localhost:1", "LOCALHOST", "localhost."]
)
def test_the_names_of_this_machine_are_names_of_the_server(client: httpx.Client, host: str) -> None:
    assert client.post("/v1/search", json=ASKED, headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "",
        "192.0.2.1",
        "[::1]evil.com",
        "[::1",
    ],
)
@pytest.mark.parametrize("path", ["/healthz", "/docs", "/openapi.json", "/v1/status", "/mcp", "/nowhere"])
def test_another_name_is_refused_on_every_path(client: httpx.Client, host: str, path: str) -> None:
    assert code_of(client.get(path, headers={"Host": host})) == (403, "forbidden")


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "", "http://[bad", "://", "http://localhost:3000", "https://127.0.0.1"],
)
def test_a_page_of_another_origin_is_refused(client: httpx.Client, origin: str) -> None:
    answer = client.post("/v1/search", json=ASKED, headers={"Origin": origin})
    assert code_of(answer) == (403, "forbidden")
    assert "access-control-allow-origin" not in answer.headers


def test_a_page_of_the_servers_own_is_let_in(client: httpx.Client, server: Running) -> None:
    assert client.post("/v1/search", json=ASKED, headers={"Origin": server.url}).status_code == 200


def test_an_origin_and_a_name_that_were_allowed_are_let_in(shelf: Path) -> None:
    app = "https://app.example"
    with (
        serving(shelf, "--cors", app, "--allow-host", "search.example") as server,
        server.client() as client,
    ):
        answer = client.post("/v1/search", json=ASKED, headers={"Origin": app, "Host": "search.example:80"})
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, app)
        asks = {"Origin": app, "Access-Control-Request-Method": "POST"}
        preflight = client.options("/v1/search", headers=asks)
        assert (preflight.status_code, preflight.headers["access-control-allow-origin"]) == (204, app)
        assert "authorization" in preflight.headers["access-control-allow-headers"]
        other = client.options("/v1/search", headers={**asks, "Origin": "https://other.example"})
        assert code_of(other) == (403, "forbidden")


def test_an_origin_that_is_none_keeps_the_server_from_starting(shelf: Path) -> None:
    done = command("serve", "--port", "0", "--cors", "*", cwd=shelf)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "--cors" in done.stderr
    for origin in (
        "app.example",
        "https://app.example/path",
        "ftp://app.example",
        "null",
        "https://*.example",
        "http://[bad",
    ):
        with pytest.raises(UsageError, match="--cors"):
            Config(cors=(origin,))


@pytest.mark.parametrize("options", [("--host", "0.0.0.0"), ("--require-key",)])
def test_without_a_key_a_server_that_needs_one_does_not_start(shelf: Path, options: tuple[str, ...]) -> None:
    done = command("serve", "--port", "0", *options, cwd=shelf)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "'quintet keys add NAME --read'" in done.stderr


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "my.machine", ""])
def test_every_address_but_loopback_needs_a_key(host: str) -> None:
    assert Config(host=host).needs_key
    assert not Config().needs_key


def test_a_server_on_every_address_goes_by_their_numbers_and_by_the_names_it_was_given(library: Path) -> None:
    key = Keys(library / ".quintet").add("one", "read")[1]
    options = ("--host", "0.0.0.0", "--allow-host", "search.example")
    with serving(library, *options) as server:
        url = f"http://127.0.0.1:{server.address[1]}/v1/status"
        assert code_of(httpx.get(url)) == (401, "unauthorized")
        for host in ("192.0.2.1", "[2001:db8::1]:80", "search.example", "localhost"):
            assert httpx.get(url, headers={"Host": host, **bearer(key)}).status_code == 200
        assert code_of(httpx.get(url, headers={"Host": "evil.example", **bearer(key)})) == (403, "forbidden")


def test_a_port_that_is_taken_is_one_clear_line(server: Running, shelf: Path) -> None:
    done = command("serve", "--port", str(server.address[1]), cwd=shelf)
    assert done.returncode == 2
    assert "cannot be used" in done.stderr


def test_keys_open_what_their_scope_says_and_are_refused_once_revoked(library: Path) -> None:
    keys = Keys(library / ".quintet")
    reading, writing = keys.add("reader", "read")[1], keys.add("writer", "write")[1]
    with serving(library, "--require-key", "--access-log") as server, server.client() as client:
        assert code_of(client.post("/v1/search", json=ASKED)) == (401, "unauthorized")
        for path in ("/v1/status", "/metrics", "/v1/jobs/x", "/v1/chunks/x"):
            assert code_of(client.get(path)) == (401, "unauthorized")
        assert code_of(client.post("/mcp", json={})) == (401, "unauthorized")
        assert client.get("/v1/status").headers["www-authenticate"].startswith("Bearer")
        for path in ("/healthz", "/readyz", "/openapi.json", "/docs"):
            assert client.get(path).status_code == 200
        assert client.post("/v1/search", json=ASKED, headers=bearer(reading)).status_code == 200
        assert client.post("/v1/search", json=ASKED, headers=bearer(writing)).status_code == 200
        refused = client.post("/v1/reindex", json={}, headers=bearer(reading))
        assert code_of(refused) == (403, "forbidden")
        assert code_of(client.delete("/v1/jobs/x", headers=bearer(reading))) == (403, "forbidden")
        assert code_of(client.post("/mcp", json={}, headers=bearer(reading))) == (403, "forbidden")
        assert client.post("/v1/reindex", json={}, headers=bearer(writing)).status_code == 202
        assert command("keys", "revoke", "reader", cwd=library).returncode == 0
        gone = client.post("/v1/search", json=ASKED, headers=bearer(reading))
        assert code_of(gone) == (401, "unauthorized")
        assert client.post("/v1/search", json=ASKED, headers=bearer(writing)).status_code == 200
    told = "".join(server.told)
    assert re.search(
        r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z INFO quintet\.http\S*: POST /v1/search 200 [\d.]+ ms$",
        told,
        re.M,
    )
    assert reading not in told
    assert writing not in told


@pytest.mark.parametrize(
    "given",
    ["Bearer", "Bearer x", "Bearer qk_000000000000_" + "a" * 43, "Basic cm9vdDpyb290", "", "Bearer \xe9"],
)
def test_a_wrong_key_is_refused_even_where_none_is_needed(client: httpx.Client, given: str) -> None:
    headers = {"Authorization": given.encode("latin-1")}
    answer = client.post("/v1/search", json=ASKED, headers=headers)  # type: ignore[arg-type]
    assert code_of(answer) == (401, "unauthorized")


def test_a_right_id_with_a_wrong_secret_is_refused(library: Path) -> None:
    key = Keys(library / ".quintet").add("one", "write")[1]
    wrong = key[:-1] + ("A" if key[-1] != "A" else "B")
    with serving(library) as server, server.client() as client:
        assert client.get("/v1/status", headers=bearer(key)).status_code == 200
        assert code_of(client.get("/v1/status", headers=bearer(wrong))) == (401, "unauthorized")


def test_a_path_that_leads_out_is_refused(library: Path) -> None:
    outside = library.parent / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("# Secret\n", "utf-8")
    (library / "out").symlink_to(outside)
    (library / "docs" / "link.md").symlink_to(outside / "secret.md")
    with serving(library) as server, server.client() as client:
        for path in (
            "..",
            "../..",
            "/",
            "/etc",
            "docs/../..",
            "out",
            "out/secret.md",
            "docs/link.md",
            "out/../..",
        ):
            for body in ({"path": path}, {"paths": ["docs", path]}):
                assert code_of(client.post("/v1/reindex", json=body)) == (403, "forbidden"), path
        for path in ("~", "file:///etc/passwd", "C:\\Windows", "docs\0", "a" * 5000):
            assert code_of(client.post("/v1/reindex", json={"path": path})) == (400, "invalid_path")
        assert client.get("/v1/status").json()["files"] == 5


def test_a_folder_that_was_allowed_can_be_indexed(library: Path, tmp_path: Path) -> None:
    more = tmp_path / "more"
    more.mkdir()
    with serving(library, "--allow", str(more)) as server, server.client() as client:
        assert client.post("/v1/reindex", json={"path": str(more)}).status_code == 202


def test_with_watch_what_is_written_is_found_by_itself(library: Path) -> None:
    with serving(library, "--watch") as server, server.client() as client:
        (library / "docs" / "late.md").write_text("# Late\n\nzeppelin\n", "utf-8")
        asked = {"query": "zeppelin", "mode": "lexical"}
        while not (found := client.post("/v1/search", json=asked).json()["results"]):
            pass
        assert found[0]["path"] == "docs/late.md"


def test_the_settings_choose_the_level_and_the_form_of_the_log(library: Path) -> None:
    (library / "quintet.toml").write_text('log_level = "info"\nlog_format = "json"\n', "utf-8")
    with serving(library) as server, server.client() as client:
        assert client.get("/healthz").status_code == 200
    records = [json.loads(line) for line in server.told if line.startswith("{")]
    (asked,) = [record for record in records if "/healthz" in record["message"]]
    assert (asked["level"], asked["message"].split()[:3]) == ("INFO", ["GET", "/healthz", "200"])
    assert asked["time"].endswith("Z")
