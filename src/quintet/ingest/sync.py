"""THE WRITE PATH: walk, plan, parse, chunk, and one transaction a batch; then vectors for new text."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from quintet.errors import Conflict
from quintet.ingest.chunk import chunk
from quintet.ingest.parse import parse
from quintet.ingest.parse.model import Piece
from quintet.ingest.plan import Plan, plan
from quintet.ingest.read import Content, Unreadable, read
from quintet.ingest.roots import Target
from quintet.ingest.walk import Found, Problem, walk
from quintet.model import Chunk, Document, digest
from quintet.ports import Embedder, Entry, KnownFile, Root, Writer
from quintet.settings import Settings
from quintet.vector import quantise

LATEST_NS = 253_402_300_799_000_000_000  # the end of the year 9999: the last a date can say

Progress = Callable[[str, int, int], None]


@dataclass(slots=True)
class Report:
    """What a run did. `skipped` were seen and not written; each entry of `problems` says why."""

    indexed: int = 0
    skipped: int = 0
    removed: int = 0
    embedded: int = 0
    problems: list[Problem] = field(default_factory=list)
    seconds: float = 0.0
    stages: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.stages[name] = self.stages.get(name, 0.0) + time.perf_counter() - start


@dataclass(frozen=True, slots=True)
class Run:
    """What every step of a run needs."""

    writer: Writer
    settings: Settings
    force: bool
    clock_ns: Callable[[], int]
    progress: Progress
    report: Report


def sync(run: Run, targets: Sequence[Target], embedder: Embedder | None, stored: str | None) -> Report:
    """Bring the index up to date with `targets`, then embed what has no vector."""
    start = time.perf_counter()
    check_embedder(embedder, stored)
    for target in targets:
        _sync_target(run, target)
    if embedder is not None:
        with run.report.stage("embed"):
            _embed(run, embedder, stored)
    with run.writer.batch():  # even if this run removed nothing: the one before may have been cut short
        run.writer.drop_unused_vectors()
    run.report.seconds = time.perf_counter() - start
    return run.report


def check_embedder(embedder: Embedder | None, stored: str | None) -> None:
    if embedder is not None and stored is not None and embedder.identity != stored:
        raise Conflict(
            f"this index was embedded with {stored!r}, not {embedder.identity!r}; "
            "open it with that embedder, or index into another folder (--db) with the new one"
        )


def _sync_target(run: Run, target: Target) -> None:
    with run.report.stage("walk"):
        found, problems = walk_target(target, run.settings)
        known = {
            path: file for path, file in run.writer.known(target.root.name).items() if target.covers(path)
        }
        todo = plan(found, known, force=run.force)
    run.report.problems.extend(problems)
    run.report.skipped += len(problems) + len(todo.unchanged)
    if target.root not in run.writer.roots():
        with run.writer.batch():
            run.writer.put_root(target.root)
    _write_files(run, target.root, todo, known)
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


def _write_files(run: Run, root: Root, todo: Plan, known: Mapping[str, KnownFile]) -> None:
    files = sorted((*todo.added, *todo.suspects), key=lambda file: file.path)
    done = 0
    for batch in _batches(files, run.settings):
        with run.report.stage("parse"):
            outcomes = [_examine(run, root, file, known.get(file.path)) for file in batch]
        with run.report.stage("write"):
            _write(run, root, [outcome for outcome in outcomes if outcome is not None])
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


Outcome = Callable[[Writer], None]


def _examine(run: Run, root: Root, file: Found, before: KnownFile | None) -> Outcome | None:
    """Read a file and decide what its row becomes. None: nothing to write."""
    report, now = run.report, run.clock_ns()
    try:
        content = read(file.where, run.settings.max_file_bytes)
    except Unreadable as error:
        report.problems.append(Problem(file.path, error.reason))
        report.skipped += 1
        if before is None:
            return None
        report.removed += 1
        return lambda writer: writer.remove(root.name, [file.path])
    if before is not None and before.content_hash == content.sha256 and not run.force:
        report.skipped += 1
        if (before.size, before.modified_ns) == (content.size, content.modified_ns):
            return None
        return lambda writer: writer.touch(root.name, file.path, content.size, content.modified_ns, now)
    report.indexed += 1
    entry = make_entry(root.name, file.path, content, run.settings.chunk_chars, now)
    return lambda writer: writer.put(entry)


def _write(run: Run, root: Root, outcomes: Sequence[Outcome]) -> None:
    if outcomes:
        with run.writer.batch():
            for outcome in outcomes:
                outcome(run.writer)


def make_entry(root: str, path: str, content: Content, chunk_chars: int, indexed_ns: int) -> Entry:
    parsed = parse(path, content.text)
    document = Document(
        root,
        path,
        parsed.title,
        parsed.mime_type,
        parsed.language,
        content.size,
        min(max(content.modified_ns, 0), LATEST_NS),
        content.sha256,
        parsed.metadata,
    )
    return Entry(document, _chunks(document.id, chunk(parsed, chunk_chars)), indexed_ns)


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
            )
        )
    return tuple(chunks)


def _embed(run: Run, embedder: Embedder, stored: str | None) -> None:
    if stored is None:
        with run.writer.batch():
            run.writer.use_embedder(embedder.identity, embedder.dimensions)
    after, done = 0, 0
    while rows := run.writer.pending(after, run.settings.embed_batch):
        texts = {key: text for _, key, text in rows}
        vectors = quantise(embedder.embed_documents(list(texts.values())))
        with run.writer.batch():
            run.writer.put_vectors(list(texts), vectors)
        after = rows[-1][0]
        done += len(texts)
        run.progress("embed", done, 0)
    run.report.embedded = done
