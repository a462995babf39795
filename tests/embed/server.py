"""An embedding server on loopback that answers, or misbehaves, as a test tells it to."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


@dataclass(frozen=True)
class Answer:
    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Asked:
    path: str
    authorization: str | None
    body: dict[str, Any]


def vectors(asked: Asked, dimensions: int = 3) -> Answer:
    """A vector per text, made of its length, and listed backwards: `index` tells the order."""
    data = [
        {"index": at, "embedding": [float(len(text)), 1.0, *([0.5] * (dimensions - 2))]}
        for at, text in enumerate(asked.body["input"])
    ]
    return Answer(json.dumps({"data": data[::-1]}).encode())


class Server:
    """`plan` holds the next answers; after them, and for None, it answers as it should."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked: list[Asked] = []
        self.plan: list[Answer | None] = []
        self.usual: Callable[[Asked], Answer] = vectors

    def answer(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        return (self.plan.pop(0) if self.plan else None) or self.usual(asked)


@contextmanager
def running() -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = server.answer(Asked(self.path, self.headers["Authorization"], body))
            self.send_response(answer.status)
            for name, value in {"Content-Length": str(len(answer.body)), **answer.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        server = Server(f"http://127.0.0.1:{listening.server_port}")
        thread = Thread(target=listening.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join()
