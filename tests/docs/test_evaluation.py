"""The review of twenty queries by hand: all of them judged, and its figures those of its judgements."""

import re
from collections import Counter
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "evaluation.md"
QUERY = re.compile(r"^\| (\d+) \| `` (.+?) `` \| (.+) \|$", re.MULTILINE)
JUDGED = re.compile(r"`[^`]+:\d+` (relevant|partly|no)")
FIGURES = re.compile(
    r"^\| `\w+`[^|]* \| (\d+) \| (\d+) \| (\d+) \| ([\d.]+) \| ([\d.]+) \| (\d+) of 20 \| (\d+) of 20 \|$"
)
RANKINGS = 3


def judgements() -> dict[str, list[list[str]]]:
    """By query, for each ranking, what was said of the first three results."""
    return {
        query: [JUDGED.findall(cell) for cell in cells.split(" | ")]
        for _, query, cells in QUERY.findall(PAGE.read_text("utf-8"))
    }


def test_the_first_three_results_of_twenty_queries_are_judged_for_each_ranking() -> None:
    judged = judgements()
    assert len(judged) == 20
    for query, rankings in judged.items():
        assert [len(three) for three in rankings] == [3] * RANKINGS, query


def test_the_figures_of_the_review_are_those_of_its_judgements() -> None:
    told = [FIGURES.match(line) for line in PAGE.read_text("utf-8").splitlines()]
    expected = []
    for ranking in range(RANKINGS):
        threes = [rankings[ranking] for rankings in judgements().values()]
        count = Counter(said for three in threes for said in three)
        good, partly, total = count["relevant"], count["partly"], count.total()
        first = sum(three[0] == "relevant" for three in threes)
        some = sum("relevant" in three for three in threes)
        shares = (f"{good / total:.2f}", f"{(good + partly) / total:.2f}")
        expected.append((str(good), str(partly), str(count["no"]), *shares, str(first), str(some)))
    assert [one.groups() for one in told if one] == expected
