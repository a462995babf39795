"""The doors that take strange input. Each makes one random call, and says what went wrong."""

import io
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import fields
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import quote

from anyio.from_thread import start_blocking_portal
from mcp.client.client import Client

import quintet
from quintet.cli.exit_codes import FAULT
from quintet.cli.main import run
from quintet.contracts import CONTRACTS
from quintet.errors import QuintetError, StoreError
from quintet.http.schema.openapi import document
from quintet.mcp.server import build_server
from quintet.serving.shared_index import SharedIndex
from robustness.strange import WORDS, mutated, strange_arguments, strange_text, strange_value

Call = Callable[[random.Random], str | None]  # what went wrong, if something did
FILES = {
    "docs/cache.md": "# Guide\n\nAn overview.\n\n## Caching\n\nThe lantern keeps answers for five minutes.\n",
    "docs/keys.md": "---\ntags: [a, b]\nprice: 3\n---\n# Keys\n\nAn entry goes by its key.\n",
    "src/store.py": "def cache_answer(key):\n    return look_up(key)\n\n\ndef look_up(key): ...\n",
}
FILTERS = ("path:docs/**", "language = python", "price < 20 and tags = a", "not (path:src/** or price >= 3)")
REFERENCES = ("docs/cache.md", "src/store.py:3", "cache_answer", "src/store.py:1-2", "docs/keys.md#Keys")


def make_index(folder: Path) -> None:
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    for number, word in enumerate(WORDS):
        (folder / "docs" / f"{number}.md").write_text(f"# {word}\n\nThe {word} of the page.\n", "utf-8")
    with quintet.open(folder / ".quintet", "hashing") as index:
        index.sync([folder])
        base = index.knowledge.create("shelf", properties=[{"name": "price", "type": "number"}])
        base.put("The lantern of the shelf.", id="a", metadata={"price": 3})


def text(chance: random.Random) -> str:
    usual = (*FILTERS, *REFERENCES, *WORDS)
    return mutated(chance, chance.choice(usual)) if chance.random() < 0.4 else strange_text(chance)


def parameters(chance: random.Random, contract: str) -> dict[str, object]:
    names = [field.name for field in fields(CONTRACTS[contract].parameters)]
    given = strange_arguments(chance, names)
    if chance.random() < 0.3:
        given["filter"] = text(chance)
    return given


@contextmanager
def python_door(folder: Path) -> Iterator[Call]:
    with quintet.open(folder / ".quintet", "hashing") as index:
        base = index.knowledge.get("shelf")

        def call(chance: random.Random) -> str | None:
            contract = chance.choice(list(CONTRACTS))
            chosen = chance.choice(
                [
                    lambda: index.search(text(chance), contract, **parameters(chance, contract)).wire(),
                    lambda: index.why(text(chance), text(chance), **parameters(chance, "quintet")),
                    lambda: index.get(text(chance)),
                    lambda: index.related(text(chance)),
                    lambda: index.map([text(chance)], query=text(chance)),
                    lambda: index.context(text(chance), chance.randint(-5, 500)).wire(),
                    lambda: index.memory.recall(text(chance), **strange_arguments(chance, ["limit", "tags"])),
                    lambda: index.memory.remember(text(chance), tags=[text(chance)], about=[text(chance)]),
                    lambda: base.search(text(chance), **parameters(chance, "knowledge")).wire(),
                    lambda: base.put(text(chance), id="b", metadata=strange_arguments(chance, ["price"])),
                ]
            )
            try:
                chosen()
            except StoreError as error:
                return repr(error)
            except QuintetError as error:
                return None if error.message else repr(error)
            return None

        yield call


COMMANDS = {
    "search": ("--limit", "--mode", "--contract", "--filter", "--path", "--param", "--explain", "--json"),
    "get": ("--json",),
    "related": ("--strategy", "--depth", "--json"),
    "map": ("--query", "--budget"),
    "context": ("--budget", "--json"),
    "why": ("--contract", "--json"),
    "recall": ("--limit", "--tag", "--json"),
    "remember": ("--kind", "--tag", "--about"),
    "timeline": ("--around",),
    "status": ("--json",),
    "verify": ("--json",),
    "prove": (),
    "kb": ("--json",),
}


