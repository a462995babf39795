"""The kinds of work that are killed, and what must be true of what they leave."""

import json
import os
import shutil
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import quintet
from quintet.cli.main import run
from quintet.indexing.watch import watch
from robustness.chapters import write_chapters
from robustness.kills.rounds import Work

SETTINGS = {"batch_files": 3, "embed_batch": 7}
UNFINISHED = {"vectors"}  # checks that say that a run has not ended
QUERIES = ("chapter", "old chapter 4", "new chapter 8", "added")


def check_sound(index: quintet.Index) -> None:
    broken = [check for check in index.doctor() if not check.ok and check.name not in UNFINISHED]
    assert not broken, broken


def answers(index: quintet.Index, **params: object) -> list[object]:
    return [index.search(query, **params).body["results"] for query in QUERIES]


@dataclass
class IndexRun:
    """A run over changed files."""

    name: str
    settings: dict[str, str] = field(default_factory=dict)
    hnsw: bool = False

    def prepare(self, base: Path) -> None:
        write_chapters(base / "files", "old")
        with self._open(base / "before") as index:
            index.sync([base / "files"])
        write_chapters(base / "files", "new")
        with self._open(base / "expected") as index:
            self._complete(index, base)

    def do(self, base: Path, place: Path, acknowledge: Callable[[str], None]) -> None:
        with self._open(place) as index:
            self._complete(index, base)
            answers(index)

    def check(self, base: Path, place: Path, acknowledged: list[str]) -> None:
        with self._open(place) as index, self._open(base / "expected") as expected:
            assert index.search("chapter", mode="lexical").body["results"]
            assert index.search("chapter", mode="semantic").body["results"]
            check_sound(index)
            self._complete(index, base)
            assert index.status().state_root == expected.status().state_root
            assert answers(index) == answers(expected)
            if self.hnsw:
                assert all(answers(index, vectors="hnsw"))  # two graphs may differ

    def _open(self, folder: Path) -> quintet.Index:
        return quintet.open(folder, "hashing", **SETTINGS, **self.settings)

    def _complete(self, index: quintet.Index, base: Path) -> None:
        index.sync([base / "files"])
        if self.hnsw:
            index.build_hnsw()


@dataclass
class Watch:
    """A watcher that sees files change."""

    name: str = "watch"

    def prepare(self, base: Path) -> None:
        write_chapters(base / "before" / "files", "old")
        write_chapters(base / "new", "old")
        write_chapters(base / "new", "new")

    def do(self, base: Path, place: Path, acknowledge: Callable[[str], None]) -> None:
        stop = threading.Event()
        runs: list[object] = []

        def report(run: object) -> None:
            runs.append(run)
            if len(runs) == 1:
                write_chapters(place / "files", "new")
            elif index.status().chunks == chunks:
                stop.set()

        with quintet.open(base / "counted", "hashing", **SETTINGS) as counted:
            chunks = counted.sync([base / "new"]) and counted.status().chunks
        with quintet.open(place / "index", "hashing", **SETTINGS) as index:
            index.sync([place / "files"])
            watch(index, stop, report)

    def check(self, base: Path, place: Path, acknowledged: list[str]) -> None:
        write_chapters(place / "files", "new")
        with (
            quintet.open(place / "index", "hashing") as index,
            quintet.open(place / "expected", "hashing") as expected,
        ):
            check_sound(index)
            for each in (index, expected):
                each.sync([place / "files"])
            assert index.status().state_root == expected.status().state_root


@dataclass
class Remembering:
    """Memories are kept, replaced and forgotten."""

    name: str = "memory"

    def prepare(self, base: Path) -> None:
        with quintet.open(base / "before", "hashing") as index:
            index.memory.remember("The lantern was there before.")

    def do(self, base: Path, place: Path, acknowledge: Callable[[str], None]) -> None:
        with quintet.open(place, "hashing") as index:
            kept: list[str] = []
            for number in range(15):
                older = kept.pop() if number % 5 == 4 else None
                id = index.memory.remember(f"Lantern {number} burns.", supersedes=older).id
                kept.append(id)
                acknowledge(f"kept {id}")
                if number % 6 == 5:
                    index.memory.forget(kept[0])
                    acknowledge(f"forgotten {kept.pop(0)}")

    def check(self, base: Path, place: Path, acknowledged: list[str]) -> None:
        state = {id: verb for verb, id in (line.split() for line in acknowledged)}
        with quintet.open(place, "hashing") as index:
            check_sound(index)
            stored = {json.loads(line)["id"] for line in index.memory.export()}
            assert not {id for id, verb in state.items() if verb == "forgotten"} & stored
            missing = {id for id, verb in state.items() if verb == "kept"} - stored
            assert len(missing) <= 1, missing  # one may just have been forgotten
            if missing:
                assert missing == {next(id for id, verb in state.items() if verb == "kept")}
            assert index.memory.recall("lantern").body["results"]
            index.memory.remember("It goes on.")


def found(base: quintet.KnowledgeBase, query: str) -> object:
    (call,) = base.search(query, search_method="keyword").body["retrieval_calls"]
    return call["results"]


