"""`--json` on a terminal: characters that the terminal would act on are escaped, and it is the same JSON."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import quintet

pty = pytest.importorskip("pty", reason="a terminal is POSIX")

HOSTILE = "zebra \x9b31mred\x9b0m \u202egnirts\u202c \u2066x\u2069 \u061c \x85 café 漢字"
COMMAND = [sys.executable, "-m", "quintet", "search", "zebra", "--json"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "note.md").write_text(f"# Note\n\n{HOSTILE}\n", "utf-8")
    with quintet.open(tmp_path / ".quintet", embedder=None) as index:
        index.sync([tmp_path / "note.md"])
    return tmp_path


def on_a_terminal(folder: Path) -> str:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(COMMAND, cwd=folder, stdout=theirs, stderr=subprocess.DEVNULL)
    os.close(theirs)
    parts = []
    try:
        while part := os.read(ours, 65_536):
            parts.append(part)
    except OSError:  # how Linux says that the other end is closed
        pass
    finally:
        os.close(ours)
    assert process.wait() == 0
    return b"".join(parts).decode("utf-8")


def test_json_on_a_terminal_holds_no_control_character_and_is_the_same_json(folder: Path) -> None:
    shown = on_a_terminal(folder)
    assert [char for char in shown.rstrip("\r\n") if not char.isprintable()] == []
    piped = subprocess.run(COMMAND, cwd=folder, capture_output=True, check=True).stdout.decode("utf-8")
    assert "\x9b31m" in piped and "\u202e" in piped
    assert json.loads(shown) == json.loads(piped)
    assert "café 漢字" in shown
