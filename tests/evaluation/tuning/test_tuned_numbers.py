"""The file that holds tuned numbers: written whole, undone step by step, checked before it is believed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from quintet.contracts import HOUSE
from quintet.errors import Conflict, NotFound, StoreError
from quintet.evaluation.tuning.tuned_numbers import FILE, MOST_STEPS, TunedNumbers, TunedStep
from quintet.settings import Settings

STEP = TunedStep({"semantic_weight": 0.5}, "asked", 60, "hash-384", 0.1, (0.05, 0.15))
OTHER = TunedStep({"semantic_weight": 0.9, "feedback": 0.0}, "asked", 70, "hash-384", 0.2, (0.1, 0.3))


@pytest.fixture
def tuned(tmp_path: Path) -> TunedNumbers:
    return TunedNumbers(tmp_path)


def test_what_is_written_is_what_is_read_by_everybody(tuned: TunedNumbers, tmp_path: Path) -> None:
    assert tuned.steps() == ()
    tuned.add(STEP, ())
    assert tuned.steps() == TunedNumbers(tmp_path).steps() == (STEP,)
    assert [file.name for file in tmp_path.iterdir()] == [FILE]


def test_steps_are_undone_one_by_one_down_to_the_defaults(tuned: TunedNumbers, tmp_path: Path) -> None:
    tuned.add(STEP, ())
    tuned.add(OTHER, (STEP,))
    assert tuned.numbers() == OTHER.numbers
    assert tuned.undo() == OTHER
    assert tuned.numbers() == STEP.numbers
    assert tuned.undo() == STEP
    assert tuned.numbers() == {}
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(NotFound, match="nothing to undo"):
        tuned.undo()


def test_an_open_reader_sees_what_another_process_wrote(tuned: TunedNumbers, tmp_path: Path) -> None:
    assert tuned.numbers() == {}
    TunedNumbers(tmp_path).add(STEP, ())
    assert tuned.numbers() == STEP.numbers
    TunedNumbers(tmp_path).undo()
    assert tuned.numbers() == {}


def test_a_step_upon_numbers_that_another_process_changed_is_refused(tuned: TunedNumbers) -> None:
    tuned.add(STEP, ())
    with pytest.raises(Conflict, match="by another process meanwhile"):
        tuned.add(OTHER, ())
    assert tuned.steps() == (STEP,)


def test_old_steps_are_forgotten(tuned: TunedNumbers) -> None:
    for _ in range(MOST_STEPS + 3):
        tuned.add(STEP, tuned.steps())
    assert len(tuned.steps()) == MOST_STEPS


def test_settings_win_over_what_was_tuned(tuned: TunedNumbers) -> None:
    tuned.add(OTHER, ())
    own = Settings(contracts={HOUSE: {"feedback": 0.3, "limit": 5}, "cfs": {"rrf_k": 10}})
    merged = tuned.apply_to(own, HOUSE, "hash-384")[0].contracts
    assert merged == {HOUSE: {"semantic_weight": 0.9, "feedback": 0.3, "limit": 5}, "cfs": {"rrf_k": 10}}
    assert tuned.apply_to(Settings(), HOUSE, "hash-384")[0].contracts == {HOUSE: OTHER.numbers}


def test_without_tuning_settings_stay_as_they_are(tuned: TunedNumbers) -> None:
    settings = Settings()
    assert tuned.apply_to(settings, HOUSE, "hash-384") == (settings, ())


def test_numbers_for_another_embedder_are_ignored_and_that_is_told(tuned: TunedNumbers) -> None:
    tuned.add(STEP, ())
    settings, notes = tuned.apply_to(Settings(), HOUSE, "granite")
    assert settings == Settings()
    (note,) = notes
    assert note["code"] == "tuned_for_another"
    assert (
        "ignored: they were tuned for hash-384, but the vectors are of granite; run 'quintet tune' again"
        in note["message"]
    )
    assert tuned.step_for("granite") is None
    assert tuned.numbers_in_use("granite") == {}


def test_a_broken_file_matters_to_the_house_contract_only_and_can_be_undone(tuned: TunedNumbers) -> None:
    tuned.file.write_bytes(b"[]")
    assert tuned.apply_to(Settings(), "cfs", "hash-384") == (Settings(), ())
    assert tuned.numbers_in_use("hash-384") == {}
    with pytest.raises(Conflict, match="'quintet tune --undo'"):
        tuned.apply_to(Settings(), HOUSE, "hash-384")
    assert tuned.undo() is None
    assert not tuned.file.exists()


Break = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize(
    "change",
    [
        lambda made: made.update(version=2),
        lambda made: made.pop("steps"),
        lambda made: made["steps"].clear(),
        lambda made: made["steps"].extend(made["steps"] * MOST_STEPS),
        lambda made: made.update(steps={"a": 1}),
        lambda made: made["steps"][0].update(numbers={"semantic_weight": 7}),
        lambda made: made["steps"][0].update(numbers={"semantic_weight": "0.5"}),
        lambda made: made["steps"][0].update(numbers={"semantic_weight": float("nan")}),
        lambda made: made["steps"][0].update(numbers={"filters": {"path": "a"}}),
        lambda made: made["steps"][0].update(numbers={"limit": 1}),
        lambda made: made["steps"][0].update(numbers={}),
        lambda made: made["steps"][0].update(numbers=[1]),
        lambda made: made["steps"][0].update(interval=[0.1]),
        lambda made: made["steps"][0].update(gain="much"),
        lambda made: made["steps"][0].update(queries=None),
        lambda made: made["steps"][0].update(dataset=3),
        lambda made: made["steps"][0].update(more=1),
    ],
)
def test_a_file_that_was_not_written_by_us_is_refused_in_one_sentence(
    tuned: TunedNumbers, change: Break
) -> None:
    tuned.add(STEP, ())
    made = json.loads(tuned.file.read_text("utf-8"))
    change(made)
    tuned.file.write_text(json.dumps(made), "utf-8")
    with pytest.raises(Conflict, match=r"is not a valid file of 'quintet tune': .*; remove it"):
        tuned.numbers()
    check = tuned.examine("hash-384")
    assert not check.ok


@pytest.mark.parametrize("content", [b"", b"\xff", b"[]", b"1", b"[" * 100_000, b" " * 1_000_001])
def test_what_is_no_json_object_is_refused_too(tuned: TunedNumbers, content: bytes) -> None:
    tuned.file.write_bytes(content)
    with pytest.raises(Conflict, match="is not a valid file of 'quintet tune'"):
        tuned.numbers()


def test_a_folder_in_its_place_is_refused(tuned: TunedNumbers) -> None:
    tuned.file.mkdir()
    with pytest.raises(Conflict, match="is not a valid file of 'quintet tune'"):
        tuned.numbers()


def test_a_folder_that_is_gone_is_said(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be written"):
        TunedNumbers(tmp_path / "gone").add(STEP, ())


def test_the_doctor_says_for_which_vectors_the_numbers_are(tuned: TunedNumbers) -> None:
    assert tuned.examine("hash-384").ok
    tuned.add(STEP, ())
    assert tuned.examine("hash-384").message == "by 60 queries of asked, gain +0.1000"
    other = tuned.examine("granite")
    assert not other.ok
    assert "for hash-384, but the vectors are of granite; run 'quintet tune' again" in other.message
