"""Where questions come from: docstrings, headings, commits and memories, each with what it should find."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from quintet.evaluation.questions.held_out import SEPARATOR
from quintet.evaluation.questions.selection import (
    FEWEST_WORDS,
    Kind,
    Question,
    QuestionTarget,
    is_long_enough,
)
from quintet.evaluation.questions.wording import first_sentence, question
from quintet.indexing.git import GitFailed
from quintet.indexing.git_log import Commit, read_commits
from quintet.indexing.run import Progress
from quintet.model.documents import Passage
from quintet.model.filters import Filter
from quintet.model.memories import About, Memo
from quintet.ports.reading import Node, Root, Snapshot
from quintet.ports.store import FolderStore
from quintet.settings import Settings

MOST_COMMITS = 2_000  # the newest
MOST_FILES = 5  # that a commit changed; a commit that changed more has no single answer
GIT_SECONDS = 20.0  # for all roots together
MOST_CHUNKS = 30  # below a heading; the heading of a whole book asks for nothing in particular
DEEPEST = 12  # levels of headings
DIRECTIVES = tuple("@:\\<>#")  # a docstring that begins with one is an instruction, not a description
NO_PROSE = ("application/json", "text/csv", "text/tab-separated-values")  # their headings are names of fields

DocumentPlace = tuple[str, str]  # root, path


@dataclass(frozen=True, slots=True)
class SourceQuestions:
    """Questions of one kind. `lack` says why there are none, or why some are missing."""

    questions: Sequence[Question]
    lack: str = ""


def document_questions(snapshot: Snapshot, progress: Progress) -> dict[Kind, SourceQuestions]:
    """From docstrings and headings."""
    places = _places(snapshot)
    documented: dict[DocumentPlace, list[Node]] = {}
    for node in snapshot.graph.documented():
        documented.setdefault((node.root, node.path), []).append(node)
    docstrings: list[Question] = []
    headings: list[Question] = []
    for done, place in enumerate(places, start=1):
        passages = snapshot.catalog.passages_of(*place)
        docstrings += _docstrings(documented.get(place, ()), passages)
        headings += _headings(passages)
        progress("questions", done, len(places))
    least = FEWEST_WORDS
    return {
        "docstring": _long_enough(
            docstrings, f"no indexed code has a docstring of at least {least['docstring']} words"
        ),
        "heading": _long_enough(
            headings,
            f"no indexed document has a heading of at least {least['heading']} words with text below",
        ),
    }


def _long_enough(questions: Iterable[Question], lack: str) -> SourceQuestions:
    kept = list(filter(is_long_enough, questions))
    return SourceQuestions(kept, "" if kept else lack)


def _places(snapshot: Snapshot) -> list[DocumentPlace]:
    roots = [root.name for root in snapshot.catalog.roots()]
    return [(root, path) for root in roots for path in sorted(snapshot.catalog.known(root))]


def _docstrings(nodes: Iterable[Node], passages: Sequence[Passage]) -> Iterator[Question]:
    """Chunks of code are in the order of their lines, so a bisection finds those of a symbol."""
    chunks = [passage.chunk for passage in passages]
    begins, ends = [chunk.first_line for chunk in chunks], [chunk.last_line for chunk in chunks]
    for node in nodes:
        held = chunks[bisect_left(ends, node.first_line) : bisect_right(begins, node.last_line)]
        if held and not node.docstring.startswith(DIRECTIVES):
            target = QuestionTarget(node.root, node.path, tuple(chunk.id for chunk in held))
            text = question(first_sentence(node.docstring))
            yield Question("docstring", text, f"{node.root}/{node.path}", (target,))


def _headings(passages: Sequence[Passage]) -> Iterator[Question]:
    """A heading asks for everything below it, including subsections."""
    sections: dict[tuple[str, ...], list[str]] = {}
    for passage in passages:
        if passage.document.language is None and passage.document.mime_type not in NO_PROSE:
            headings = tuple(passage.chunk.heading_path.split(SEPARATOR)[:DEEPEST])
            for depth in range(1, len(headings) + 1):
                sections.setdefault(headings[:depth], []).append(passage.chunk.id)
    for headings, chunks in sections.items():
        if len(chunks) <= MOST_CHUNKS:
            document = passages[0].document
            target = QuestionTarget(document.root, document.path, tuple(chunks))
            yield Question("heading", question(headings[-1]), f"{document.root}/{document.path}", (target,))


def commit_questions(snapshot: Snapshot, settings: Settings) -> SourceQuestions:
    """What the subjects of commits ask: which files did this change?"""
    if not settings.git_timeout:
        return SourceQuestions((), "the setting git_timeout is 0, so git is not used")
    changed: dict[str, tuple[Commit, list[QuestionTarget]]] = {}
    lacks, deadline = [], monotonic() + GIT_SECONDS
    for root in snapshot.catalog.roots():
        known = snapshot.catalog.known(root.name)
        log, lack = _log(root, deadline - monotonic())
        lacks += [lack] if lack else []
        for commit in log:
            targets = changed.setdefault(commit.id, (commit, []))[1]
            targets += [QuestionTarget(root.name, path) for path in commit.paths if path in known]
    questions = [
        Question("commit", question(commit.subject), id, tuple(targets), whole_files=True)
        for id, (commit, targets) in changed.items()
        if 1 <= len(targets) <= MOST_FILES
    ]
    if lacks:
        return SourceQuestions(list(filter(is_long_enough, questions)), "; ".join(dict.fromkeys(lacks)))
    if not changed:
        return SourceQuestions((), "no indexed folder is in a git work tree with commits")
    return _long_enough(
        questions,
        f"no commit with a subject of at least {FEWEST_WORDS['commit']} words changed 1 to {MOST_FILES} "
        "indexed files",
    )


def _log(root: Root, seconds: float) -> tuple[list[Commit], str]:
    try:
        return read_commits(Path(root.location), MOST_COMMITS, seconds) or [], ""
    except GitFailed as reason:
        return [], f"git {reason} in {root.name}"


def memory_questions(memory: FolderStore, snapshot: Snapshot) -> SourceQuestions:
    """From memories about something indexed, if there is a memory."""
    if not memory.exists():
        return SourceQuestions((), "there is no memory beside this index")
    with memory.snapshot() as memories:
        valid = [memo for memo in memories.memos.all(Filter()) if memo.valid_until_ms is None]
    known = {root.name: snapshot.catalog.known(root.name) for root in snapshot.catalog.roots()}
    questions = [question for memo in valid for question in _from_memo(memo, snapshot, known)]
    return _long_enough(
        questions, f"nothing of at least {FEWEST_WORDS['memory']} words is remembered about an indexed file"
    )


def _from_memo(
    memo: Memo, snapshot: Snapshot, known: Mapping[str, Mapping[str, object]]
) -> Iterator[Question]:
    indexed = [about for about in memo.about if about.path in known.get(about.root or "", ())]
    targets = [target for about in indexed for target in _targets(about, snapshot)]
    if targets:
        whole = any(not target.chunks for target in targets)
        files = tuple(dict.fromkeys(QuestionTarget(target.root, target.path) for target in targets))
        yield Question("memory", question(memo.text), memo.id, files if whole else tuple(targets), whole)


def _targets(about: About, snapshot: Snapshot) -> Iterator[QuestionTarget]:
    """A file, or the chunks of its lines. For a symbol, the lines where it is defined now."""
    assert about.root is not None and about.path is not None
    place = about.root, about.path
    if about.lines is None:
        yield QuestionTarget(*place)
        return
    named = snapshot.graph.named((about.symbol or "").rpartition(".")[2]) if about.symbol else []
    here = [node for node in named if (node.root, node.path) == place and node.qualified_name == about.symbol]
    lines = [(node.first_line, node.last_line) for node in here] or [about.lines]
    chunks = [passage.chunk for passage in snapshot.catalog.passages_of(*place)]
    for first, last in lines:
        overlapping = [chunk.id for chunk in chunks if chunk.first_line <= last and chunk.last_line >= first]
        if overlapping:
            yield QuestionTarget(*place, tuple(overlapping))
