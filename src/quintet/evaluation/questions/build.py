"""The questions an index is measured by: chosen evenly, held out, and put as any collection is."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from quintet.errors import Conflict
from quintet.evaluation.judgements import Group, Judged
from quintet.evaluation.questions.held_out import is_held_out, with_question_cut
from quintet.evaluation.questions.selection import KINDS, Kind, Question, Target, in_turn, spread, unambiguous
from quintet.evaluation.questions.sources import Found, Place
from quintet.evaluation.questions.sources import commits_questions as from_commits
from quintet.evaluation.questions.sources import documents_questions as from_documents
from quintet.evaluation.questions.sources import memories_questions as from_memories
from quintet.index import Index
from quintet.indexing.run import Progress
from quintet.model.documents import Passage
from quintet.model.results import Note
from quintet.storage.sqlite.store import SqliteSnapshot, SqliteStore

QUESTIONS = 300
SEED = 7
LOOKED_AT = 10  # candidates for each question that is wanted, and a thousand at least
MEANING = Note(
    code="own_questions",
    message="the questions were made from what is indexed, so the figures tell which way of searching finds "
    "the things of this index better, not how well it answers the questions of people",
)


@dataclass(frozen=True, slots=True)
class OwnQuestions:
    """Questions with their answers. `documents` are those from which a question was cut, with all their
    passages as they are to be searched; `whole_files` the questions whose results count as files."""

    judged: Judged
    documents: Mapping[Place, Sequence[Passage]]
    whole_files: frozenset[str]
    generation: int  # of the index they were made from
    several_roots: bool
    _items: Mapping[str, Mapping[str, str]]  # of each question: what its chunks are called together

    def name(self, query: str, passage: Passage) -> str:
        """What a result of this question is called in its judgements."""
        found = self._items[query].get(passage.chunk.id)
        if found is not None:
            return found
        return self.file(passage) if query in self.whole_files else self.chunk(passage)

    def file(self, passage: Passage) -> str:
        return _file(passage.document.root, passage.document.path, self.several_roots)

    def chunk(self, passage: Passage) -> str:
        return _chunk(passage, self.several_roots)


def own_questions(
    index: Index, count: int = QUESTIONS, seed: int = SEED, progress: Progress | None = None
) -> OwnQuestions:
    """At most `count` questions about what the index holds, of each kind as many as there can be.

    The same index, count and seed give the same questions. Nothing is written.
    """
    store = SqliteStore(index.folder)
    try:
        with store.snapshot() as snapshot:
            _check_filled(snapshot, index)
            found = from_documents(snapshot, progress or _silent)
            found["commit"] = from_commits(snapshot, index.settings)
            found["memory"] = from_memories(index.folder, snapshot)
            name = "+".join(root.name for root in snapshot.catalog.roots())
            return _chosen(snapshot, name, found, count, seed)
    finally:
        store.close()


def _check_filled(snapshot: SqliteSnapshot, index: Index) -> None:
    if not snapshot.catalog.ever_filled():
        raise Conflict(
            f"the index in {index.folder} was never filled, so there is nothing to ask; run 'quintet index'"
        )
    if not snapshot.catalog.counts().documents:
        raise Conflict(
            f"the index in {index.folder} is empty, so there is nothing to ask; run 'quintet index PATHS'"
        )


def _chosen(
    snapshot: SqliteSnapshot, name: str, found: Mapping[Kind, Found], count: int, seed: int
) -> OwnQuestions:
    candidates = [one for kind in KINDS for one in found[kind].questions]
    clear = unambiguous(candidates)
    by_kind = {kind: [one for one in clear if one.kind == kind] for kind in KINDS}
    holding = _HoldingOut(snapshot)
    most = max(1_000, LOOKED_AT * count)
    chosen = in_turn({kind: holding.out(spread(by_kind[kind], seed)[:most]) for kind in KINDS}, count)
    if not chosen:
        lacks = "; ".join(
            found[kind].lack or f"{kind}: all stand elsewhere in what they should find" for kind in KINDS
        )
        raise Conflict(f"no question can be made from this index: {lacks}")
    notes = [MEANING]
    for kind in KINDS:
        if found[kind].lack:
            notes.append(Note(code=f"no_{kind}_questions", message=f"{kind}: {found[kind].lack}"))
    notes += _left_out(len(candidates) - len(clear), holding.refused)
    groups: dict[str, Group] = {
        kind: Group(tuple(sorted(one.id for one in chosen if one.kind == kind)), len(by_kind[kind]))
        for kind in KINDS
        if any(one.kind == kind for one in chosen)
    }
    return _put(chosen, holding, name, tuple(notes), groups)


def _left_out(ambiguous: int, refused: Mapping[Kind, int]) -> Iterator[Note]:
    if ambiguous:
        message = f"{ambiguous} texts are the same for several targets and were not asked"
        yield Note(code="ambiguous", message=message)
    if refused:
        by_kind = ", ".join(f"{refused[kind]} {kind}" for kind in KINDS if kind in refused)
        message = f"passed over because the words stand elsewhere in the target, or nothing else: {by_kind}"
        yield Note(code="not_held_out", message=message)


class _HoldingOut:
    """Cuts questions out of what they ask for, and passes over those that would still stand there."""

    def __init__(self, snapshot: SqliteSnapshot) -> None:
        self._catalog = snapshot.catalog
        self.generation = self._catalog.generation
        self.several_roots = len(self._catalog.roots()) > 1
        self.refused: Counter[Kind] = Counter()
        self._cut: dict[str, Passage] = {}  # by chunk
        self._titles: dict[Place, str] = {}

    def out(self, questions: Sequence[Question]) -> Iterator[Question]:
        for one in questions:
            if self._held_out(one):
                yield one
            else:
                self.refused[one.kind] += 1

    def _held_out(self, question: Question) -> bool:
        target = [passage for one in question.targets for passage in self.passages(one)]
        if question.kind in ("commit", "memory"):
            return is_held_out(question, target)
        cut = with_question_cut(question, target)
        for before, one in zip(target, cut or (), strict=False):
            if one != before:
                self._cut[one.chunk.id] = one
                self._titles[one.document.root, one.document.path] = one.document.title
        return cut is not None

    def passages(self, target: Target) -> list[Passage]:
        """Those of the target in reading order, as they are to be searched."""
        if not target.chunks:
            return self._document((target.root, target.path))
        found = map(self._as_cut, self._catalog.passages(target.chunks).values())
        return sorted(found, key=lambda one: one.chunk.sequence)

    def documents(self) -> dict[Place, list[Passage]]:
        """Those of which something was cut, whole."""
        return {place: self._document(place) for place in sorted(self._titles)}

    def _document(self, place: Place) -> list[Passage]:
        return [self._as_cut(one) for one in self._catalog.passages_of(*place)]

    def _as_cut(self, passage: Passage) -> Passage:
        """A title that was cut is that of every passage of its document."""
        document = passage.document
        title = self._titles.get((document.root, document.path), document.title)
        chunk = self._cut.get(passage.chunk.id, passage).chunk
        return Passage(chunk, replace(document, title=title))


def _put(
    chosen: Sequence[Question],
    holding: _HoldingOut,
    name: str,
    notes: tuple[Note, ...],
    groups: Mapping[str, Group],
) -> OwnQuestions:
    asked = {one.id: one for one in sorted(chosen, key=lambda one: one.id)}
    items: dict[str, dict[str, str]] = {}
    grades: dict[str, dict[str, int]] = {}
    for id, one in asked.items():
        items[id], grades[id] = {}, {}
        for target in one.targets:
            passages = holding.passages(target)
            item = (
                _file(target.root, target.path, holding.several_roots)
                if one.whole_files
                else _chunk(passages[0], holding.several_roots)
            )
            grades[id][item] = 1
            items[id] |= {} if one.whole_files else {part.chunk.id: item for part in passages}
    judged = Judged(name, {id: one.text for id, one in asked.items()}, grades, notes, groups)
    whole_files = frozenset(id for id, one in asked.items() if one.whole_files)
    return OwnQuestions(
        judged, holding.documents(), whole_files, holding.generation, holding.several_roots, items
    )


def _file(root: str, path: str, several_roots: bool) -> str:
    """Without the white space that a TREC run cannot hold."""
    file = f"{root}/{path}" if several_roots else path
    return "".join("%20" if char.isspace() else char for char in file)


def _chunk(passage: Passage, several_roots: bool) -> str:
    document, chunk = passage.document, passage.chunk
    file = _file(document.root, document.path, several_roots)
    return f"{file}:{chunk.first_line}-{chunk.last_line}#{chunk.sequence}"


def _silent(stage: str, done: int, total: int) -> None:
    pass
