"""The faults that `make mutants` plants: each changes one thing, and all that are named can be planted."""

import ast
from pathlib import Path

import pytest

from mutation.__main__ import NAMED, ROOT, everything, named_tests
from mutation.faults import faults_in, named_fault

SAMPLE = '''"""A docstring with 1 number."""

LEFT: tuple[int, ...] = (1, 2)
TIES = ("path", "line", "id")


def choose(ä: str, scores: list[float], deep: bool = True) -> float:
    if len(scores) < 2 and not deep:
        raise ValueError(f"{len(scores)} is fewer than {2}")
    return max(scores) + 0.5 if deep else -min(scores)
'''
CHANGES = {
    "1 -> 2",
    "2 -> 3",
    """("path", "line", "id") -> (('line', 'path', 'id'))""",
    "True -> False",
    "len(scores) < 2 and not deep -> (len(scores) < 2 or not deep)",
    "len(scores) < 2 -> (len(scores) <= 2)",
    "not deep -> (deep)",
    "max(scores) + 0.5 if deep else -min(scores) -> (-min(scores) if deep else max(scores) + 0.5)",
    "max(scores) + 0.5 -> (max(scores) - 0.5)",
    "max(scores) -> min(scores)",
    "0.5 -> 1.5",
    "-min(scores) -> (min(scores))",
    "min(scores) -> max(scores)",
}


def test_what_decides_something_is_changed_and_types_and_messages_are_not(tmp_path: Path) -> None:
    (tmp_path / "sample.py").write_text(SAMPLE, "utf-8")
    faults = faults_in(tmp_path / "sample.py", tmp_path)
    assert {f"{fault.before} -> {fault.after}" for fault in faults} == CHANGES
    for fault in faults:
        planted = fault.planted(SAMPLE)
        assert ast.dump(ast.parse(planted)) != ast.dump(ast.parse(SAMPLE))


def test_every_fault_can_be_planted_and_has_tests_that_should_catch_it() -> None:
    faults = everything()
    assert len(faults) > 300
    for fault in faults:
        ast.parse(fault.planted((ROOT / fault.file).read_text("utf-8")))
    assert all(named_tests(file) for file in {fault.file for fault in faults})


@pytest.mark.parametrize(("file", "before", "after"), NAMED)
def test_a_named_fault_is_where_it_was(file: str, before: str, after: str) -> None:
    fault = named_fault(file, ROOT, before, after)
    assert after in fault.planted((ROOT / file).read_text("utf-8"))
    assert named_tests(file)
