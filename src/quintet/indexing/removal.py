"""Remove documents from an index. Their names are removed from its change log too."""

from collections.abc import Iterable

from quintet.ports.reading import Root
from quintet.ports.writing import Writer


def remove(writer: Writer, root: Root | None, documents: Iterable[tuple[str, str]]) -> int:
    """Remove a whole root, or documents by root and path; returns how many documents went."""
    with writer.batch():
        count = writer.drop_root(root.name) if root else 0
        for name, path in documents:
            writer.remove(name, [path])
            count += 1
        writer.vectors.drop_unused()
        writer.forget_names()
    writer.settle()
    return count


def clear(writer: Writer) -> int:
    """Empty an index; returns how many documents went."""
    with writer.batch():
        count = writer.clear()
        writer.forget_names()
    writer.settle()
    return count
