"""How many of our files a warm search passes through: whoever follows it has to open no more than that."""

import json
import sys
from pathlib import Path

import pytest

import quintet
from architecture.recorder import READER_FILES, Recorder
from quintet.contracts import CONTRACTS

CORPUS = Path(__file__).parents[1] / "corpus"
RECORDER = Path(__file__).with_name("recorder.py")
QUERIES = ("how long does an entry live", "cache ttl", "time to live")
IN_PYTHON = 35
OVER_HTTP = 45
TO_A_READER = 5  # more: the way to a reader process and back

sys.path.append(str(Path(__file__).parents[1] / "http"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    with quintet.open(folder / ".quintet", embedder="hashing") as index:
        index.sync([CORPUS])
    return folder


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_search_in_python(folder: Path, contract: str) -> None:
    recorder = Recorder()
    with quintet.open(folder / ".quintet") as index:
        for query in QUERIES:
            recorder.recording = query == QUERIES[-1]
            sys.setprofile(recorder)
            index.search(query, contract)
            sys.setprofile(None)
    assert len(recorder.files) <= IN_PYTHON, sorted(recorder.files)


def recorded(folder: Path, **environment: str) -> tuple[set[str], set[str]]:
    """The files of the last query in the server's own process, and in its reader."""
    from http_serving import started

    words = [sys.executable, str(RECORDER)]
    with started(words, folder, **environment) as server, server.client() as client:
        for query in QUERIES[:-1]:
            client.post("/v1/search", json={"query": query}).raise_for_status()
        assert server.process.stdin is not None and server.process.stdout is not None
        server.process.stdin.write("record\n")
        server.process.stdin.flush()
        server.process.stdout.readline()
        client.post("/v1/search", json={"query": QUERIES[-1]}).raise_for_status()
        server.process.stdin.write("\n")
        server.process.stdin.flush()
        front = set(json.loads(server.process.stdout.readline()))
    file = folder / READER_FILES
    return front, set(json.loads(file.read_text("utf-8"))) if file.is_file() else set()


def test_a_search_over_http(folder: Path) -> None:
    files, _ = recorded(folder, QUINTET_READERS="1")
    assert "query/search.py" in files
    assert len(files) <= OVER_HTTP, sorted(files)
    front, reader = recorded(folder, QUINTET_READERS="2")
    assert "http/middleware.py" in front and "query/search.py" in reader - front
    detour = (front | reader) - files
    assert len(detour) <= TO_A_READER, sorted(detour)
