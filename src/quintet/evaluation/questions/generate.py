"""Make the questions that an index is measured by: evenly chosen, held out, in the form of a collection."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from quintet.errors import Conflict
from quintet.evaluation.backends import Backends, OpenIndex
from quintet.evaluation.beir import Group, JudgedQueries
from quintet.evaluation.questions.held_out import is_held_out, remove_question
from quintet.evaluation.questions.selection import (
    KINDS,
    Kind,
    Question,
    QuestionTarget,
    in_turn,
    spread,
    unambiguous,
)
from quintet.evaluation.questions.sources import (
    DocumentPlace,
    SourceQuestions,
    commit_questions,
    document_questions,
    memory_questions,
)
from quintet.indexing.run import Progress, no_progress
from quintet.model.documents import Passage
from quintet.model.results import Note
from quintet.ports.reading import Snapshot
from quintet.ports.store_files import INDEX_FILES, MEMORY_FILES

QUESTIONS = 300
SEED = 7
CANDIDATES = 10  # looked at for each question that is wanted, and at least a thousand in all
MEANING = Note(
    code="own_questions",
    message=(
        "the questions were made from what is indexed, so the figures compare ways of searching this "
        "index; they do not say how well it answers people's questions"
    ),
)


@dataclass(frozen=True, slots=True)
class GeneratedQuestions:
    """Questions with their answers. `documents` are those from which questions were removed, with all their
    passages as they are searched; `whole_files` are the questions whose results count as files."""

    judged: JudgedQueries
    documents: Mapping[DocumentPlace, Sequence[Passage]]
    whole_files: frozenset[str]
    generation: int  # of the index they were made from
    several_roots: bool
    _items: Mapping[str, Mapping[str, str]]  # of each question: the common name of its chunks

    def name(self, query: str, passage: Passage) -> str:
        """The name of a result of this question in its judgements."""
        item = self._items[query].get(passage.chunk.id)
        if item is not None:
            return item
        return self.file(passage) if query in self.whole_files else self.chunk(passage)

    def file(self, passage: Passage) -> str:
        return _file(passage.document.root, passage.document.path, self.several_roots)

    def chunk(self, passage: Passage) -> str:
        return _chunk(passage, self.several_roots)


def generate_questions(
    index: OpenIndex,
    backends: Backends,
    count: int = QUESTIONS,
    seed: int = SEED,
    progress: Progress = no_progress,
    *,
    by_file: bool = False,
) -> GeneratedQuestions:
    """At most `count` questions about the contents of the index, equally many of each kind if possible.

    The same index, count and seed give the same questions. Nothing is written. With `by_file` every question
    should find the file of its target.
    """
    store = backends.open_store(index.folder, INDEX_FILES, index.settings.text_index)
    memory = backends.open_store(index.folder, MEMORY_FILES, index.settings.text_index)
    try:
        with store.snapshot() as snapshot:
            _check_filled(snapshot, index)
            sources = document_questions(snapshot, progress)
            sources["commit"] = commit_questions(snapshot, index.settings)
            sources["memory"] = memory_questions(memory, snapshot)
            name = "+".join(root.name for root in snapshot.catalog.roots())
            return _choose(snapshot, name, sources, count, seed, by_file=by_file)
    finally:
        memory.close()
        store.close()


def _check_filled(snapshot: Snapshot, index: OpenIndex) -> None:
    if not snapshot.catalog.ever_filled():
        raise Conflict(
            f"the index in {index.folder} was never filled, so there is nothing to ask; run 'quintet index'"
        )
    if not snapshot.catalog.counts().documents:
        raise Conflict(
            f"the index in {index.folder} is empty, so there is nothing to ask; run 'quintet index PATHS'"
        )


def _choose(
    snapshot: Snapshot,
    name: str,
    sources: Mapping[Kind, SourceQuestions],
    count: int,
    seed: int,
    *,
    by_file: bool,
) -> GeneratedQuestions:
    candidates = [question for kind in KINDS for question in sources[kind].questions]
    clear = unambiguous(candidates)
    by_kind = {kind: [question for question in clear if question.kind == kind] for kind in KINDS}
    removal = _Removal(snapshot)
    most = max(1_000, CANDIDATES * count)
    chosen = in_turn({kind: removal.held_out(spread(by_kind[kind], seed)[:most]) for kind in KINDS}, count)
    if not chosen:
        lacks = "; ".join(
            sources[kind].lack or f"{kind}: every question's words also occur elsewhere in its target"
            for kind in KINDS
        )
        raise Conflict(f"no question can be made from this index: {lacks}")
    if by_file:
        chosen = [replace(question, whole_files=True) for question in chosen]
    notes = [MEANING]
    for kind in KINDS:
        if sources[kind].lack:
            notes.append(Note(code=f"no_{kind}_questions", message=f"{kind}: {sources[kind].lack}"))
    notes += _left_out(len(candidates) - len(clear), removal.refused)
    groups: dict[str, Group] = {
        kind: Group(
            tuple(sorted(question.id for question in chosen if question.kind == kind)), len(by_kind[kind])
        )
        for kind in KINDS
        if any(question.kind == kind for question in chosen)
    }
    return _as_collection(chosen, removal, name, tuple(notes), groups)


def _left_out(ambiguous: int, refused: Mapping[Kind, int]) -> Iterator[Note]:
    if ambiguous:
        message = f"{ambiguous} texts are the same for several targets and were not used"
        yield Note(code="ambiguous", message=message)
    if refused:
        by_kind = ", ".join(f"{refused[kind]} {kind}" for kind in KINDS if kind in refused)
        message = f"not used because the target repeats the words, or has no others: {by_kind}"
        yield Note(code="not_held_out", message=message)


class _Removal:
    """Removes questions from what they should find, and refuses those that would still be there."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._catalog = snapshot.catalog
        self.generation = self._catalog.generation
        self.several_roots = len(self._catalog.roots()) > 1
        self.refused: Counter[Kind] = Counter()
        self._changed: dict[str, Passage] = {}  # by chunk
        self._titles: dict[DocumentPlace, str] = {}

    def held_out(self, questions: Sequence[Question]) -> Iterator[Question]:
        for question in questions:
            if self._remove(question):
                yield question
            else:
                self.refused[question.kind] += 1

    def _remove(self, question: Question) -> bool:
        target = [passage for part in question.targets for passage in self.passages(part)]
        if question.kind in ("commit", "memory"):
            return is_held_out(question, target)
        passages = remove_question(question, target)
        for before, after in zip(target, passages or (), strict=False):
            if after != before:
                self._changed[after.chunk.id] = after
                self._titles[after.document.root, after.document.path] = after.document.title
        return passages is not None

    def passages(self, target: QuestionTarget) -> list[Passage]:
        """The passages of the target in reading order, as they are searched."""
        if not target.chunks:
            return self._document((target.root, target.path))
        passages = map(self._as_changed, self._catalog.passages(target.chunks).values())
        return sorted(passages, key=lambda passage: passage.chunk.sequence)

    def documents(self) -> dict[DocumentPlace, list[Passage]]:
        """All passages of the documents from which something was removed."""
        return {place: self._document(place) for place in sorted(self._titles)}

    def _document(self, place: DocumentPlace) -> list[Passage]:
        return [self._as_changed(passage) for passage in self._catalog.passages_of(*place)]

    def _as_changed(self, passage: Passage) -> Passage:
        """A changed title is that of every passage of the document."""
        document = passage.document
        title = self._titles.get((document.root, document.path), document.title)
        chunk = self._changed.get(passage.chunk.id, passage).chunk
        return Passage(chunk, replace(document, title=title))


