"""A ranking contract as data. `rank` is the only code that reads a profile; a profile has no code.

Normalisers and order keys are held by name, so that `repr(profile)` reads well.
"""

from dataclasses import dataclass
from typing import Literal

from quintet.model.results import Freshness, Signal

NormaliserName = Literal["as_is", "min_max", "unit"]
OrderKey = Literal[
    "chunk_id", "document_id", "path", "sequence", "line", "node_id", "newest_first", "lexical_rank"
]
Unit = Literal["chunk", "document", "node"]


@dataclass(frozen=True, slots=True)
class Fetch:
    """How deep to ask a signal: `limit * times`, kept between `at_least` and `at_most`.

    `covers_limit` never lets that fall below the limit itself, whatever `at_most` says.

    >>> Fetch(3, at_least=10, at_most=50).depth(5)
    15
    >>> Fetch(3, at_least=10, at_most=50, covers_limit=True).depth(80)
    80
    """

    times: int = 1
    at_least: int = 0
    at_most: int | None = None
    covers_limit: bool = False

    def depth(self, limit: int) -> int:
        depth = max(limit * self.times, self.at_least)
        if self.at_most is not None:
            depth = min(depth, self.at_most)
        return max(depth, limit) if self.covers_limit else depth


@dataclass(frozen=True, slots=True)
class Saturating:
    """`score / (score + half)`: in [0, 1), 0.5 at `half`, independent of the other hits."""

    half: float


@dataclass(frozen=True, slots=True)
class Branch:
    """One signal of a profile: how deep to fetch it, how to scale its scores, and its weight.

    With `complete` the signal also scores what only other signals found, so that nothing counts as zero just
    because it ranks below the depth. Such an item has no rank, so `complete` needs `WeightedSum`.

    The hits of the signal `agreement` are made by `rank` itself, of those of the signals before it.
    """

    signal: Signal
    fetch: Fetch
    weight: float = 1.0
    normalise: NormaliserName | Saturating = "as_is"
    complete: bool = False


@dataclass(frozen=True, slots=True)
class Rrf:
    """Reciprocal rank fusion (Cormack et al., SIGIR 2009): the sum of weight / (rrf_k + rank).

    `first_rank` is what the best hit counts as: 1 in the paper, 0 in ADR-043. With `share_of_maximum`
    a score is divided by the highest possible score, which puts it into [0, 1].
    """

    rrf_k: float = 60.0
    first_rank: int = 1
    share_of_maximum: bool = False


@dataclass(frozen=True, slots=True)
class WeightedSum:
    """The sum of weight * normalised score. A signal that did not match adds nothing."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Which signals, how they are scaled and fused, what is ranked, and how ties break.

    `lead` names signals in order of preference; the first with any hit leads. Items that the lead found
    precede all others, and its own score breaks ties between chunks. This serves rankings that one signal
    determines, where scaling could hide a difference that the signal still saw. A document's score comes from
    the chunks that the lead found; it breaks ties between documents only where its weight is 0.

    `repeat` is the share of its score that each further chunk of a document keeps, so that a page shows
    different documents first; it ranks chunks by their score alone.

    `feedback` is how far the query's vector moves towards that of the best item once all items are ranked;
    then all are scored again (pseudo-relevance feedback, Rocchio 1971).
    """

    branches: tuple[Branch, ...]
    fusion: Rrf | WeightedSum
    ties: tuple[OrderKey, ...]
    unit: Unit = "chunk"
    aggregate: Literal["max", "avg"] = "max"
    lead: tuple[Signal, ...] = ()
    feedback: float = 0.0
    repeat: float = 1.0
    freshness: tuple[tuple[Freshness, float], ...] = ()
    freshness_floor: Freshness = "StaleWithRisk"

    def branch(self, signal: Signal) -> Branch | None:
        return next((branch for branch in self.branches if branch.signal == signal), None)
