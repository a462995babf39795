"""The best chunks of a query, without scoring all of them: MaxScore (Turtle and Flood 1995) over arrays.

The shortest postings lists are read first. Once the remaining lists cannot lift another chunk into the best,
only the candidates are looked up in them. Intermediate sums may be off in their last bits; returned scores
are added up again in the order of the query, as FTS5 does.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum

import numpy as np

from quintet.model.vector import nth_largest, score_reached_by
from quintet.storage.text.postings.score import (
    K1,
    ArrayCache,
    FieldWeights,
    Float64,
    Postings,
    PostingsView,
    Statistics,
    worth,
)
from quintet.storage.text.postings.segment import Bool, Int64

SLACK = 1 - 1e-11  # of a score: covers all that rounds to the same twelve digits
TINY = float(np.finfo(np.float64).tiny)
LONG = 1 << 11  # postings; scores of longer lists are cached
AT_FIRST = 1 << 15  # postings to read before the first look at the leading chunks
LOOKUP = 2  # postings that can be read in the time of one lookup
TOGETHER = 1_000  # chunks up to which the scores of clauses already read are collected


class Term:
    """A term of the query, with its postings and its idf, times its weight in the query. `table` names the
    sum that it belongs to."""

    def __init__(
        self,
        postings: Sequence[Postings],
        table: str,
        statistics: Statistics,
        weighing: FieldWeights,
        weight: float = 1.0,
    ) -> None:
        self.table = table
        names = tuple(part.name for part in postings)
        key = names, weighing.weights, weighing.content_only, weight
        self.name = None if None in names else key
        self.postings = postings
        self.size = sum(len(part.chunks) for part in postings)
        held = (part.in_content if weighing.content_only else part.alive for part in postings)
        self.idf = weight * statistics.idf(sum(held))
        self.norms = statistics.norms
        self.frequencies = [weighing.of(part.triples) for part in postings]
        self.bound = self.idf * (K1 + 1.0)

    def look_up(self, numbers: Int64) -> tuple[Float64, Bool]:
        """What the term adds to these chunks, which ascend, and which of them hold it."""
        values, there = np.zeros(len(numbers)), np.zeros(len(numbers), np.bool_)
        for part, frequencies in zip(self.postings, self.frequencies, strict=True):
            local = (numbers - part.portion.first).astype(np.int32)  # else numpy would widen the whole list
            places = part.chunks.searchsorted(local)
            (here,) = (part.chunks.take(places, mode="clip") == local).nonzero()
            if len(here):
                counts = frequencies[part.codes[places[here]]]
                values[here] = worth(self.idf, counts, self.norms[numbers[here]])
                there[here] = True
        return values, there


@dataclass(frozen=True, slots=True)
class ScoredChunks:
    """Scores that FTS5 computed: chunks, ascending, and what is added to each."""

    numbers: Int64
    values: Float64
    table: str

    @property
    def size(self) -> int:
        return len(self.numbers)

    @property
    def bound(self) -> float:
        return float(self.values.max(initial=0.0))

    def look_up(self, numbers: Int64) -> tuple[Float64, Bool]:
        places = np.minimum(np.searchsorted(self.numbers, numbers), len(self.numbers) - 1)
        there = self.numbers[places] == numbers
        return np.where(there, self.values[places], 0.0), there


Clause = Term | ScoredChunks


@dataclass(frozen=True, slots=True)
class ClauseScores:
    """Clauses that were read together: their numbers, where each begins, its chunks, and what it adds to
    them."""

    clauses: Int64
    starts: Int64
    numbers: Int64
    values: Float64


def read(clauses: Sequence[Clause], which: Sequence[int], kept: ArrayCache) -> Iterable[ClauseScores]:
    """Read all postings of these clauses: long lists one by one, the short ones of a table together."""
    short: dict[str, list[tuple[int, Term]]] = {}
    for at in which:
        clause = clauses[at]
        if isinstance(clause, ScoredChunks):
            yield ClauseScores(np.array([at]), np.array([0]), clause.numbers, clause.values)
        elif clause.size >= LONG:
            yield _read_long(at, clause, kept)
        else:
            short.setdefault(clause.table, []).append((at, clause))
    for terms in short.values():
        yield _read_terms([at for at, _ in terms], [clause for _, clause in terms])


def _read_long(at: int, term: Term, kept: ArrayCache) -> ClauseScores:
    values = None if term.name is None else kept.get(term.name)
    if values is not None:
        return ClauseScores(np.array([at]), np.array([0]), _numbers(term.postings), values)
    scores = _read_terms([at], [term])
    if term.name is not None:
        kept.put(term.name, scores.values)
    return scores


def _numbers(lists: Sequence[Postings]) -> Int64:
    """The numbers of the chunks in all lists. Numpy indexes twice as fast with 64 bits."""
    numbers = [
        postings.chunks + postings.portion.first if postings.portion.first else postings.chunks
        for postings in lists
    ]
    return np.concatenate(numbers).astype(np.int64)


def _read_terms(which: Sequence[int], terms: Sequence[Term]) -> ClauseScores:
    lists = [postings for term in terms for postings in term.postings]
    frequencies = [by_code for term in terms for by_code in term.frequencies]
    numbers = _numbers(lists)
    if all(by_code is frequencies[0] for by_code in frequencies):
        counts = frequencies[0][np.concatenate([postings.codes for postings in lists]).astype(np.int64)]
    else:
        counts = np.concatenate(
            [by_code[postings.codes] for postings, by_code in zip(lists, frequencies, strict=True)]
        )
    sizes = np.array([term.size for term in terms])
    idfs = np.repeat([term.idf for term in terms], sizes) if len(terms) > 1 else terms[0].idf
    values = worth(idfs, counts, terms[0].norms[numbers])
    return ClauseScores(np.array(which), np.cumsum(sizes) - sizes, numbers, values)


class Ranking:
    """Ranks chunks by the sum of what the clauses add. `allowed` masks the chunks that may match. A match in
    fields of weight zero is a match, unless `content_only`."""

    def __init__(
        self,
        view: PostingsView,
        clauses: Sequence[Clause],
        allowed: Bool | None,
        *,
        content_only: bool = False,
    ) -> None:
        self._content_only = content_only
        self._view = view
        self._clauses = [clause for clause in clauses if clause.size]
        self._read: list[ClauseScores] = []
        self._allowed = view.alive
        if allowed is not None:
            self._allowed = allowed if view.alive is None else allowed & view.alive

    def best(self, depth: int) -> tuple[Int64, Float64]:
        """The best `depth` chunks and all that tie with the last of them, with their exact scores."""
        numbers = self._candidates(depth)
        scores, _ = self.exact(numbers)
        if len(numbers) < depth and not self._content_only:
            more = self._worthless(numbers)
            numbers, scores = np.concatenate([numbers, more]), np.concatenate([scores, np.zeros(len(more))])
        if len(numbers) > depth:
            kept = scores >= nth_largest(scores, depth) * SLACK
            numbers, scores = numbers[kept], scores[kept]
        return numbers, scores

    def exact(self, numbers: Int64) -> tuple[Float64, Bool]:
        """The scores of these chunks, which ascend, and which of them match."""
        sums: dict[str, Float64] = {}
        matched = np.zeros(len(numbers), np.bool_)
        known = self._known(numbers) if len(numbers) <= TOGETHER else {}
        for at, clause in enumerate(self._clauses):
            values, there = known[at] if at in known else self._of(at, numbers)
            sums[clause.table] = sums[clause.table] + values if clause.table in sums else values
            matched |= there
        if self._allowed is not None:
            matched &= self._allowed[numbers]
        scores = _rounded_once(list(sums.values()), len(numbers))
        return scores, matched & (scores > 0.0) if self._content_only else matched

    def _known(self, numbers: Int64) -> dict[int, tuple[Float64, Bool]]:
        """What the clauses already read add to these chunks."""
        if not self._read:
            return {}
        places = np.full(self._view.size, -1, np.int32)
        places[numbers] = np.arange(len(numbers), dtype=np.int32)
        known: dict[int, tuple[Float64, Bool]] = {}
        for scores in self._read:
            at = places[scores.numbers]
            hits = np.flatnonzero(at >= 0)
            clause, place = np.searchsorted(scores.starts, hits, "right") - 1, at[hits]
            values = np.zeros((len(scores.clauses), len(numbers)))
            there = np.zeros(values.shape, np.bool_)
            values[clause, place], there[clause, place] = scores.values[hits], True
            known |= {number: (values[row], there[row]) for row, number in enumerate(scores.clauses.tolist())}
        return known

    def _of(self, at: int, numbers: Int64) -> tuple[Float64, Bool]:
        clause = self._clauses[at]
        if len(numbers) * LOOKUP < clause.size + self._view.size:
            return clause.look_up(numbers)
        values, there = np.zeros(self._view.size), np.zeros(self._view.size, np.bool_)
        for scores in read(self._clauses, [at], self._view.kept):
            values[scores.numbers], there[scores.numbers] = scores.values, True
        return values[numbers], there[numbers]

    def _worthless(self, others: Int64) -> Int64:
        """Chunks that match only in fields of weight zero."""
        matched = np.zeros(self._view.size, np.bool_)
        for scores in read(self._clauses, range(len(self._clauses)), self._view.kept):
            matched[scores.numbers[scores.values == 0.0]] = True
        matched[others] = False
        return np.flatnonzero(matched if self._allowed is None else matched & self._allowed)

    def _candidates(self, depth: int) -> Int64:
        """The numbers of all chunks that may be among the best, ascending."""
        waiting = sorted(range(len(self._clauses)), key=lambda at: self._clauses[at].size)
        sums, budget = np.zeros(self._view.size), AT_FIRST
        while waiting:
            group = self._shortest(waiting, budget)
            waiting = waiting[len(group) :]
            self._add(sums, group)
            left = [self._clauses[at] for at in waiting]
            least = _least(score_reached_by(sums, depth), left)
            if least > TINY and _lookups(sums, least, left) < sum(clause.size for clause in left):
                ahead = np.flatnonzero(sums >= least)
                return _narrowed(ahead, sums[ahead], left, depth)
            budget = max(budget, sum(self._clauses[at].size for at in group)) * 3 // 2
        ahead = np.flatnonzero(sums >= _least(score_reached_by(sums, depth), ()))
        return _narrowed(ahead, sums[ahead], (), depth)

    def _shortest(self, waiting: Sequence[int], budget: int) -> Sequence[int]:
        """The next clauses whose postings fit the budget; at least one."""
        taken = np.cumsum([self._clauses[at].size for at in waiting])
        return waiting[: max(1, int(np.searchsorted(taken, budget, "right")))]

    def _add(self, sums: Float64, group: Sequence[int]) -> None:
        for scores in read(self._clauses, group, self._view.kept):
            np.add.at(sums, scores.numbers, scores.values)
            if len(scores.clauses) > 1:
                self._read.append(scores)
        if self._allowed is not None:
            sums *= self._allowed


def _lookups(sums: Float64, least: float, left: Sequence[Clause]) -> int:
    """The cost of looking up the leading chunks, in postings read."""
    return int(np.count_nonzero(sums >= least)) * LOOKUP * len(left)


def _narrowed(numbers: Int64, sums: Float64, waiting: Sequence[Clause], depth: int) -> Int64:
    """Add what the remaining clauses give these chunks, and drop those that fall behind."""
    waiting = sorted(waiting, key=lambda clause: -clause.bound)
    while True:
        if len(numbers) > depth:
            ahead = sums >= _least(nth_largest(sums, depth), waiting)
            numbers, sums = numbers[ahead], sums[ahead]
        if not waiting:
            return numbers
        sums = sums + waiting.pop(0).look_up(numbers)[0]


def _least(floor: float, waiting: Sequence[Clause]) -> float:
    """The sum a chunk needs now to reach `floor` in the end. No sum is off by as much as the slack."""
    return max(TINY, floor * SLACK - sum(clause.bound for clause in waiting) / SLACK)


def _rounded_once(sums: Sequence[Float64], size: int) -> Float64:
    """The sum over the tables. Of three, it is rounded once, whatever their order."""
    if len(sums) > 2:
        return np.array([fsum(scores) for scores in zip(*sums, strict=True)], np.float64)
    return sums[0] + sums[1] if len(sums) == 2 else sums[0] if sums else np.zeros(size)
