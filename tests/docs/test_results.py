"""The figures of docs/results.md are those of the records it links to."""

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "results.md"
RECORDS = ROOT / "bench" / "results"
REVIEW = RECORDS / "review.md"
NUMBER = re.compile(r"(?<![\w.-])\d*\.?\d[\d,.]*(?![\w-])")
QUERY = re.compile(r"^\| (\d+) \| `` (.+?) `` \| (.+) \|$", re.MULTILINE)
JUDGED = re.compile(r"`[^`]+:\d+` (relevant|partly|no)")
FIGURES = re.compile(
    r"^\| `\w+`[^|]* \| (\d+) \| (\d+) \| (\d+) \| ([\d.]+) \| ([\d.]+) \| (\d+) of 20 \| (\d+) of 20 \|$"
)
RANKINGS = 3


def rows(text: str) -> dict[str, list[str]]:
    """The cells of each table row, by its first cell."""
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {cells[0].strip(): cells[1:] for cells in lines}


@pytest.mark.parametrize("record", ["relevance", "peers", "startup", "growth"])
def test_every_figure_of_a_table_stands_in_the_same_row_of_its_record(record: str) -> None:
    sections = re.split(r"^## ", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    (section,) = [text for text in sections if f"bench/results/{record}.md" in text]
    lines = (RECORDS / f"{record}.md").read_text("utf-8").splitlines()
    shown = rows(section)
    assert len(shown) > RANKINGS
    for name, cells in shown.items():
        recorded = [line for line in lines if line.startswith(f"| {name} |")]
        known = {number for line in recorded for number in NUMBER.findall(line.replace("**", ""))}
        assert {number for cell in cells for number in NUMBER.findall(cell)} <= known, name


def judgements() -> dict[str, list[list[str]]]:
    """For each query and each ranking, the judgements of the first three results."""
    return {
        query: [JUDGED.findall(cell) for cell in cells.split(" | ")]
        for _, query, cells in QUERY.findall(REVIEW.read_text("utf-8"))
    }


def test_the_first_three_results_of_twenty_queries_are_judged_for_each_ranking() -> None:
    judged = judgements()
    assert len(judged) == 20
    for query, rankings in judged.items():
        assert [len(three) for three in rankings] == [3] * RANKINGS, query


def test_the_figures_of_the_review_are_those_of_its_judgements() -> None:
    shown = [FIGURES.match(line) for line in PAGE.read_text("utf-8").splitlines()]
    expected = []
    for ranking in range(RANKINGS):
        threes = [rankings[ranking] for rankings in judgements().values()]
        count = Counter(judgement for three in threes for judgement in three)
        good, partly, total = count["relevant"], count["partly"], count.total()
        first = sum(three[0] == "relevant" for three in threes)
        some = sum("relevant" in three for three in threes)
        shares = (f"{good / total:.2f}", f"{(good + partly) / total:.2f}")
        expected.append((str(good), str(partly), str(count["no"]), *shares, str(first), str(some)))
    assert [match.groups() for match in shown if match] == expected
