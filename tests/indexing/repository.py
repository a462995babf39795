"""Real git repositories, made by the git program under a configuration of their own."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
IDENTITY = ("-c", "user.name=Test", "-c", "user.email=test@example.org")
SETTLED = ("-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always", "-c", "commit.gpgSign=false")


class Repository:
    """A work tree at `top`."""

    def __init__(self, top: Path, files: dict[str, str] | None = None) -> None:
        self.top = top
        top.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet")
        if files is not None:
            self.write(files)
            self.commit()

    def git(self, *arguments: str, check: bool = True) -> str:
        done = subprocess.run(
            ["git", *IDENTITY, *SETTLED, *arguments],
            cwd=self.top,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert not check or done.returncode == 0, done.stderr
        return done.stdout

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            file = self.top / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message=a change")

    def file(self, name: str) -> str:
        return str(self.top / name)


def own_configuration(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No configuration of the person who runs the tests takes part."""
    home = place / "home"
    home.mkdir()
    for name in [name for name in os.environ if name.startswith(("GIT_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def program(place: Path, name: str, script: str) -> Path:
    """A shell script that can be run."""
    place.mkdir(parents=True, exist_ok=True)
    file = place / name
    file.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    file.chmod(0o755)
    return file
