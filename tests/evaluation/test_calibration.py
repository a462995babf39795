"""Whether confidence keeps its word: bins, scores, the second asking, and how reports show it."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.drinks import write_collection
from quintet.cli.main import run
from quintet.contracts.confidence import FITTED, Calibration, Signs
from quintet.evaluation.calibration import Bin, CalibrationPoint, reliability

HASHING = "hash-384"
DRINKS = ("tea", "coffee", "cocoa", "water", "milk", "juice", "cider", "punch", "mead", "ale", "wine", "soda")
CORPUS = tuple({"_id": f"{name}{{1}}*", "title": name, "text": f"how to serve {name}"} for name in DRINKS)
QUERIES = ({"_id": "q1", "text": "tea"}, {"_id": "q2", "text": "coffee"})
QRELS = ("q1\ttea{1}*\t1", "q2\tcoffee{1}*\t1")


def points(*pairs: tuple[float, int]) -> list[CalibrationPoint]:
    return [CalibrationPoint(Signs(0.0, 0.0, 0.0), predicted, bool(right)) for predicted, right in pairs]


def test_answers_are_binned_by_tenths_and_one_belongs_to_the_last() -> None:
    found = reliability(points((0.0, 0), (0.05, 1), (0.91, 1), (1.0, 1)))
    assert found.bins == (Bin((0.0 + 0.05) / 2, 0.5, 2), Bin((0.91 + 1.0) / 2, 1.0, 2))
    assert found.count == 4


def test_the_errors_are_those_of_their_definitions() -> None:
    found = reliability(points((0.2, 0), (0.2, 1), (0.8, 1), (0.8, 1)))
    assert found.brier == pytest.approx((0.2**2 + 0.8**2 + 2 * 0.2**2) / 4)
    assert found.error == pytest.approx((2 * abs(0.2 - 0.5) + 2 * abs(0.8 - 1.0)) / 4)


def test_perfect_confidence_has_no_error() -> None:
    found = reliability(points((0.0, 0), (1.0, 1)))
    assert (found.brier, found.error, found.auc) == (0.0, 0.0, 1.0)


def test_auc_counts_pairs_of_right_and_wrong_and_half_of_ties() -> None:
    pairs = points((0.1, 0), (0.5, 1), (0.5, 0), (0.9, 1), (0.3, 1))
    # right: .5 .9 .3, wrong: .1 .5; of six pairs four are won, one is a tie, one is lost
    assert reliability(pairs).auc == pytest.approx((4 + 1 / 2) / 6)
    assert reliability(points((0.1, 1))).auc is None


@pytest.fixture
def fitted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A collection of hashed words, and what their cosines are said to mean."""
    write_collection(tmp_path / "bar", CORPUS, QUERIES, QRELS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(FITTED, HASHING, Calibration(1.0, 0.0, 0.0, 0.0, 0.0))
    return tmp_path


def evaluated(capsys: pytest.CaptureFixture[str], *arguments: str, folder: str = "bar") -> tuple[str, str]:
    capsys.readouterr()
    assert run(["eval", folder, "--embedder", "hashing", *arguments]) == 0
    return capsys.readouterr()


def counted(found: dict[str, Any]) -> int | None:
    """Of how many answers the confidence is known."""
    return sum(one["count"] for one in found["calibration"]["bins"]) if "calibration" in found else None


@pytest.mark.usefixtures("fitted")
def test_each_question_is_asked_again_without_what_is_relevant(capsys: pytest.CaptureFixture[str]) -> None:
    """Both first results are right; without them something else is first, which is wrong."""
    (found,) = json.loads(evaluated(capsys, "--json")[0])["runs"]
    assert found["metrics"]["mrr@10"] == 1.0
    said = 0.731
    assert found["calibration"] == {
        "bins": [{"predicted": pytest.approx(said), "observed": 0.5, "count": 4}],
        "brier": pytest.approx((said**2 + (1 - said) ** 2) / 2),
        "expected_calibration_error": pytest.approx(said - 0.5),
        "auc": 0.5,
    }


def test_where_nothing_relevant_was_found_there_is_nothing_to_leave_out(
    fitted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_collection(fitted / "dry" / "bar", CORPUS, QUERIES, ("q1\tno such drink\t1",))
    (found,) = json.loads(evaluated(capsys, "--json", folder=str(fitted / "dry" / "bar"))[0])["runs"]
    assert found["calibration"]["bins"] == [{"predicted": 0.731, "observed": 0.0, "count": 2}]


@pytest.mark.usefixtures("fitted")
@pytest.mark.parametrize(("left_out", "answers"), [("soda*", 4), ("{soda,ale}*", None)])
def test_filters_that_were_asked_for_still_hold(
    capsys: pytest.CaptureFixture[str], left_out: str, answers: int | None
) -> None:
    """Of twelve drinks ten must be left, without the relevant one, or no confidence is known."""
    filters = json.dumps({"not": {"path": left_out}})
    (found,) = json.loads(evaluated(capsys, "--json", "--param", f"filters={filters}")[0])["runs"]
    assert counted(found) == answers


@pytest.mark.usefixtures("fitted")
@pytest.mark.parametrize(
    "arguments", [("--mode", "semantic"), ("--contract", "cfs"), ("--param", "feedback=0.5"), ("--drop-own",)]
)
def test_rankings_without_a_confidence_have_no_calibration(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    (found,) = json.loads(evaluated(capsys, "--json", *arguments)[0])["runs"]
    assert "calibration" not in found


@pytest.mark.usefixtures("fitted")
def test_people_read_one_line_and_no_note_of_low_confidence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FITTED, HASHING, Calibration(-3.0, 0.0, 0.0, 0.0, 0.0))
    out, err = evaluated(capsys)
    assert "confidence is off by 0.4530 on average" in out
    assert "over 4 answers" in out
    assert err == ""


@pytest.mark.usefixtures("fitted")
def test_the_page_draws_a_dot_for_each_bin(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    evaluated(capsys, "--html", "report.html", "--metrics", "mrr")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert page.count("<circle") == 1
    assert page.count("<svg") == page.count("</svg>") == 2
    assert 'aria-label="right answers by confidence: 0.50 of 4 at 0.73"' in page


def test_a_question_with_more_answers_than_a_filter_can_name_is_left_out(
    fitted: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A hundred documents and the condition that was asked for are one too many."""
    teas = tuple({"_id": f"t{number}", "title": "tea", "text": f"tea {number}"} for number in range(100))
    qrels = [f"q1\tt{number}\t1" for number in range(100)]
    write_collection(fitted / "many" / "bar", (*CORPUS, *teas), QUERIES, (*qrels, QRELS[1]))
    bar = str(fitted / "many" / "bar")
    (found,) = json.loads(evaluated(capsys, "--json", folder=bar)[0])["runs"]
    assert counted(found) == 4
    filters = 'filters={"not": {"path": "tea*"}}'
    (found,) = json.loads(evaluated(capsys, "--json", "--param", filters, folder=bar)[0])["runs"]
    assert counted(found) == 2
