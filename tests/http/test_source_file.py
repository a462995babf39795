"""The file behind a document: conditional, in ranges, contained, and harmless in a browser."""

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import httpx
import pytest
from http_serving import Running, code_of, indexed, serving

from formats.papers import lines, paper
from quintet.http.source_file import disposition, shown_as

BASE = "/v1/knowledge-bases/shelf"
FILES = "/v1/playgrounds/knowledge-bases/shelf/documents"
TEXT = "".join(f"line {number}\n" for number in range(1000)).encode()
SOURCES = {
    "page.html": b"<h1>Page</h1><script>alert(1)</script><p>about storks</p>",
    "notes.md": b"# Notes\n\nabout herons\n",
    "data.json": b'{"about": "geese"}',
    "table.csv": b"bird,legs\nstork,2\n",
    "code.js": b"function fly() { return 1 }\n",
    "moved.txt": b"about ducks",
    "lost.txt": b"about swans",
    "deep/way.txt": b"about gulls",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = indexed(tmp_path_factory.mktemp("files"))
    for name, data in SOURCES.items():
        path = place / "birds" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return place


@pytest.fixture(scope="module")
def running(folder: Path) -> Iterator[Running]:
    with serving(folder) as server:
        yield server


@pytest.fixture(scope="module")
def client(running: Running) -> Iterator[httpx.Client]:
    """A base with a folder as a source, a text and uploads."""
    with running.client() as client:
        client.post("/v1/knowledge-bases", json={"slug": "shelf"})
        client.post(f"{BASE}/sources", json={"directory": "birds"})
        job = client.post(f"{BASE}/sources/birds/sync").headers["location"]
        with client.stream("GET", f"{job}/events") as events:
            assert '"state": "done"' in list(events.iter_lines())[-2]
        client.post(f"{BASE}/documents", json={"id": "plain", "text": "about plain text"})
        sent = client.post(f"{BASE}/documents", files={"file": ("long.txt", TEXT)}, data={"id": "long"})
        assert sent.json()["documents"][0]["outcome"] == "created", sent.text
        yield client


def url_of(client: httpx.Client, path: str) -> str:
    found = client.get(f"{BASE}/documents").json()["documents"]
    return next(f"{FILES}/{one['id']}/source-file" for one in found if one["source_path"] == path)


LONG = f"{FILES}/long/source-file"


def test_a_file_comes_back_as_it_was_sent(client: httpx.Client) -> None:
    answer = client.get(LONG)
    assert (answer.status_code, answer.content) == (200, TEXT)
    assert answer.headers["content-length"] == str(len(TEXT))
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["accept-ranges"] == "bytes"
    assert "no-store" not in answer.headers["cache-control"]
    head = client.head(LONG)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["etag"] == answer.headers["etag"]
    assert head.headers["content-length"] == str(len(TEXT))


@pytest.mark.parametrize(
    ("name", "media", "how"),
    [
        ("page.html", "text/plain; charset=utf-8", "inline"),
        ("notes.md", "text/markdown; charset=utf-8", "inline"),
        ("data.json", "application/json", "inline"),
        ("table.csv", "text/csv; charset=utf-8", "inline"),
    ],
)
def test_what_a_browser_shows_can_do_nothing(client: httpx.Client, name: str, media: str, how: str) -> None:
    answer = client.get(url_of(client, name))
    assert answer.content == SOURCES[name]
    assert answer.headers["content-type"] == media
    assert answer.headers["content-disposition"].startswith(f'{how}; filename="{name}"')
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "sandbox" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("mime", "sent", "inline"),
    [
        ("application/pdf", "application/pdf", True),
        ("TEXT/HTML; charset=x", "text/plain; charset=utf-8", True),
        ("text/xml", "text/plain; charset=utf-8", True),
        ("application/xhtml+xml", "text/plain; charset=utf-8", True),
        ("image/svg+xml", "image/svg+xml", False),
        ("application/javascript", "application/javascript", False),
        ("application/zip", "application/zip", False),
        ("a/b\r\nX-Evil: 1", "application/octet-stream", False),
        ("", "application/octet-stream", False),
    ],
)
def test_only_what_is_harmless_is_shown(mime: str, sent: str, inline: bool) -> None:
    assert shown_as(mime) == (sent, inline)


