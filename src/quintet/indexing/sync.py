"""The write path: walk, find changes, parse, chunk, and write one transaction per batch."""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from quintet.indexing.batches import batches
from quintet.indexing.changes import Changes, find_changes
from quintet.indexing.document import shape, storable_time
from quintet.indexing.examine import Examination, Examiner, Refusal, SameContent, Task
from quintet.indexing.files import DiskFile, FileProblem
from quintet.indexing.pool import ExaminerPool, process_count
from quintet.indexing.roots import SyncTarget
from quintet.indexing.run import IndexRun
from quintet.indexing.walk import walk
from quintet.model.results import Note
from quintet.ports.reading import KnownFile, Root
from quintet.ports.writing import Entry, Writer
from quintet.processes.child import NotStarted, can_start_processes
from quintet.settings import Settings

MAX_REFUSED = 10_000  # refused files remembered per root
PROGRESS_FILES = 256  # files between two progress reports


def sync(run: IndexRun, targets: Sequence[SyncTarget]) -> None:
    """Bring the text of the index up to date with `targets`."""
    with closing(Examiner(run.settings, run.force)) as examiner:
        for target in targets:
            run.report.roots.append(target.root.name)
            _sync_target(run, target, examiner)
    run.writer.mark_unfinished(False)
    if run.settings.processes != 1 and can_start_processes():
        run.writer.finish_text()
    with run.report.stage("graph"):
        from quintet.indexing.link import link  # costs more to import than all the rest of a search

        link(run)
    with run.writer.batch():  # even if this run removed nothing: an interrupted run may have
        run.writer.vectors.drop_unused()


def _sync_target(run: IndexRun, target: SyncTarget, examiner: Examiner) -> None:
    with run.report.stage("walk"):
        files, problems = walk_target(target, run.settings)
        known = in_scope(target, problems, run.writer.known(target.root.name))
        changes = find_changes(files, known, shape=shape(run.settings), force=run.force)
    if not files and not problems:
        run.report.notes.append(_nothing_to_index(target, run.settings))
    run.report.problems.extend(problems)
    run.report.skipped += len(problems) + len(changes.unchanged)
    if target.root not in run.writer.roots():
        with run.writer.batch():
            run.writer.put_root(target.root)
    _write_files(run, target.root, changes, known, examiner)
    if changes.removed:
        with run.writer.batch():
            run.writer.remove(target.root.name, changes.removed)
        run.report.removed += len(changes.removed)
    _remember_refused(run, target)
    for name in target.absorbs:  # last, so that no file is missing in between
        with run.writer.batch():
            run.writer.drop_root(name)
    if target.absorbs:
        message = f"{', '.join(target.absorbs)} became part of the root {target.root.name}, which contains it"
        run.report.notes.append({"code": "roots_joined", "message": message})


def _nothing_to_index(target: SyncTarget, settings: Settings) -> Note:
    globs = {"include": settings.include, "exclude": settings.exclude}
    settings_in_use = [f"{name} ({', '.join(values)})" for name, values in globs.items() if values]
    reasons = " or ".join(["ignore files", *settings_in_use])
    folder = Path(target.root.location, target.under)
    message = f"there is nothing to index in {folder}: it is empty, or {reasons} exclude everything in it"
    return {"code": "nothing_found", "message": message}


def _remember_refused(run: IndexRun, target: SyncTarget) -> None:
    """Record the refused files, so that drift does not count them as new."""
    name = target.root.name
    before = run.writer.refused()
    elsewhere = {path: state for path, state in before.get(name, {}).items() if not target.covers(path)}
    now = {**elsewhere, **dict(list(run.refused.get(name, {}).items())[:MAX_REFUSED])}
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
    """The known files that the walk could reach: not those below a folder that could not be listed."""
    unlisted = tuple(problem.path for problem in problems if problem.path.endswith("/"))
    return {
        path: file for path, file in known.items() if target.covers(path) and not path.startswith(unlisted)
    }


def _write_files(
    run: IndexRun, root: Root, changes: Changes, known: Mapping[str, KnownFile], examiner: Examiner
) -> None:
    files = sorted((*changes.added, *changes.suspects), key=lambda file: file.path)
    tasks = (Task(root.name, file, known.get(file.path), run.clock_ns()) for file in files)
    processes = process_count(run.settings, files)
    if len(files) > 1:  # a single file is written in one transaction
        run.writer.mark_unfinished(True)
    if processes > 1:
        run.writer.expect_text()
    done = 0
    with closing(_examine(run, tasks, processes, examiner)) as examinations:
        for batch in batches(files, _size, run.settings.batch_files, run.settings.batch_bytes):
            examined: list[tuple[Task, Examination]] = []
            try:
                with run.report.stage("parse"):
                    for count in range(len(batch)):
                        if count and count % PROGRESS_FILES == 0:
                            run.progress("text", done + count, len(files))
                        examined.append(next(examinations))
            finally:  # what was reported as progress is written, even if the run is stopped
                with run.report.stage("write"):
                    _write(run, examined)
            done += len(batch)
            run.progress("text", done, len(files))


def _examine(
    run: IndexRun, tasks: Iterable[Task], processes: int, examiner: Examiner
) -> Generator[tuple[Task, Examination]]:
    """Every task with its result, from several processes if they can be started."""
    with ExitStack() as stack:
        each = examiner.each
        if processes > 1:
            try:
                each = stack.enter_context(ExaminerPool(processes, run.settings, run.force)).each
            except NotStarted as error:
                note: Note = {
                    "code": "one_process",
                    "message": f"all files were read by one process: {error}",
                }
                run.report.notes += [note] if note not in run.report.notes else []
        yield from each(tasks)


def _size(file: DiskFile) -> int:
    return file.size


def _write(run: IndexRun, examined: Sequence[tuple[Task, Examination]]) -> None:
    """Write in one transaction, if there is anything to write."""
    entries = [result for _, result in examined if isinstance(result, Entry)]
    others = [(task, result) for task, result in examined if not isinstance(result, Entry)]
    run.report.indexed += len(entries)
    run.report.skipped += len(others)
    updates = [update for task, result in others if (update := _update(run, task, result))]
    if entries or updates:
        with run.writer.batch():
            run.writer.put(*entries)
            for update in updates:
                update(run.writer)


def _update(run: IndexRun, task: Task, result: SameContent | Refusal) -> Callable[[Writer], None] | None:
    """What to write for a file that is not indexed again."""
    path, before = task.file.path, task.before
    if isinstance(result, Refusal):
        run.report.problems.append(FileProblem(path, result.reason))
        run.report.removed += before is not None
        run.refused.setdefault(task.root, {})[path] = file_state(task.file)
        return None if before is None else lambda writer: writer.remove(task.root, [path])
    if before is not None and result == (before.size, before.modified_ns):
        return None
    return lambda writer: writer.touch(task.root, path, *result, task.now_ns)
