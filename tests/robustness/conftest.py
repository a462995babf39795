"""Folders of files and small file systems that the robustness tests share."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest


@pytest.fixture
def tmpfs(tmp_path: Path) -> Iterator["Mounts"]:
    """Makes small file systems in memory; they are gone after the test."""
    if os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("only root can mount a file system")
    with ExitStack() as stack:
        yield Mounts(tmp_path, stack)


class Mounts:
    def __init__(self, base: Path, stack: ExitStack) -> None:
        self._base = base
        self._stack = stack

    def make(self, name: str, size: str) -> Path:
        folder = self._base / name
        folder.mkdir()
        self._stack.enter_context(_mounted(folder, size))
        return folder

    def remount(self, folder: Path, options: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{options}", str(folder)], check=True)


@contextmanager
def _mounted(folder: Path, size: str) -> Iterator[None]:
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("this system does not let root mount a file system")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
