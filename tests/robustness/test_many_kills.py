"""Processes that write are killed at random moments: nothing is lost, half or not ready afterwards."""

import os
from functools import partial

import pytest

from robustness.kills.works import WORKS
from robustness.modules import run_module

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks the processes that it kills")
kill = partial(run_module, "robustness.kills")  # without threads, because a fork copies only one


def test_a_kill_of_each_kind_of_work_loses_nothing() -> None:
    assert kill("--rounds", "1") == [f"{name}: 1 kills, 0 bad" for name in WORKS]


@pytest.mark.slow
@pytest.mark.parametrize("name", WORKS)
def test_hundreds_of_kills_lose_nothing(name: str) -> None:
    assert kill("--rounds", "250", name) == [f"{name}: 250 kills, 0 bad"]