@pytest.mark.parametrize(
    "name",
    ["a.pdf", 'q"uote.pdf', "новый файл.pdf", "a\r\nSet-Cookie: x.pdf", "50%.txt", "茶;x=1.md", "\\", ""],
)
def test_any_file_name_makes_one_safe_header(name: str) -> None:
    header = disposition("attachment", name)
    assert header.isascii()
    assert header.isprintable()
    plain, _, whole = header.removeprefix('attachment; filename="').partition("\"; filename*=UTF-8''")
    assert '"' not in plain
    assert "\\" not in plain
    assert "%" not in plain
    kept = "".join(char if char.isprintable() and char not in '\\/"' else "_" for char in name)
    assert unquote(whole) == (kept or "file")


def test_a_client_that_has_the_file_is_told_so(client: httpx.Client) -> None:
    first = client.get(LONG)
    tag, date = first.headers["etag"], first.headers["last-modified"]
    for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        answer = client.get(LONG, headers={"If-None-Match": known})
        assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", tag)
    assert client.get(LONG, headers={"If-Modified-Since": date}).status_code == 304
    for headers in (
        {"If-None-Match": '"other"'},
        {"If-None-Match": '"other"', "If-Modified-Since": date},
        {"If-Modified-Since": "Thu, 01 Jan 1970 00:00:00 GMT"},
        {"If-Modified-Since": "yesterday"},
    ):
        assert client.get(LONG, headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("asked", "first", "last"),
    [
        ("bytes=0-0", 0, 0),
        ("bytes=5-14", 5, 14),
        ("bytes=100-", 100, len(TEXT) - 1),
        ("bytes=-7", len(TEXT) - 7, len(TEXT) - 1),
        ("bytes=-999999999", 0, len(TEXT) - 1),
        (f"bytes={len(TEXT) - 1}-999999999999", len(TEXT) - 1, len(TEXT) - 1),
    ],
)
def test_one_range_of_bytes_can_be_had(client: httpx.Client, asked: str, first: int, last: int) -> None:
    answer = client.get(LONG, headers={"Range": asked})
    assert (answer.status_code, answer.content) == (206, TEXT[first : last + 1])
    assert answer.headers["content-range"] == f"bytes {first}-{last}/{len(TEXT)}"


@pytest.mark.parametrize("asked", [f"bytes={len(TEXT)}-", "bytes=99999999-99999999", "bytes=-0"])
def test_bytes_that_there_are_not_cannot_be_had(client: httpx.Client, asked: str) -> None:
    answer = client.get(LONG, headers={"Range": asked})
    assert (answer.status_code, answer.headers["content-range"]) == (416, f"bytes */{len(TEXT)}")
    assert answer.json()["error"]["code"] == "invalid_range"


@pytest.mark.parametrize(
    "asked", ["bytes=5-2", "bytes=-", "lines=1-2", "bytes=0-1,4-5", "bytes=x-", "bytes=1-²"]
)
def test_a_range_that_means_nothing_here_gives_the_whole(client: httpx.Client, asked: str) -> None:
    answer = client.get(LONG, headers={b"Range": asked.encode()})
    assert (answer.status_code, answer.content) == (200, TEXT)


def test_a_range_of_another_version_gives_the_whole(client: httpx.Client) -> None:
    first = client.get(LONG).headers
    asked = {"Range": "bytes=0-3"}
    for same in (first["etag"], first["last-modified"]):
        assert client.get(LONG, headers={**asked, "If-Range": same}).status_code == 206
    for other in ('"other"', "Thu, 01 Jan 1970 00:00:00 GMT", f"W/{first['etag']}"):
        assert client.get(LONG, headers={**asked, "If-Range": other}).status_code == 200


