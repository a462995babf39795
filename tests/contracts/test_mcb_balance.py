"""Spec 002: no single signal dominates. Measured over a set of queries, and shown to fail where one does."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import quintet
from contracts.fixed import write
from quintet.evaluation.balance import Influence, dominating, influences, shares
from quintet.model.results import Signal

TOPICS = {
    "cache": "keep stored entry evict expire memory",
    "billing": "invoice payment customer refund tax total",
    "network": "socket packet address connect timeout retry",
    "parser": "token grammar syntax tree node branch",
    "storage": "disk block file write flush journal",
    "clock": "time second timeout late expire zone",
}
EVERYDAY = "the first new old entry file value of a list"
EXPANSIONS: Mapping[str, object] = {
    "none": "none",
    "callers": {"callers": {"depth": 2}},
    "dependencies": {"dependencies": {"depth": 2}},
    "related": {"related": {"radius": 1}},
}
PER_TOPIC = 8


class TopicEmbedder:
    """Meaning without words: how much a text speaks of each topic, whichever of its words it takes."""

    identity = "topics"
    dimensions = len(TOPICS) + 1

    def embed_documents(self, texts: Sequence[str]) -> npt.NDArray[np.generic]:
        return np.array([self._of(text) for text in texts])

    def embed_query(self, text: str) -> npt.NDArray[np.generic]:
        return np.array(self._of(text))

    def _of(self, text: str) -> list[float]:
        words = text.replace("_", " ").lower().split()
        about = [sum(words.count(word) for word in known.split()) for known in TOPICS.values()]
        return [*map(float, about), 0.1 * len(words)]


def shelf() -> dict[str, str]:
    """A function a file, with some words of its topic and some of every day; each calls the next."""
    files, everyday = {}, EVERYDAY.split()
    for at, (topic, known) in enumerate(TOPICS.items()):
        words = known.split()
        for number in range(PER_TOPIC):
            own = [words[(number * step + at) % len(words)] for step in range(1, 2 + number % 4)]
            common = [everyday[(number + at + step) % len(everyday)] for step in range(number % 5)]
            after = f"{topic}_{(number + 1) % PER_TOPIC}"
            files[f"{topic}_{number}.py"] = (
                f"from {after} import step_{after}\n\n\ndef step_{topic}_{number}():\n"
                f'    """{" ".join(own + common)}"""\n    return step_{after}()\n'
            )
    return files


def queries() -> list[str]:
    """Two words of a topic, and one of every day."""
    everyday = EVERYDAY.split()
    return [
        f"{words[0]} {everyday[(at + start) % len(everyday)]} {words[1]}"
        for at, known in enumerate(TOPICS.values())
        for start in (0, 2, 4)
        for words in [known.split()[start:]]
    ]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[quintet.Index]:
    place: Path = tmp_path_factory.mktemp("balance")
    with quintet.open(place / "index", TopicEmbedder()) as made:
        made.sync([write(place / "shelf", shelf())])
        yield made


def measured(
    index: quintet.Index, expansion: object, times: Mapping[Signal, float]
) -> list[dict[Signal, Influence]]:
    """What each signal has to say in each query, had it so many times the weight of the specification."""
    found = []
    for query in queries():
        trace = index.search(query, "mcb", graph_expansion=expansion).trace
        assert trace is not None
        weights = (
            replace(branch, weight=branch.weight * times.get(branch.signal, 1.0))
            for branch in trace.plan.profile.branches
        )
        profile = replace(trace.plan.profile, branches=tuple(weights))
        found.append(influences(profile, trace.legs.hits, trace.facts, trace.plan.limit))
    return found


@pytest.mark.requirement("002-S-BALANCE")
@pytest.mark.parametrize("expansion", EXPANSIONS)
def test_no_single_signal_has_more_than_twice_the_say_of_all_others(
    index: quintet.Index, expansion: str
) -> None:
    found = measured(index, EXPANSIONS[expansion], {})
    asked = {"lexical", "semantic"} | ({"graph"} if expansion != "none" else set())
    assert shares(found).keys() == asked
    assert all(part > 0 for part in shares(found).values())
    assert dominating(found) == []


@pytest.mark.parametrize("expansion", EXPANSIONS)
def test_full_text_of_ten_times_its_weight_would_dominate(index: quintet.Index, expansion: str) -> None:
    assert dominating(measured(index, EXPANSIONS[expansion], {"lexical": 10.0})) == ["lexical"]


@pytest.mark.parametrize("signal", ["lexical", "semantic", "graph"])
def test_whichever_signal_outweighs_all_others_dominates(index: quintet.Index, signal: Signal) -> None:
    assert dominating(measured(index, EXPANSIONS["related"], {signal: 100.0})) == [signal]
