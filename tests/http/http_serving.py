"""A small library, and real servers over it: child processes on a free port of 127.0.0.1."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

import quintet

FILES = {
    "docs/cache.md": "# Guide\n\nAn overview.\n\n## Caching\n\nThe cache keeps answers for five minutes.\n",
    "docs/keys.md": "# Keys\n\nAn entry goes by its key, and a cache key is a digest.\n",
    "docs/naïve.md": "# Čaj a 茶\n\nDon't panic: C++, local-first, “quoted” and 検索.\n",
    "src/store.py": "def cache_answer(key):\n    return key\n",
    "notes with space.md": "# Shopping\n\nbread and butter\n",
}
PATIENCE = 60


@dataclass(frozen=True)
class Running:
    """A server that listens at `url`. `told` grows with what it writes to standard error."""

    process: "subprocess.Popen[str]"
    url: str
    told: list[str]

    @property
    def address(self) -> tuple[str, int]:
        host, _, port = self.url.removeprefix("http://").rpartition(":")
        return host, int(port)

    def client(self, **options: Any) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=PATIENCE, trust_env=False, **options)

    def release(self) -> None:
        """Let go one search that waits for it (see child.py)."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def await_line(self, text: str) -> None:
        """Until standard output says so."""
        assert self.process.stdout is not None
        assert any(text in line for line in iter(self.process.stdout.readline, ""))

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)


def fill(folder: Path) -> Path:
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


def indexed(folder: Path) -> Path:
    with quintet.open(fill(folder) / ".quintet", embedder="hashing") as index:
        index.sync([folder])
    return folder


def command(*arguments: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    words = [sys.executable, "-m", "quintet", *arguments]
    return subprocess.run(
        words, cwd=cwd, env=environment(), capture_output=True, text=True, check=False, timeout=PATIENCE
    )


@contextmanager
def started(words: Sequence[str], cwd: Path, **changes: str) -> Iterator[Running]:
    """A server until the block is left, with these changes of its environment. It is ended by its own id."""
    process = subprocess.Popen(
        words,
        cwd=cwd,
        env={**environment(), **changes},
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    told: list[str] = []
    with process:
        try:
            for line in iter(process.stderr.readline, ""):
                told.append(line)
                if line.startswith("listening on "):
                    break
            else:
                raise AssertionError(f"the server did not start: {told}")
            reader = threading.Thread(target=lambda: told.extend(process.stderr), daemon=True)  # type: ignore[arg-type]
            reader.start()
            yield Running(process, told[-1].split()[-1], told)
            if process.stdin is not None:
                process.stdin.close()  # whatever waits there waits no more
            if process.poll() is None:
                process.terminate()
            process.wait(PATIENCE)
            reader.join(PATIENCE)
        finally:
            if process.poll() is None:
                process.kill()


@contextmanager
def serving(folder: Path, *options: str, **changes: str) -> Iterator[Running]:
    """`quintet serve` from `folder`."""
    words = [sys.executable, "-m", "quintet", "serve", "--port", "0", *options]
    with started(words, folder, **changes) as server:
        yield server


@contextmanager
def child(folder: Path, **limits: float) -> Iterator[Running]:
    """The server of child.py: other limits, and searches and runs that wait to be released."""
    script = Path(__file__).with_name("child.py")
    given = [f"{name}={value}" for name, value in limits.items()]
    with started([sys.executable, str(script), *given], folder) as server:
        yield server


def environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("QUINTET_")}
    return {**kept, "PYTHONUTF8": "1"}


def code_of(answer: httpx.Response) -> tuple[int, str]:
    """The status and the error's code; the body must have the one shape of errors."""
    body = answer.json()
    assert set(body) == {"error"}
    assert set(body["error"]) == {"code", "message", "details"}
    assert answer.headers["content-type"] == "application/json"
    return answer.status_code, body["error"]["code"]
