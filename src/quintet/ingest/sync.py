"""THE WRITE PATH: walk, plan, parse, chunk, and one transaction a batch."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from quintet.ingest.chunk import chunk
from quintet.ingest.link import link
from quintet.ingest.parse import parse
from quintet.ingest.parse.formats import is_binary
from quintet.ingest.parse.isolated import Isolated, Limits
from quintet.ingest.parse.model import Parsed, Piece
from quintet.ingest.plan import Plan, plan
from quintet.ingest.read import Content, Unreadable, read
from quintet.ingest.roots import Target
from quintet.ingest.run import Run
from quintet.ingest.walk import Found, Problem, size_cap, walk
from quintet.model import Chunk, Document, digest
from quintet.ports import KnownFile, Root
from quintet.settings import Settings
from quintet.writing import Entry, Writer

LATEST_NS = 2**63 - 1  # in April 2262: the last that SQLite can store
TOLD = 256  # files between two words on progress
PARSERS = 3  # counts up when a parser or the chunker gives other chunks or outlines for the same text


def sync(run: Run, targets: Sequence[Target]) -> None:
    """Bring the text of the index up to date with `targets`."""
    with Isolated(Limits.of(run.settings)) as isolated:
        for target in targets:
            _sync_target(run, target, isolated)
    with run.report.stage("graph"):
        link(run)
    with run.writer.batch():  # even if this run removed nothing: the one before may have been cut short
        run.writer.drop_unused_vectors()


def _sync_target(run: Run, target: Target, isolated: Isolated) -> None:
    with run.report.stage("walk"):
        found, problems = walk_target(target, run.settings)
        known = in_scope(target, problems, run.writer.known(target.root.name))
        todo = plan(found, known, shape=shape(run.settings), force=run.force)
    run.report.problems.extend(problems)
    run.report.skipped += len(problems) + len(todo.unchanged)
    if target.root not in run.writer.roots():
        with run.writer.batch():
            run.writer.put_root(target.root)
    _write_files(run, target.root, todo, known, isolated)
    if todo.removed:
        with run.writer.batch():
            run.writer.remove(target.root.name, todo.removed)
        run.report.removed += len(todo.removed)
    for name in target.absorbs:  # last, so that nothing is ever missing in between
        with run.writer.batch():
            run.writer.drop_root(name)


def walk_target(target: Target, settings: Settings) -> tuple[list[Found], list[Problem]]:
    return walk(Path(target.root.location), settings, under=target.under, only=target.only)


def in_scope(
    target: Target, problems: Sequence[Problem], known: Mapping[str, KnownFile]
) -> dict[str, KnownFile]:
    """The known files that the walk would have seen: not those below a folder that could not be listed."""
    unlisted = tuple(problem.path for problem in problems if problem.path.endswith("/"))
    return {
        path: file for path, file in known.items() if target.covers(path) and not path.startswith(unlisted)
    }


def _write_files(
    run: Run, root: Root, todo: Plan, known: Mapping[str, KnownFile], isolated: Isolated
) -> None:
    files = sorted((*todo.added, *todo.suspects), key=lambda file: file.path)
    done = 0
    for batch in _batches(files, run.settings):
        outcomes: list[Outcome] = []
        try:
            with run.report.stage("parse"):
                for at, file in enumerate(batch):
                    if at and at % TOLD == 0:
                        run.progress("text", done + at, len(files))
                    outcome = _examine(run, root, file, known.get(file.path), isolated)
                    if outcome is not None:
                        outcomes.append(outcome)
        finally:  # what progress told is kept, also if somebody stopped the run there
            with run.report.stage("write"):
                _write(run, outcomes)
        done += len(batch)
        run.progress("text", done, len(files))


def _batches(files: Iterable[Found], settings: Settings) -> Iterator[list[Found]]:
    batch: list[Found] = []
    size = 0
    for file in files:
        batch.append(file)
        size += file.size
        if len(batch) >= settings.batch_files or size >= settings.batch_bytes:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


Outcome = Entry | Callable[[Writer], None]


def _examine(
    run: Run, root: Root, file: Found, before: KnownFile | None, isolated: Isolated
) -> Outcome | None:
    """Read a file and decide what its row becomes. None: nothing to write."""
    report, now = run.report, run.clock_ns()
    try:
        content = read(file.where, size_cap(file.path, run.settings))
        if before is not None and not run.force and _same(before, content, run.settings):
            report.skipped += 1
            modified_ns = storable(content.modified_ns)
            if (before.size, before.modified_ns) == (content.size, modified_ns):
                return None
            return lambda writer: writer.touch(root.name, file.path, content.size, modified_ns, now)
        entry = make_entry(root.name, file.path, content, run.settings, now, isolated)
    except Unreadable as error:
        report.problems.append(Problem(file.path, error.reason))
        report.skipped += 1
        if before is None:
            return None
        report.removed += 1
        return lambda writer: writer.remove(root.name, [file.path])
    report.indexed += 1
    return entry


def _same(before: KnownFile, content: Content, settings: Settings) -> bool:
    return (before.content_hash, before.shape) == (content.sha256, shape(settings))


def _write(run: Run, outcomes: Sequence[Outcome]) -> None:
    if outcomes:
        with run.writer.batch():
            run.writer.put(*(outcome for outcome in outcomes if isinstance(outcome, Entry)))
            for outcome in outcomes:
                if not isinstance(outcome, Entry):
                    outcome(run.writer)


def storable(modified_ns: int) -> int:
    """A time as near as the index can say it: not before 1970."""
    return min(max(modified_ns, 0), LATEST_NS)


def shape(settings: Settings) -> str:
    """What besides a file's content decides its chunks."""
    return f"{PARSERS}:{settings.chunk_chars}"


def make_entry(
    root: str, path: str, content: Content, settings: Settings, indexed_ns: int, isolated: Isolated
) -> Entry:
    """The document and its chunks; `Unreadable` says why there are none."""
    parsed = parsed_content(path, content, isolated)
    document = document_of(root, path, content, parsed)
    chunks = cut(document.id, parsed, settings)
    return Entry(document, chunks, indexed_ns, shape(settings), parsed.outline)


def document_of(root: str, path: str, content: Content, parsed: Parsed) -> Document:
    return Document(
        root,
        path,
        parsed.title,
        parsed.mime_type,
        parsed.language,
        content.size,
        storable(content.modified_ns),
        content.sha256,
        parsed.metadata,
    )


def parsed_content(path: str, content: Content, isolated: Isolated) -> Parsed:
    return isolated.parse(path, content.data) if is_binary(path) else parse(path, content.text)


def cut(document_id: str, parsed: Parsed, settings: Settings) -> tuple[Chunk, ...]:
    return _chunks(document_id, chunk(parsed, settings.chunk_chars))


def _chunks(document_id: str, pieces: Sequence[Piece]) -> tuple[Chunk, ...]:
    """Ids hang on the text and on how often it stood before, not on where it stands."""
    seen: Counter[str] = Counter()
    chunks = []
    for sequence, piece in enumerate(pieces):
        text = sha256(piece.content.encode()).hexdigest()
        chunk_id = digest(document_id, text, str(seen[text]))
        seen[text] += 1
        chunks.append(
            Chunk(
                chunk_id,
                document_id,
                sequence,
                piece.content,
                piece.heading_path,
                piece.first_line,
                piece.last_line,
                piece.kind,
                piece.name,
                piece.page,
            )
        )
    return tuple(chunks)
