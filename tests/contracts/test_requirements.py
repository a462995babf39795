"""The manifest and the tests agree, in both directions. Tests are read, not run."""

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from contracts.requirements import REQUIREMENTS, SPECIFICATIONS

PROJECT = Path(__file__).parents[2]
# How many items the specifications number themselves, or say that there must be.
PADDED = {"000-REQ": 7, "000-RRF": 4, "000-SEM": 3, "000-LEX": 2, "000-CON": 6, "000-GUD": 2, "000-AC": 10}
DEPENDENCIES = {"000-EXT": 1, "000-SVC": 1, "000-INF": 1, "000-DAT": 1, "000-PLT": 2, "000-COM": 1}
PLAIN = {"000-EDGE": 7, "000-VAL": 6, "002-T-FTS": 5, "002-T-SEM": 5, "002-T-GRAPH": 5}
COUNTED = {"002-T-RRF": 8, "002-T-FRESH": 3, "002-T-E2E": 10}


@cache
def marked() -> dict[str, frozenset[str]]:
    """The ids that each test carries, by its node."""
    found: dict[str, frozenset[str]] = {}
    for file in sorted((PROJECT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test_"):
                name = f"{file.relative_to(PROJECT).as_posix()}::{node.name}"
                assert name not in found, f"{name} is there twice"
                found[name] = frozenset(_ids(node))
    return found


def _ids(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.requirement":
            yield from (ast.literal_eval(argument) for argument in decorator.args)


def test_every_requirement_is_named_once_and_proved_or_measured() -> None:
    assert [id for id, count in Counter(one.id for one in REQUIREMENTS).items() if count > 1] == []
    for one in REQUIREMENTS:
        assert one.tests or one.bench, f"{one.id}: neither tests nor figures"
        assert re.fullmatch(r"00[0-4]-[A-Z0-9.-]+", one.id), one.id
        assert one.says.strip() and len(one.says) <= 90, one.id


def test_every_entry_names_tests_that_carry_its_id() -> None:
    tests = marked()
    missing = [
        (one.id, name) for one in REQUIREMENTS for name in one.tests if one.id not in tests.get(name, ())
    ]
    assert missing == []


def test_every_marked_test_is_named_by_the_entries_of_its_ids() -> None:
    named = {one.id: set(one.tests) for one in REQUIREMENTS}
    tests = marked().items()
    unnamed = [(name, id) for name, ids in tests for id in sorted(ids) if name not in named.get(id, ())]
    assert unnamed == []


def test_every_numbered_item_of_the_specifications_is_there() -> None:
    padded = (PADDED | DEPENDENCIES).items()
    wanted = {f"{prefix}-{number:03d}" for prefix, count in padded for number in range(1, count + 1)}
    plain = (PLAIN | COUNTED).items()
    wanted |= {f"{prefix}-{number}" for prefix, count in plain for number in range(1, count + 1)}
    wanted |= {f"001-V{number}" for number in range(1, 6)}
    assert sorted(wanted - {one.id for one in REQUIREMENTS}) == []


def test_entries_lie_with_their_specification() -> None:
    for number, specification in enumerate(SPECIFICATIONS):
        assert {one.id[:3] for one in specification.REQUIREMENTS} == {f"{number:03d}"}


@pytest.mark.requirement("002-T-TOTAL")
def test_at_least_thirty_six_tests_serve_the_search_engine_of_mcb() -> None:
    assert sum(any(id.startswith("002-") for id in ids) for ids in marked().values()) >= 36


def test_what_is_measured_names_a_benchmark_and_a_page_that_says_how_to_repeat_it() -> None:
    for one in REQUIREMENTS:
        if one.bench:
            assert one.bench.startswith("bench/") and (PROJECT / one.bench).is_file(), one.id
            told = (PROJECT / one.page).read_text("utf-8")
            assert one.page.startswith("docs/") and one.bench in told, f"{one.id}: not in {one.page}"


def test_what_is_met_in_another_way_than_printed_has_a_reading_that_names_its_tests() -> None:
    readings = (PROJECT / "docs/contracts/readings.md").read_text("utf-8").splitlines()
    for one in REQUIREMENTS:
        if one.differs:
            (line,) = [line for line in readings if line.startswith(f"| {one.differs}")]
            assert any(test.removeprefix("tests/") in line for test in one.tests), one.id


def test_what_falls_short_is_told_on_a_page() -> None:
    missing = [one.id for one in REQUIREMENTS if one.short_of]
    assert missing == ["002-S-TOP3", "002-S-GRAPH"]
    for one in REQUIREMENTS:
        if one.short_of:
            assert one.short_of in (PROJECT / one.page).read_text("utf-8"), f"{one.id}: not in {one.page}"


SEARCH_ENGINE = ("query", "ranking", "contracts", "storage/text", "storage/vectors", "storage/graph")


@pytest.mark.requirement("002-T-COVERAGE")
@pytest.mark.parametrize("part", SEARCH_ENGINE)
def test_no_less_than_eighty_five_percent_of_each_part_of_the_search_engine_must_be_covered(
    part: str,
) -> None:
    """`make test` fails below the bounds that it names, of files that no setting leaves out."""
    unit = re.search(r"^unit:.*\n((?:\t.*\n)+)", (PROJECT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert unit is not None and re.search(r"pytest .*--cov\b", unit[1])
    bounds = re.findall(r"coverage report --include='(.*)' --fail-under=(\d+)", unit[1])
    (bound,) = [int(bound) for files, bound in bounds if f"*/quintet/{part}/*" in files.split(",")]
    assert bound >= 85 and any((PROJECT / "src/quintet" / part).glob("*.py"))
    measured = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["tool"]["coverage"]
    assert measured["run"]["source"] == ["quintet"]
    assert "omit" not in measured["run"] and "omit" not in measured["report"]