def _as_collection(
    chosen: Sequence[Question],
    removal: _Removal,
    name: str,
    notes: tuple[Note, ...],
    groups: Mapping[str, Group],
) -> GeneratedQuestions:
    questions = {question.id: question for question in sorted(chosen, key=lambda question: question.id)}
    items: dict[str, dict[str, str]] = {}
    grades: dict[str, dict[str, int]] = {}
    for id, question in questions.items():
        items[id], grades[id] = {}, {}
        for target in question.targets:
            passages = removal.passages(target)
            item = (
                _file(target.root, target.path, removal.several_roots)
                if question.whole_files
                else _chunk(passages[0], removal.several_roots)
            )
            grades[id][item] = 1
            items[id] |= {} if question.whole_files else {part.chunk.id: item for part in passages}
    texts = {id: question.text for id, question in questions.items()}
    judged = JudgedQueries(name, texts, grades, notes, groups)
    whole_files = frozenset(id for id, question in questions.items() if question.whole_files)
    return GeneratedQuestions(
        judged, removal.documents(), whole_files, removal.generation, removal.several_roots, items
    )


def _file(root: str, path: str, several_roots: bool) -> str:
    """Without white space, which a TREC run cannot hold."""
    file = f"{root}/{path}" if several_roots else path
    return "".join("%20" if char.isspace() else char for char in file)


def _chunk(passage: Passage, several_roots: bool) -> str:
    document, chunk = passage.document, passage.chunk
    file = _file(document.root, document.path, several_roots)
    return f"{file}:{chunk.first_line}-{chunk.last_line}#{chunk.sequence}"
