"""From the outlines of a root to the edges between its definitions. Pure: no disk, no clock."""

from collections.abc import Collection, Sequence

from quintet.ingest.graph.changes import affected, bound_names, changed_names
from quintet.ingest.graph.edges import Edges, strongest
from quintet.ingest.graph.project import Name, Project
from quintet.symbols import Edge, FileOutline

__all__ = ["affected", "bound_names", "changed_names", "resolve"]


def resolve(
    files: Sequence[FileOutline], wanted: Collection[str] | None = None, location: Name = ()
) -> dict[str, tuple[Edge, ...]]:
    """The out-edges of each wanted document (of all when None), by document id. `location` are the folders
    that the root lies in, its own last."""
    project = Project(files, location)
    edges = Edges(project)
    chosen = None if wanted is None else set(wanted)
    return {
        file.document_id: strongest(edges.of(number))
        for number, file in enumerate(project.files)
        if chosen is None or file.document_id in chosen
    }