def test_a_document_without_a_file_says_so(client: httpx.Client) -> None:
    assert code_of(client.get(f"{FILES}/plain/source-file")) == (409, "source_file_not_available")
    assert code_of(client.get(f"{FILES}/nothing/source-file")) == (404, "document_not_found")
    elsewhere = f"{FILES.replace('shelf', 'attic')}/long/source-file"
    assert code_of(client.get(elsewhere)) == (404, "unknown_index")


@pytest.mark.parametrize(
    "id", ["..", "%2e%2e", "..%2f..%2fkeys.json", "%2fetc%2fpasswd", "a%00b", "%ff", "long%0a"]
)
def test_an_id_that_is_a_path_leads_nowhere(client: httpx.Client, id: str) -> None:
    status, code = code_of(client.get(f"{FILES}/{id}/source-file"))
    assert status == 404
    assert code in ("document_not_found", "not_found")


def test_a_file_that_is_gone_is_told_as_gone(client: httpx.Client, folder: Path) -> None:
    url = url_of(client, "lost.txt")
    (folder / "birds" / "lost.txt").unlink()
    assert code_of(client.get(url)) == (404, "source_file_not_found")
    (folder / "birds" / "lost.txt").mkdir()
    assert code_of(client.get(url)) == (404, "source_file_not_found")


@pytest.mark.skipif(os.name != "posix", reason="links and pipes are POSIX here")
def test_a_file_that_became_a_link_or_a_pipe_is_not_followed(client: httpx.Client, folder: Path) -> None:
    secret = folder.parent / "secret.txt"
    secret.write_text("a secret", "utf-8")
    file, url = folder / "birds" / "moved.txt", url_of(client, "moved.txt")
    assert client.get(url).status_code == 200
    file.unlink()
    file.symlink_to(secret)
    refused = client.get(url)
    assert code_of(refused) == (404, "invalid_source_file_path")
    assert "secret" not in refused.text
    assert str(folder) not in refused.text
    file.unlink()
    file.symlink_to(folder / "birds" / "notes.md")
    assert code_of(client.get(url)) == (404, "invalid_source_file_path")
    file.unlink()
    os.mkfifo(file)
    assert client.get(url).status_code == 404
    deep, inner = folder / "birds" / "deep", url_of(client, "deep/way.txt")
    assert client.get(inner).status_code == 200
    deep.rename(folder / "away")
    (folder / "away" / "way.txt").write_text("another secret", "utf-8")
    deep.symlink_to(folder / "away")
    assert code_of(client.get(inner)) == (404, "invalid_source_file_path")


def test_a_reference_opens_a_pdf_at_its_page(client: httpx.Client) -> None:
    data = paper(lines("Flamingos stand on one leg."), lines("Albatrosses glide over the sea."))
    client.post(f"{BASE}/documents", files={"file": ("birds.pdf", data)})
    asked = {"query": "albatrosses", "index": "kb_shelf", "search_method": "keyword"}
    body = client.post("/v1/retrieval", json={"retrieval": asked, "references": True}).json()
    (reference,) = body["references"]
    url, _, place = reference["file_url"].partition("#")
    assert (place, reference["pages"]) == ("page=2", [2])
    answer = client.get(url)
    assert (answer.content, answer.headers["content-type"]) == (data, "application/pdf")
    assert answer.headers["content-disposition"].startswith("inline")
    assert "script-src" not in answer.headers["content-security-policy"]
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_a_large_file_is_streamed(client: httpx.Client) -> None:
    large = ("".join(f"word{n % 977} " for n in range(400)) + "\n") * 500
    sent = client.post(f"{BASE}/documents", files={"file": ("large.log", large)}, data={"id": "large"})
    assert sent.json()["documents"][0]["outcome"] == "created", sent.text
    with client.stream("GET", f"{FILES}/large/source-file") as answer:
        pieces = [len(piece) for piece in answer.iter_raw()]
    assert sum(pieces) == len(large)
    assert max(pieces) <= 256 * 1024
