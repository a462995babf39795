"""What each contract answered when somebody last looked, byte for byte."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import quintet
from golden.render import CASES, GOLDEN, QUERIES, corpus_index, rendered


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[quintet.Index]:
    with corpus_index(tmp_path_factory.mktemp("golden")) as made:
        yield made


@pytest.mark.requirement("004-P1-DETERMINISM", "000-CON-002")
@pytest.mark.parametrize("case", CASES)
def test_the_bodies_are_those_of_the_golden_file(index: quintet.Index, case: str) -> None:
    file = GOLDEN / f"{case}.json"
    found = rendered(index, case)
    if os.environ.get("QUINTET_GOLDEN") == "write":
        file.write_text(found, "utf-8", newline="\n")
    assert found == file.read_text("utf-8")


def test_there_is_a_golden_file_for_every_case_and_no_other() -> None:
    assert {file.stem for file in GOLDEN.glob("*.json")} == set(CASES)
    assert {case.split("-")[0] for case in CASES} == set(quintet.contracts.CONTRACTS)


def test_every_golden_file_has_results_and_no_path_of_this_machine() -> None:
    for file in GOLDEN.glob("*.json"):
        text = file.read_text("utf-8")
        assert set(json.loads(text)) == set(QUERIES)
        assert text.count('"path"') + text.count('"source_path"') >= 10
        assert str(Path.home()) not in text and "/tmp" not in text
