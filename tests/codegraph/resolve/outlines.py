"""A small project written as source text, and its edges as short lines."""

from codegraph.languages.listing import read
from quintet.codegraph.languages.registry import language_of
from quintet.codegraph.resolve import Project, resolve
from quintet.model.symbols import FileOutline, Relation, node_ids


def outlines(sources: dict[str, str]) -> list[FileOutline]:
    files = []
    for path, text in sources.items():
        language = language_of(path)
        assert language is not None
        files.append(FileOutline(f"id of {path}", path, read(language.name, text, path)))
    return files


def listed(files: list[FileOutline], *relations: Relation, location: tuple[str, ...] = ()) -> list[str]:
    """`calls a.py:f -> b.py:g exact`, without `contains` unless requested, each once, in order."""
    names = {}
    for file in files:
        names[file.document_id] = file.path
        for symbol, node in zip(file.outline.symbols, node_ids(file.document_id, file.outline), strict=True):
            names[node] = ":".join((file.path, ".".join(symbol.path))) if symbol.path else file.path
    wanted = relations or ("calls", "imports", "extends", "implements", "references")
    return sorted(
        {
            f"{edge.relation} {names[edge.source]} -> {names[edge.target]} {edge.confidence}"
            for edges in resolve(Project(files, location)).values()
            for edge in edges
            if edge.relation in wanted
        }
    )


def edges(sources: dict[str, str], *relations: Relation, location: tuple[str, ...] = ()) -> list[str]:
    return listed(outlines(sources), *relations, location=location)
