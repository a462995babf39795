"""Strange input through every door: no crash, no answer of 500 or more, no traceback."""

from functools import partial

import pytest

from robustness.fuzz.doors import DOORS
from robustness.modules import run_module

fuzz = partial(run_module, "robustness.fuzz")


def test_some_strange_calls_through_each_door_break_nothing() -> None:
    assert fuzz("--calls", "100") == [f"{name}: 100 calls, 0 bad" for name in DOORS]


@pytest.mark.slow
@pytest.mark.parametrize("name", DOORS)
def test_fifty_thousand_strange_calls_break_nothing(name: str) -> None:
    assert fuzz("--calls", "50000", name) == [f"{name}: 50000 calls, 0 bad"]
