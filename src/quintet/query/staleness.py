"""Freshness at query time: candidates weighed by the state of their files, gaps filled, changes told."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from quintet.contracts import Plan
from quintet.contracts.confidence import BEST
from quintet.model.results import Facts, Freshness, Note, Ranked
from quintet.ports.reading import Catalog, Disk, Source
from quintet.query.legs import Legs, depth
from quintet.query.post_filter import ranked, reach
from quintet.ranking import contenders
from quintet.ranking.freshness import BEST_FIRST

ROUNDS = 4  # times the legs go twice as deep to fill a page that the floor has thinned out
DEEPEST = 10_000  # candidates


@dataclass(frozen=True, slots=True)
class Candidates:
    """What the legs brought, what is known about it, the page of it, and the best ten whatever the page."""

    legs: Legs
    facts: Mapping[str, Facts]
    ranked: list[Ranked]
    best: list[Ranked]


def candidates(plan: Plan, catalog: Catalog, disk: Disk, fetch: Callable[[Plan], Legs]) -> Candidates:
    """Ranked candidates, with a note where results come from files that have changed since."""
    files = _Files(catalog, disk, ask_git=plan.needs_freshness)
    found = _fresh_enough(plan, files, fetch) if plan.needs_freshness else _best(plan, files, fetch)
    found = replace(found, ranked=found.ranked[: plan.limit])
    shown = [found.facts[item.best_chunk].document_id for item in found.ranked]
    files.look_at(shown)
    found.legs.notes.extend(files.notes)
    found.legs.notes.extend(files.stale(shown))
    return found


def _fresh_enough(plan: Plan, files: "_Files", fetch: Callable[[Plan], Legs]) -> Candidates:
    """The legs go deeper as long as the freshness floor leaves too few results and they have more."""
    for doublings in range(ROUNDS + 1):
        deeper = replace(plan, limit=min(plan.limit << doublings, DEEPEST))
        found = _best(deeper, files, fetch)
        dropped = _below(plan, found.facts)
        enough = not dropped or len(found.ranked) >= plan.limit
        if enough or not _more(deeper, found.legs):
            break
    if not enough:
        among = f" among the best {deeper.limit} of each leg" if _more(deeper, found.legs) else ""
        found.legs.note(
            "below_floor",
            f"{dropped} of {len(found.facts)} candidates lie below the freshness floor "
            f"{plan.profile.freshness_floor} and were left out; {len(found.ranked)} of {plan.limit} results "
            f"were found{among}; run 'quintet index'",
        )
    return found


def _best(plan: Plan, files: "_Files", fetch: Callable[[Plan], Legs]) -> Candidates:
    legs = fetch(plan)
    places = reach(plan)
    facts = files.catalog.facts(contenders(plan.profile, legs.hits, places, places))
    if plan.needs_freshness:
        facts = files.weighed(facts)
    everyone = ranked(plan, files.catalog, legs, facts)
    return Candidates(legs, facts, everyone, everyone[:BEST])


def _below(plan: Plan, facts: Mapping[str, Facts]) -> int:
    lowest = BEST_FIRST.index(plan.profile.freshness_floor)
    return sum(BEST_FIRST.index(one.freshness) > lowest for one in facts.values())


def _more(plan: Plan, legs: Legs) -> bool:
    """Whether a leg gave as much as it was asked for, so that it may have more."""
    return any(
        signal not in legs.ended and len(hits) >= depth(plan.profile, signal, plan.limit)
        for signal, hits in legs.hits.items()
    )


@dataclass(slots=True)
class _Files:
    """The files behind documents, each looked at once in a search."""

    catalog: Catalog
    disk: Disk
    ask_git: bool
    notes: list[Note] = field(default_factory=list)
    _sources: dict[str, Source] = field(default_factory=dict)
    _seen: set[str] = field(default_factory=set)
    _changed: dict[str, Freshness] = field(default_factory=dict)
    _missing_roots: set[str] = field(default_factory=set)

    def look_at(self, document_ids: Iterable[str]) -> None:
        new = sorted(set(document_ids) - self._seen)
        if not new:
            return
        self._seen.update(new)
        found = self.catalog.sources(new)
        sources = {one: found[one] for one in new if one in found}  # no matter how the database lists them
        seen = self.disk.compare(sources, ask_git=self.ask_git)
        self._sources |= sources
        self._changed |= seen.changed
        self._missing_roots |= seen.missing_roots
        self.notes.extend(note for note in seen.notes if note not in self.notes)
        if any(note["code"] == "git_failed" for note in seen.notes):
            self.ask_git = False  # it would fail again, and may take its time

    def weighed(self, facts: Mapping[str, Facts]) -> dict[str, Facts]:
        """The same facts with the freshness of each."""
        self.look_at(one.document_id for one in facts.values())
        return {
            chunk_id: one._replace(freshness=self._changed[one.document_id])
            if one.document_id in self._changed
            else one
            for chunk_id, one in facts.items()
        }

    def stale(self, shown: list[str]) -> list[Note]:
        """A note if results come from files that are not what was indexed."""
        changed = [self._sources[one] for one in shown if one in self._changed]
        if not changed:
            return []
        missing = [source for source in changed if source.root in self._missing_roots]
        if missing:
            why = f"folders that are not there (root {missing[0].root}); they show what was indexed"
            return [_stale(len(missing), len(shown), why)]
        why = f"files that changed since they were indexed ({changed[0].path}); run 'quintet index'"
        return [_stale(len(changed), len(shown), why)]


def _stale(count: int, of: int, why: str) -> Note:
    return {"code": "index_stale", "message": f"{count} of {of} results come from {why}"}
