"""The last stage of a run over files: edges, once the outlines of all files are there."""

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from quintet.ingest.graph import affected, bound_names, changed_names, resolve
from quintet.ingest.run import Run
from quintet.ports import Root
from quintet.symbols import FileOutline, Outline
from quintet.writing import Unlinked

LINKER = "3"  # counts up when the same outlines give other edges


def link(run: Run) -> None:
    """Make the edges of whatever changed since they were made last, in this run or one that was cut short."""
    everything = run.force or run.writer.linker() != LINKER
    for root in run.writer.roots():
        with _uncollected():
            _link_root(run, root, everything)
    if everything:
        with run.writer.batch():
            run.writer.use_linker(LINKER)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Outlines and edges are many and without cycles: to look for some again and again costs a quarter of
    the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _link_root(run: Run, root: Root, everything: bool) -> None:
    changes = run.writer.unlinked(root.name)
    if not changes and not everything:
        return
    files, location = run.writer.outlines(root.name), Path(root.location).parts
    wanted = {file.document_id for file in files} if everything else _wanted(files, changes, location)
    run.progress("graph", 0, len(wanted))
    found = resolve(files, None if everything else wanted, location)
    with run.writer.batch():
        run.writer.link(root.name, {document: found.get(document, ()) for document in sorted(wanted)})
    run.progress("graph", len(wanted), len(wanted))


def _wanted(files: Sequence[FileOutline], changes: Sequence[Unlinked], location: tuple[str, ...]) -> set[str]:
    """The documents that changed, and those whose edges may lead elsewhere now."""
    present = {file.document_id: file.outline for file in files}
    changed = {change.document_id for change in changes} & present.keys()
    names = set().union(*(_names(change, present) for change in changes))
    return (affected(files, changed, names, location) | changed) & present.keys()


def _names(change: Unlinked, present: Mapping[str, Outline]) -> set[str]:
    """The names under which others can see a difference; all of them where edges went with a symbol."""
    before, after = change.before, present.get(change.document_id)
    if not change.lost:
        return changed_names(before, after, change.path)
    return set().union(*(bound_names(outline, change.path) for outline in (before, after) if outline))
