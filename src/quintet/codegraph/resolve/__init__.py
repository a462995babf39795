"""From the outlines of a root to the edges between its definitions. Uses no disk and no clock."""

from collections.abc import Collection

from quintet.codegraph.resolve.changes import bound_names, changed_names, changed_spaces
from quintet.codegraph.resolve.edges import Edges, keep_strongest
from quintet.codegraph.resolve.project import Project
from quintet.codegraph.resolve.reach import affected
from quintet.model.symbols import Edge

__all__ = ["Project", "affected", "bound_names", "changed_names", "changed_spaces", "resolve"]


def resolve(project: Project, wanted: Collection[str] | None = None) -> dict[str, tuple[Edge, ...]]:
    """The out-edges of each wanted document (None: of all), by document id."""
    edges = Edges(project)
    chosen = None if wanted is None else set(wanted)
    return {
        file.document_id: keep_strongest(edges.of(number))
        for number, file in enumerate(project.files)
        if chosen is None or file.document_id in chosen
    }
