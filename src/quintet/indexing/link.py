"""The last stage of a run over files: the edges of the code graph, once all outlines are written."""

from collections.abc import Sequence
from pathlib import Path

from quintet.codegraph.resolve import Project, affected, bound_names, changed_names, changed_spaces, resolve
from quintet.codegraph.resolve.changes import Names
from quintet.indexing.run import IndexRun
from quintet.model.symbols import FileOutline
from quintet.ports.reading import Root
from quintet.ports.writing import Unlinked
from quintet.processes.garbage import no_garbage_collection

LINKER = "4"  # goes up when the same outlines give different edges


def link(run: IndexRun) -> None:
    """Make the edges of all files that changed since their edges were made, even in an interrupted run."""
    everything = run.force or run.writer.graph.linker() != LINKER
    for root in run.writer.roots():
        with no_garbage_collection():  # it would cost a quarter of the time, and edges have no cycles
            _link_root(run, root, everything)
    if everything:
        with run.writer.batch():
            run.writer.graph.use_linker(LINKER)


def _link_root(run: IndexRun, root: Root, everything: bool) -> None:
    changes = run.writer.graph.unlinked(root.name)
    if not changes and not everything:
        return
    files = run.writer.graph.outlines(root.name)
    project = Project(files, Path(root.location).parts)
    documents = (
        {file.document_id for file in files} if everything else documents_to_link(project, files, changes)
    )
    run.progress("graph", 0, len(documents))
    edges = resolve(project, None if everything else documents)
    with run.writer.batch():
        run.writer.graph.link(
            root.name, {document: edges.get(document, ()) for document in sorted(documents)}
        )
    run.progress("graph", len(documents), len(documents))


def documents_to_link(
    project: Project, files: Sequence[FileOutline], changes: Sequence[Unlinked]
) -> set[str]:
    """The documents that changed, and those whose edges may have other targets now."""
    present = {file.document_id: file.outline for file in files}
    changed = {change.document_id for change in changes} & present.keys()
    pairs = [(change.path, change.before, present.get(change.document_id)) for change in changes]
    names: Names = set(changed_spaces(files, pairs))
    for change, (path, before, after) in zip(changes, pairs, strict=True):
        names |= changed_names(before, after, path)
        if change.lost:  # edges were removed with a symbol
            names.update(*(bound_names(outline, path) for outline in (before, after) if outline))
    return affected(project, changed, names) & present.keys()
