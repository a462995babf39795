"""THE WRITE PATH: walk, plan, parse, chunk, and one transaction a batch."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from quintet.indexing.changes import Changes, find_changes
from quintet.indexing.document import shape, storable_time
from quintet.indexing.examine import Examination, Examiner, Refusal, SameContent, Task
from quintet.indexing.link import link
from quintet.indexing.roots import SyncTarget
from quintet.indexing.run import IndexRun
from quintet.indexing.walk import DiskFile, FileProblem, walk
from quintet.indexing.workers import ExaminerPool, NotStarted, can_start_processes, process_count
from quintet.model.results import Note
from quintet.ports.reading import KnownFile, Root
from quintet.ports.writing import Entry, Writer
from quintet.settings import Settings

MOST_REFUSED = 10_000  # of a root that are remembered
TOLD = 256  # files between two words on progress


def sync(run: IndexRun, targets: Sequence[SyncTarget]) -> None:
    """Bring the text of the index up to date with `targets`."""
    with Examiner(run.settings, run.force) as examiner:
        for target in targets:
            _sync_target(run, target, examiner)
    run.writer.tell_unfinished(False)
    if run.settings.processes != 1 and can_start_processes():
        run.writer.text_is_written()
    with run.report.stage("graph"):
        link(run)
    with run.writer.batch():  # even if this run removed nothing: the one before may have been cut short
        run.writer.drop_unused_vectors()


def _sync_target(run: IndexRun, target: SyncTarget, examiner: Examiner) -> None:
    with run.report.stage("walk"):
        found, problems = walk_target(target, run.settings)
        known = in_scope(target, problems, run.writer.known(target.root.name))
        todo = find_changes(found, known, shape=shape(run.settings), force=run.force)
    if not found and not problems:
        run.report.notes.append(_nothing_found(target, run.settings))
    run.report.problems.extend(problems)
    run.report.skipped += len(problems) + len(todo.unchanged)
    if target.root not in run.writer.roots():
        with run.writer.batch():
            run.writer.put_root(target.root)
    _write_files(run, target.root, todo, known, examiner)
    if todo.removed:
        with run.writer.batch():
            run.writer.remove(target.root.name, todo.removed)
        run.report.removed += len(todo.removed)
    _remember_refused(run, target)
    for name in target.absorbs:  # last, so that nothing is ever missing in between
        with run.writer.batch():
            run.writer.drop_root(name)
    if target.absorbs:
        message = f"{', '.join(target.absorbs)} became part of the root {target.root.name}, which lies around"
        run.report.notes.append({"code": "roots_joined", "message": message})


def _nothing_found(target: SyncTarget, settings: Settings) -> Note:
    globs = {"include": settings.include, "exclude": settings.exclude}
    told = [f"{name} ({', '.join(values)})" for name, values in globs.items() if values]
    reasons = " or ".join(["ignore files", *told])
    where = Path(target.root.location, target.under)
    message = f"there is nothing to index in {where}: it is empty, or {reasons} leave nothing of it"
    return {"code": "nothing_found", "message": message}


def _remember_refused(run: IndexRun, target: SyncTarget) -> None:
    """So that nobody takes what cannot be indexed for new."""
    name = target.root.name
    before = run.writer.refused()
    elsewhere = {path: state for path, state in before.get(name, {}).items() if not target.covers(path)}
    now = {**elsewhere, **dict(list(run.refused.get(name, {}).items())[:MOST_REFUSED])}
    if now != before.get(name, {}):
        with run.writer.batch():
            run.writer.put_refused({**before, name: now})


def file_state(file: DiskFile) -> tuple[int, int]:
    return file.size, storable_time(file.modified_ns)


def walk_target(target: SyncTarget, settings: Settings) -> tuple[list[DiskFile], list[FileProblem]]:
    return walk(Path(target.root.location), settings, under=target.under, only=target.only)


def in_scope(
    target: SyncTarget, problems: Sequence[FileProblem], known: Mapping[str, KnownFile]
) -> dict[str, KnownFile]:
    """The known files that the walk would have seen: not those below a folder that could not be listed."""
    unlisted = tuple(problem.path for problem in problems if problem.path.endswith("/"))
    return {
        path: file for path, file in known.items() if target.covers(path) and not path.startswith(unlisted)
    }


def _write_files(
    run: IndexRun, root: Root, todo: Changes, known: Mapping[str, KnownFile], examiner: Examiner
) -> None:
    files = sorted((*todo.added, *todo.suspects), key=lambda file: file.path)
    tasks = (Task(root.name, file, known.get(file.path), run.clock_ns()) for file in files)
    processes = process_count(run.settings, files)
    if len(files) > 1:  # one alone is written as a whole or not at all
        run.writer.tell_unfinished(True)
    if processes > 1:
        run.writer.text_is_coming()
    done = 0
    with closing(_examined(run, tasks, processes, examiner)) as outcomes:
        for batch in _batches(files, run.settings):
            found: list[tuple[Task, Examination]] = []
            try:
                with run.report.stage("parse"):
                    for at in range(len(batch)):
                        if at and at % TOLD == 0:
                            run.progress("text", done + at, len(files))
                        found.append(next(outcomes))
            finally:  # what progress told is kept, also if somebody stopped the run there
                with run.report.stage("write"):
                    _write(run, found)
            done += len(batch)
            run.progress("text", done, len(files))


def _examined(
    run: IndexRun, tasks: Iterable[Task], processes: int, examiner: Examiner
) -> Generator[tuple[Task, Examination]]:
    """Every task with its outcome, by as many processes as there are to be had."""
    with ExitStack() as stack:
        each = examiner.each
        if processes > 1:
            try:
                each = stack.enter_context(ExaminerPool(processes, run.settings, run.force)).each
            except NotStarted as error:
                note: Note = {"code": "one_process", "message": f"one process read all files: {error}"}
                run.report.notes += [note] if note not in run.report.notes else []
        yield from each(tasks)


def _batches(files: Iterable[DiskFile], settings: Settings) -> Iterator[list[DiskFile]]:
    batch: list[DiskFile] = []
    size = 0
    for file in files:
        batch.append(file)
        size += file.size
        if len(batch) >= settings.batch_files or size >= settings.batch_bytes:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _write(run: IndexRun, found: Sequence[tuple[Task, Examination]]) -> None:
    """In one transaction, if there is anything to write."""
    entries = [outcome for _, outcome in found if isinstance(outcome, Entry)]
    others = [(task, outcome) for task, outcome in found if not isinstance(outcome, Entry)]
    run.report.indexed += len(entries)
    run.report.skipped += len(others)
    changes = [change for task, outcome in others if (change := _change(run, task, outcome))]
    if entries or changes:
        with run.writer.batch():
            run.writer.put(*entries)
            for change in changes:
                change(run.writer)


def _change(run: IndexRun, task: Task, outcome: SameContent | Refusal) -> Callable[[Writer], None] | None:
    """What is to be written of a file that is not indexed anew."""
    path, before = task.file.path, task.before
    if isinstance(outcome, Refusal):
        run.report.problems.append(FileProblem(path, outcome.reason))
        run.report.removed += before is not None
        run.refused.setdefault(task.root, {})[path] = file_state(task.file)
        return None if before is None else lambda writer: writer.remove(task.root, [path])
    if before is not None and outcome == (before.size, before.modified_ns):
        return None
    return lambda writer: writer.touch(task.root, path, *outcome, task.now_ns)
