"""Runs a harness of this folder in a process of its own."""

import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]


def run_module(name: str, *options: str) -> list[str]:
    """The lines that it prints. It fails if something went wrong in it."""
    done = subprocess.run(
        [sys.executable, "-m", name, *options], cwd=TESTS, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()
