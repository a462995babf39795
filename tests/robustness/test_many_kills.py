"""Processes that write are killed at random moments: nothing is lost, half or not ready afterwards."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from robustness.kills.works import WORKS

TESTS = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks the processes that it kills")


def kill(*options: str) -> list[str]:
    """In a process without threads, because a fork copies only one."""
    done = subprocess.run(
        [sys.executable, "-m", "robustness.kills", *options],
        cwd=TESTS,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_a_kill_of_each_kind_of_work_loses_nothing() -> None:
    assert kill("--rounds", "1") == [f"{name}: 1 kills, 0 bad" for name in WORKS]


@pytest.mark.slow
@pytest.mark.parametrize("name", WORKS)
def test_hundreds_of_kills_lose_nothing(name: str) -> None:
    assert kill("--rounds", "250", name) == [f"{name}: 250 kills, 0 bad"]
