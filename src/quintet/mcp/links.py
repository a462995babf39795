"""Links from an answer to the files in it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from mcp_types import ResourceLink

from quintet.serving.views import View

LINKS_MAX = 20
FILE_URI = "quintet://file/"
CHUNK_URI = "quintet://chunk/"


def view_links(views: Sequence[View]) -> list[ResourceLink]:
    """Links to the files of the first results."""
    return _links(
        (f"{view.root}/{view.path}" if view.root else view.path, view.path) for view in views[:LINKS_MAX]
    )


def file_links(places: Iterable[Mapping[str, Any]]) -> list[ResourceLink]:
    """Links to the files of passages or code nodes."""
    return _links((f"{place['root']}/{place['path']}", place["path"]) for place in places)


def _links(files: Iterable[tuple[str, str]]) -> list[ResourceLink]:
    """One link for each file, from pairs of its full path and its name."""
    names: dict[str, str] = {}
    for path, name in files:
        names.setdefault(path, name)
    return [
        ResourceLink(type="resource_link", uri=FILE_URI + quote(path, safe=""), name=name)
        for path, name in names.items()
    ]
