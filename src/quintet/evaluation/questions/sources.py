"""Where questions come from: docstrings, headings, commits and memories, each with what it belongs to."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from quintet.evaluation.questions.held_out import STEP
from quintet.evaluation.questions.selection import FEWEST_WORDS, Kind, Question, Target, long_enough
from quintet.evaluation.questions.wording import first_sentence, question
from quintet.indexing.git import GitFailed
from quintet.indexing.git_log import Commit, read_commits
from quintet.indexing.run import Progress
from quintet.model.documents import Passage
from quintet.model.filters import Filter
from quintet.model.memories import About, Memo
from quintet.ports.reading import Node, Root
from quintet.ports.store_files import MEMORY_FILES
from quintet.settings import Settings
from quintet.storage.sqlite.store import SqliteSnapshot, SqliteStore

MOST_COMMITS = 2_000  # the newest
MOST_FILES = 5  # that a commit changed; what touches more has no one answer
GIT_SECONDS = 20.0  # for all roots together
MOST_CHUNKS = 30  # below a heading; one over a whole book asks for nothing in particular
DEEPEST = 12  # headings above one another
DIRECTIVES = tuple("@:\\<>#")  # a docstring that begins with one says what to do with it, not what it is for
NO_PROSE = ("application/json", "text/csv", "text/tab-separated-values")  # their headings are names of fields

Place = tuple[str, str]  # root, path


@dataclass(frozen=True, slots=True)
class Found:
    """Questions of one kind. `lack` says why there are none, or why some are missing."""

    questions: Sequence[Question]
    lack: str = ""


def documents_questions(snapshot: SqliteSnapshot, progress: Progress) -> dict[Kind, Found]:
    """What docstrings and headings ask."""
    places = _places(snapshot)
    documented: dict[Place, list[Node]] = {}
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
        "docstring": _found(
            docstrings, f"no indexed code has a docstring of at least {least['docstring']} words"
        ),
        "heading": _found(
            headings,
            f"no indexed document has a heading of at least {least['heading']} words with text below",
        ),
    }


def _found(questions: Iterable[Question], lack: str) -> Found:
    kept = [one for one in questions if long_enough(one)]
    return Found(kept, "" if kept else lack)


def _places(snapshot: SqliteSnapshot) -> list[Place]:
    roots = [root.name for root in snapshot.catalog.roots()]
    return [(root, path) for root in roots for path in sorted(snapshot.catalog.known(root))]


def _docstrings(nodes: Iterable[Node], passages: Sequence[Passage]) -> Iterator[Question]:
    """Chunks of code come in the order of their lines, so those of a symbol are found without a search."""
    chunks = [one.chunk for one in passages]
    begins, ends = [one.first_line for one in chunks], [one.last_line for one in chunks]
    for node in nodes:
        held = chunks[bisect_left(ends, node.first_line) : bisect_right(begins, node.last_line)]
        if held and not node.docstring.startswith(DIRECTIVES):
            target = Target(node.root, node.path, tuple(one.id for one in held))
            text = question(first_sentence(node.docstring))
            yield Question("docstring", text, f"{node.root}/{node.path}", (target,))


def _headings(passages: Sequence[Passage]) -> Iterator[Question]:
    """A heading stands for all that is below it, subsections too."""
    sections: dict[tuple[str, ...], list[str]] = {}
    for one in passages:
        if one.document.language is None and one.document.mime_type not in NO_PROSE:
            steps = tuple(one.chunk.heading_path.split(STEP)[:DEEPEST])
            for depth in range(1, len(steps) + 1):
                sections.setdefault(steps[:depth], []).append(one.chunk.id)
    for steps, chunks in sections.items():
        if len(chunks) <= MOST_CHUNKS:
            document = passages[0].document
            target = Target(document.root, document.path, tuple(chunks))
            yield Question("heading", question(steps[-1]), f"{document.root}/{document.path}", (target,))


def commits_questions(snapshot: SqliteSnapshot, settings: Settings) -> Found:
    """What the subjects of commits ask: which files did this change?"""
    if not settings.git_timeout:
        return Found((), "the setting git_timeout is 0, so git is never asked")
    made: dict[str, tuple[Commit, list[Target]]] = {}
    lacks, deadline = [], monotonic() + GIT_SECONDS
    for root in snapshot.catalog.roots():
        known = snapshot.catalog.known(root.name)
        log, lack = _log(root, deadline - monotonic())
        lacks += [lack] if lack else []
        for commit in log:
            targets = made.setdefault(commit.id, (commit, []))[1]
            targets += [Target(root.name, path) for path in commit.paths if path in known]
    asked = [
        Question("commit", question(commit.subject), id, tuple(targets), whole_files=True)
        for id, (commit, targets) in made.items()
        if 1 <= len(targets) <= MOST_FILES
    ]
    if lacks:
        return Found([one for one in asked if long_enough(one)], "; ".join(dict.fromkeys(lacks)))
    if not made:
        return Found((), "no indexed folder is in a git work tree with commits")
    return _found(
        asked,
        f"no commit with a subject of at least {FEWEST_WORDS['commit']} words changed 1 to {MOST_FILES} "
        "indexed files",
    )


def _log(root: Root, seconds: float) -> tuple[list[Commit], str]:
    try:
        return read_commits(Path(root.location), MOST_COMMITS, seconds) or [], ""
    except GitFailed as reason:
        return [], f"git {reason} in {root.name}"


def memories_questions(folder: Path, snapshot: SqliteSnapshot) -> Found:
    """What memories ask that are about something indexed. Memory is looked at only where there is any."""
    if not (folder / MEMORY_FILES.database).is_file():
        return Found((), "there is no memory beside this index")
    store = SqliteStore(folder, MEMORY_FILES)
    try:
        with store.snapshot() as memories:
            holding = [memo for memo in memories.memos.all(Filter()) if memo.valid_until_ms is None]
    finally:
        store.close()
    known = {root.name: snapshot.catalog.known(root.name) for root in snapshot.catalog.roots()}
    asked = [one for memo in holding for one in _memory(memo, snapshot, known)]
    return _found(
        asked, f"nothing of at least {FEWEST_WORDS['memory']} words is remembered about an indexed file"
    )


def _memory(
    memo: Memo, snapshot: SqliteSnapshot, known: Mapping[str, Mapping[str, object]]
) -> Iterator[Question]:
    indexed = [one for one in memo.about if one.path in known.get(one.root or "", ())]
    targets = [target for one in indexed for target in _subject(one, snapshot)]
    if targets:
        whole = any(not target.chunks for target in targets)
        files = tuple(dict.fromkeys(Target(one.root, one.path) for one in targets))
        yield Question("memory", question(memo.text), memo.id, files if whole else tuple(targets), whole)


def _subject(about: About, snapshot: SqliteSnapshot) -> Iterator[Target]:
    """Of a symbol the lines where it is defined now, should it have moved."""
    assert about.root is not None and about.path is not None
    place = about.root, about.path
    if about.lines is None:
        yield Target(*place)
        return
    named = snapshot.graph.named((about.symbol or "").rpartition(".")[2]) if about.symbol else []
    here = [one for one in named if (one.root, one.path) == place and one.qualified_name == about.symbol]
    lines = [(one.first_line, one.last_line) for one in here] or [about.lines]
    chunks = [one.chunk for one in snapshot.catalog.passages_of(*place)]
    for first, last in lines:
        held = [one.id for one in chunks if one.first_line <= last and one.last_line >= first]
        if held:
            yield Target(*place, tuple(held))
