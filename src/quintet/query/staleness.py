"""The files behind results: how far the index lags behind them, and the notes that say so."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from quintet.contracts import Plan
from quintet.model.results import Facts, Freshness, Note
from quintet.ports.reading import Catalog, Disk, Source
from quintet.ranking.freshness import BEST_FIRST


@dataclass(slots=True)
class FileStates:
    """How the files behind documents compare with what was indexed. A search looks at each file once."""

    catalog: Catalog
    disk: Disk
    ask_git: bool
    _notes: list[Note] = field(default_factory=list)
    _sources: dict[str, Source] = field(default_factory=dict)
    _checked: set[str] = field(default_factory=set)
    _changed: dict[str, Freshness] = field(default_factory=dict)
    _missing_roots: set[str] = field(default_factory=set)

    def add_freshness(self, facts: Mapping[str, Facts]) -> dict[str, Facts]:
        """The same facts with the freshness of each document."""
        self._check(fact.document_id for fact in facts.values())
        return {
            chunk_id: fact._replace(freshness=self._changed[fact.document_id])
            if fact.document_id in self._changed
            else fact
            for chunk_id, fact in facts.items()
        }

    def notes_on(self, document_ids: Sequence[str]) -> list[Note]:
        """What git or the disk could not say, and a note if results come from files that changed."""
        self._check(document_ids)
        return [*self._notes, *self._stale(document_ids)]

    def _check(self, document_ids: Iterable[str]) -> None:
        new = sorted(set(document_ids) - self._checked)
        if not new:
            return
        self._checked.update(new)
        stored = self.catalog.sources(new)
        sources = {document_id: stored[document_id] for document_id in new if document_id in stored}
        comparison = self.disk.compare(sources, ask_git=self.ask_git)
        self._sources |= sources
        self._changed |= comparison.changed
        self._missing_roots |= comparison.missing_roots
        self._notes.extend(note for note in comparison.notes if note not in self._notes)
        if any(note["code"] == "git_failed" for note in comparison.notes):
            self.ask_git = False  # git would fail again, and may be slow to do so

    def _stale(self, document_ids: Sequence[str]) -> list[Note]:
        changed = [self._sources[document_id] for document_id in document_ids if document_id in self._changed]
        if not changed:
            return []
        missing = [source for source in changed if source.root in self._missing_roots]
        if missing:
            why = f"missing folders (root {missing[0].root}); they show the text as it was indexed"
            return [_index_stale(len(missing), len(document_ids), why)]
        why = f"files that changed since they were indexed ({changed[0].path}); run 'quintet index'"
        return [_index_stale(len(changed), len(document_ids), why)]


def _index_stale(count: int, of: int, why: str) -> Note:
    return {"code": "index_stale", "message": f"{count} of {of} results come from {why}"}


def count_below_floor(plan: Plan, facts: Mapping[str, Facts]) -> int:
    """How many candidates are less fresh than the plan's floor allows."""
    lowest = BEST_FIRST.index(plan.profile.freshness_floor)
    return sum(BEST_FIRST.index(fact.freshness) > lowest for fact in facts.values())


def below_floor_note(plan: Plan, facts: Mapping[str, Facts], shown: int, searched: int | None) -> Note:
    """`searched` is how deep each leg was asked, if it may have more."""
    among = "" if searched is None else f" among the best {searched} of each leg"
    message = (
        f"{count_below_floor(plan, facts)} of {len(facts)} candidates lie below the freshness floor "
        f"{plan.profile.freshness_floor} and were left out; {shown} of {plan.limit} results "
        f"were found{among}; run 'quintet index'"
    )
    return {"code": "below_floor", "message": message}
