"""PURE. Whether one signal dominates a fused ranking (spec 002: "no single signal dominates").

A signal's say is how far the first results change when it is left out of the fusion; the say of the others,
how far they change when it alone is left in. Its share is its say over both, summed over a set of queries:
1 if it decides alone, 0 if it changes nothing. It dominates with more than twice the say of all the others.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from quintet.model.results import Facts, Hit, Signal
from quintet.ranking import Profile, rank

SHOWN = 10  # results looked at
MOST = 2 / 3  # ours: one half would forbid the specification's own weights, 1 would forbid nothing

Hits = Mapping[Signal, Sequence[Hit]]


@dataclass(frozen=True, slots=True)
class Say:
    """How far one query's first results change without a signal (`own`), and with it alone (`others`)."""

    own: float
    others: float


def says(profile: Profile, hits: Hits, facts: Mapping[str, Facts], limit: int) -> dict[Signal, Say]:
    """The say of each signal of the profile that was asked. Nothing if fewer than two found anything:
    then there is nothing to fuse. Hits stay as they are, those of a walk that began at other hits too."""
    asked = [branch.signal for branch in profile.branches if branch.signal in hits]
    if sum(bool(hits[signal]) for signal in asked) < 2:
        return {}

    def first(signals: Collection[Signal]) -> list[str]:
        left_in = {signal: hits[signal] for signal in signals}
        return [item.item_id for item in rank(profile, left_in, facts, limit)[:SHOWN]]

    answer = first(asked)
    return {
        signal: Say(
            own=1 - agreement(answer, first([one for one in asked if one != signal])),
            others=1 - agreement(answer, first([signal])),
        )
        for signal in asked
    }


def agreement(one: Sequence[str], other: Sequence[str]) -> float:
    """Average overlap: what the first 1, 2, ... places have in common, in the mean. Early places count most.

    >>> agreement(["a", "b"], ["a", "c"])
    0.75
    """
    depth = max(len(one), len(other))
    shared = (len({*one[:place]} & {*other[:place]}) / place for place in range(1, depth + 1))
    return fsum(shared) / depth if depth else 1.0


def share(queries: Iterable[Say]) -> float:
    """Of what is decided over all queries, how much this signal decides. Where all agree nothing is."""
    counted = list(queries)
    own, others = fsum(say.own for say in counted), fsum(say.others for say in counted)
    return own / (own + others) if own + others else 0.0


def shares(queries: Iterable[Mapping[Signal, Say]]) -> dict[Signal, float]:
    """By signal, its share over a set of queries."""
    by_signal: dict[Signal, list[Say]] = {}
    for query in queries:
        for signal, say in query.items():
            by_signal.setdefault(signal, []).append(say)
    return {signal: share(of_all) for signal, of_all in by_signal.items()}


def dominating(queries: Iterable[Mapping[Signal, Say]]) -> list[Signal]:
    """The signals that have more than `MOST` of the say over this set."""
    return [signal for signal, part in shares(queries).items() if part > MOST]