def upload_text(number: int, version: int) -> str:
    return f"# Volume {number}\n\n" + f"Edition {version} of volume {number} tells of lanterns. " * (
        40 * (number % 3 + 1)
    )


@dataclass
class Uploading:
    """Documents of a knowledge base are put, replaced and deleted, in Python or over HTTP."""

    name: str
    over_http: bool

    def prepare(self, base: Path) -> None:
        with quintet.open(base / "before" / ".quintet", "hashing") as index:
            shelf = index.knowledge.create("shelf")
            for number in range(4):
                shelf.put(upload_text(number, 0), id=f"v{number}")

    def do(self, base: Path, place: Path, acknowledge: Callable[[str], None]) -> None:
        if self.over_http:
            serve_uploads(place, acknowledge)
            return
        with quintet.open(place / ".quintet", "hashing") as index:
            shelf = index.knowledge.get("shelf")
            for id, text in changes():
                acknowledge(f"asked {id}")
                if text is None:
                    shelf.delete(id)
                else:
                    shelf.put(text, id=id)
                acknowledge(f"done {id}")

    def check(self, base: Path, place: Path, acknowledged: list[str]) -> None:
        expected: dict[str, set[str | None]] = {f"v{number}": {upload_text(number, 0)} for number in range(4)}
        steps = changes()
        for line in acknowledged:
            verb, id = line.split()
            if verb == "asked":
                _, text = next(steps)
                expected[id] = expected.get(id, {None}) | {text}
            else:
                expected[id] = {text}
        with quintet.open(place / ".quintet", "hashing") as index:
            shelf = index.knowledge.get("shelf")
            assert found(shelf, "lanterns")
            check_sound(index)
            stored = {document["id"] for document in shelf.documents()}
            for id, texts in expected.items():
                data = shelf.source_file(id).location.read_text("utf-8") if id in stored else None
                assert data in texts, id
            assert stored <= set(expected)
            shelf.put("It goes on.", id="after")


def changes() -> Iterator[tuple[str, str | None]]:
    """An id, and the text to put there; None deletes it."""
    for number in range(10):
        yield f"v{number}", upload_text(number, 1)
        if number % 4 == 3:
            yield f"v{number - 1}", None


def serve_uploads(place: Path, acknowledge: Callable[[str], None]) -> None:
    """`quintet serve` with a client in a thread: both die at once."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    client = threading.Thread(target=send_uploads, args=(port, acknowledge))
    client.start()
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, sys.stderr.fileno())
    run(["serve", "--port", str(port), "--db", str(place / ".quintet")])
    client.join()


def send_uploads(port: int, acknowledge: Callable[[str], None]) -> None:
    while not send(port, "GET", "/readyz"):
        pass
    for id, text in changes():
        acknowledge(f"asked {id}")
        path = "/v1/knowledge-bases/shelf/documents"
        if text is None:
            done = send(port, "DELETE", f"{path}/{id}")
        else:
            done = send(port, "POST", f"{path}?wait=300", {"text": text, "id": id})
        if not done:
            os._exit(1)
        acknowledge(f"done {id}")
    os.kill(os.getpid(), signal.SIGTERM)


def send(port: int, method: str, path: str, body: object = None) -> bool:
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, json.dumps(body), {"Content-Type": "application/json"})
        return connection.getresponse().status < 300
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


@dataclass
class Syncing:
    """A folder source of a knowledge base is synchronised."""

    name: str = "source"

    def prepare(self, base: Path) -> None:
        write_chapters(base / "files", "old")
        with quintet.open(base / "before", "hashing") as index:
            shelf = index.knowledge.create("shelf")
            shelf.sync_source(shelf.add_source(base / "files")["id"])
        write_chapters(base / "files", "new")
        shutil.copytree(base / "before", base / "expected")
        with quintet.open(base / "expected", "hashing") as index:
            shelf = index.knowledge.get("shelf")
            shelf.sync_source(shelf.sources()[0]["id"])

    def do(self, base: Path, place: Path, acknowledge: Callable[[str], None]) -> None:
        with quintet.open(place, "hashing") as index:
            shelf = index.knowledge.get("shelf")
            shelf.sync_source(shelf.sources()[0]["id"])

    def check(self, base: Path, place: Path, acknowledged: list[str]) -> None:
        with quintet.open(place, "hashing") as index, quintet.open(base / "expected", "hashing") as expected:
            shelf, other = index.knowledge.get("shelf"), expected.knowledge.get("shelf")
            assert found(shelf, "chapter")
            check_sound(index)
            shelf.sync_source(shelf.sources()[0]["id"])
            assert shape(shelf.documents()) == shape(other.documents())


def shape(documents: Sequence[Mapping[str, object]]) -> list[tuple[object, ...]]:
    return [(one["source_path"], one["digest"], one["chunks"]) for one in documents]


_ALL: tuple[Work, ...] = (
    IndexRun("index"),
    IndexRun("tantivy", {"text_index": "tantivy"}),
    IndexRun("hnsw", hnsw=True),
    Watch(),
    Remembering(),
    Uploading("uploads", over_http=False),
    Uploading("http", over_http=True),
    Syncing(),
)
WORKS = {work.name: work for work in _ALL}
