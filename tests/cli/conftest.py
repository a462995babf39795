"""A small library of files, and the command line run over it in this process or in one of its own."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from quintet.cli.main import run

FILES = {
    "docs/cache.md": "# Guide\n\nAn overview.\n\n## Caching\n\nThe cache keeps answers for five minutes.\n",
    "docs/keys.md": "# Keys\n\nAn entry goes by its key, and a cache key is a digest.\n",
    "src/store.py": "def cache_answer(key):\n    return key\n",
    "notes with space.md": "# Shopping\n\nbread and butter\n",
}


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str


Quintet = Callable[..., Done]


def fill(folder: Path) -> Path:
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


@pytest.fixture
def quintet(capsys: pytest.CaptureFixture[str]) -> Quintet:
    """Runs a command line in this process, from the current folder."""

    def call(*arguments: str) -> Done:
        capsys.readouterr()
        code = run(arguments)
        out, err = capsys.readouterr()
        return Done(code, out, err)

    return call


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of files, not indexed yet, as the current folder."""
    folder = fill(tmp_path / "library")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder indexed once, for tests that only read."""
    folder = fill(tmp_path_factory.mktemp("shelf"))
    done = command("index", "--embedder", "hashing", cwd=folder)
    assert done.code == 0, done.err
    return folder


@pytest.fixture
def indexed(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(shelf)
    return shelf


def environment(**changes: str) -> dict[str, str]:
    """The environment without what would change colours or settings here."""
    ours = ("QUINTET_", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**kept, "TERM": "xterm-256color", **changes}


def command(*arguments: str | bytes, cwd: Path, **options: Any) -> Done:
    """A process of its own, as a shell would start it."""
    done = subprocess.run(
        words(arguments), cwd=cwd, capture_output=True, check=False, env=environment(**options)
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def words(arguments: Sequence[str | bytes]) -> list[str | bytes]:
    return [sys.executable, "-m", "quintet", *arguments]


def on_terminal(*arguments: str, cwd: Path, **changes: str) -> Done:
    """Run with standard output and error on one pseudo-terminal; `out` is all that was shown."""
    pty = pytest.importorskip("pty", reason="pseudo-terminals are POSIX")
    master, slave = pty.openpty()
    process = subprocess.Popen(
        words(arguments),
        cwd=cwd,
        env=environment(COLUMNS="80", **changes),
        stdin=slave,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    shown = b""
    while True:
        try:
            data = os.read(master, 65536)
        except OSError as error:  # how Linux says that the other end is closed
            assert error.errno == errno.EIO
            break
        if not data:
            break
        shown += data
    os.close(master)
    return Done(process.wait(), shown.decode().replace("\r\n", "\n"), "")
