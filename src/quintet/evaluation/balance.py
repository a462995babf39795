"""PURE. Whether one signal dominates a fused ranking (spec 002: "no single signal dominates").

The influence of a signal is how far the top results change without it; that of the others, how far they
change with it alone. Its share is its own influence divided by both, summed over a set of queries: 1 if it
decides alone, 0 if it changes nothing. A signal dominates with more than twice the influence of the others.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from quintet.model.results import Facts, Hit, Signal
from quintet.ranking import Profile, rank

TOP = 10  # results compared
MOST = 2 / 3  # ours: one half would forbid the specification's own weights, 1 would forbid nothing

Hits = Mapping[Signal, Sequence[Hit]]


@dataclass(frozen=True, slots=True)
class Influence:
    """How far the top results of a query change without a signal (`own`), and with it alone (`others`)."""

    own: float
    others: float


def influences(
    profile: Profile, hits: Hits, facts: Mapping[str, Facts], limit: int
) -> dict[Signal, Influence]:
    """The influence of each signal of the profile that was searched. Empty if fewer than two have hits:
    then there is nothing to fuse. The hits stay as they are, even those that depend on another signal."""
    searched = [branch.signal for branch in profile.branches if branch.signal in hits]
    if sum(bool(hits[signal]) for signal in searched) < 2:
        return {}

    def top(signals: Collection[Signal]) -> list[str]:
        chosen = {signal: hits[signal] for signal in signals}
        return [item.item_id for item in rank(profile, chosen, facts, limit)[:TOP]]

    answer = top(searched)
    return {
        signal: Influence(
            own=1 - agreement(answer, top([other for other in searched if other != signal])),
            others=1 - agreement(answer, top([signal])),
        )
        for signal in searched
    }


def agreement(ranking: Sequence[str], other: Sequence[str]) -> float:
    """Average overlap: the mean of what the top 1, 2, ... results have in common. Top ranks count most.

    >>> agreement(["a", "b"], ["a", "c"])
    0.75
    """
    depth = max(len(ranking), len(other))
    shared = (len({*ranking[:place]} & {*other[:place]}) / place for place in range(1, depth + 1))
    return fsum(shared) / depth if depth else 1.0


def share(queries: Iterable[Influence]) -> float:
    """A signal's share of the influence over all queries; 0 if no signal changes anything."""
    counted = list(queries)
    own = fsum(influence.own for influence in counted)
    others = fsum(influence.others for influence in counted)
    return own / (own + others) if own + others else 0.0


def shares(queries: Iterable[Mapping[Signal, Influence]]) -> dict[Signal, float]:
    """By signal, its share over a set of queries."""
    by_signal: dict[Signal, list[Influence]] = {}
    for query in queries:
        for signal, influence in query.items():
            by_signal.setdefault(signal, []).append(influence)
    return {signal: share(values) for signal, values in by_signal.items()}


def dominating(queries: Iterable[Mapping[Signal, Influence]]) -> list[Signal]:
    """The signals with a share above `MOST` over these queries."""
    return [signal for signal, part in shares(queries).items() if part > MOST]