@contextmanager
def cli_door(folder: Path) -> Iterator[Call]:
    before = Path.cwd()
    os.chdir(folder)

    def call(chance: random.Random) -> str | None:
        command = chance.choice(list(COMMANDS))
        words = [command, *(text(chance) for _ in range(chance.randint(0, 2)))]
        for option in COMMANDS[command]:
            if chance.random() < 0.3:
                words += [option] if option in ("--json", "--explain") else [option, text(chance)]
        words = [word.replace("\0", "") for word in words]  # no system lets it through
        out, err = io.StringIO(), io.StringIO()
        try:
            with redirect_stdout(out), redirect_stderr(err):
                code = run(words)
        except BaseException as error:
            return f"{words!r}: {error!r}"
        told = err.getvalue()
        return f"{words!r}: {told}" if code == FAULT or "Traceback" in told else None

    try:
        yield call
    finally:
        os.chdir(before)


@contextmanager
def http_door(folder: Path) -> Iterator[Call]:
    routes = [
        (path, method, operation)
        for path, methods in document(quintet.__version__)["paths"].items()
        for method, operation in methods.items()
        if method != "parameters" and not path.endswith("/events")
    ]
    server = subprocess.Popen(
        [sys.executable, "-m", "quintet", "serve", "--port", "0"],
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stderr is not None
    line = next(line for line in server.stderr if line.startswith("listening on "))
    host, port = line.split("//")[1].strip().rsplit(":", 1)
    connection = HTTPConnection(host, int(port), timeout=60)

    def call(chance: random.Random) -> str | None:
        path, method, operation = chance.choice(routes)
        for name in ("{kb}", "{doc}", "{id}", "{source}"):
            value = chance.choice(("shelf", "a", text(chance)))
            path = path.replace(name, quote(value.encode("utf-8", "replace"), safe=chance.choice(("", "/"))))
        if chance.random() < 0.2:
            path += f"?{quote(text(chance).encode('utf-8', 'replace'))}={chance.randint(-9, 9)}"
        if method == "delete" and path.endswith("/shelf"):
            return None
        schema = json.dumps(operation.get("requestBody", {}))
        names = ["query", *(name for name in ("limit", "contract", "filter", "text", "id") if name in schema)]
        body: object = {"query": text(chance), **strange_arguments(chance, names)}
        if chance.random() < 0.1:
            body = strange_value(chance)
        sent = json.dumps(body).encode()
        if chance.random() < 0.05:
            sent = mutated(chance, sent.decode()).encode("utf-8", "replace")
        connection.request(method.upper(), path, sent, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        answer.read()
        return f"{method} {path} {sent!r}: {answer.status}" if answer.status >= 500 else None

    try:
        yield call
    finally:
        connection.close()
        server.terminate()
        server.stderr.read()
        server.wait()


@contextmanager
def mcp_door(folder: Path) -> Iterator[Call]:
    shared = SharedIndex(quintet.open(folder / ".quintet", "hashing"), base=folder)
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(build_server(shared, "full"))) as client,
    ):
        tools = portal.call(client.list_tools).tools

        def call(chance: random.Random) -> str | None:
            tool = chance.choice(tools)
            names = list(tool.input_schema.get("properties", {}))
            given = strange_arguments(chance, names)
            if "query" in names and chance.random() < 0.8:
                given["query"] = text(chance)
            sent = json.loads(
                json.dumps(given, ensure_ascii=False).encode("utf-8", "replace")
            )  # as a client can
            result = portal.call(client.call_tool, tool.name, sent)
            failed = result.is_error and "internal_error" in str(result.content)
            return f"{tool.name} {given!r}: {result.content}" if failed else None

        yield call
    shared.close()


DOORS = {"python": python_door, "cli": cli_door, "http": http_door, "mcp": mcp_door}
