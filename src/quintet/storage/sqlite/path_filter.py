"""The path filter as SQL. A glob may begin with the name of a root, as paths are printed."""

import apsw

from quintet.filters.globs import below, compiled_glob, prefixes

Sql = tuple[str, tuple[str, ...]]  # a condition on `d`, the document, and `r`, its root; and its values


def path_sql(connection: apsw.Connection, pattern: str) -> Sql:
    """The paths that match within their root, or with the name of their root in front.

    With a single root a path is printed without its name. There the name counts only if nothing in the root
    begins with it: in a root `app` with a folder `app`, `app/**` is that folder.
    """
    names = [name for (name,) in connection.execute("SELECT name FROM roots ORDER BY name")]
    readings = [_in_root(pattern)]
    for name in names:
        if len(names) == 1 and _is_folder(connection, name):
            continue
        for rest in below(pattern, name):
            sql, values = _in_root(rest)
            readings.append((f"r.name = ? AND ({sql})", (name, *values)))
    joined = " OR ".join(f"({sql})" for sql, _ in readings)
    return joined, tuple(value for _, values in readings for value in values)


def _is_folder(connection: apsw.Connection, name: str) -> bool:
    start = f"{name}/"
    sql = "SELECT 1 FROM documents WHERE path >= ? AND path < ? LIMIT 1"
    return connection.execute(sql, (start, _behind(start))).fetchone() is not None


def _in_root(pattern: str) -> Sql:
    """A glob is only tried on paths that begin as it does."""
    beginnings = prefixes(pattern)
    if "" in beginnings:
        return "glob_match(?, d.path)", (pattern,)
    ranges = " OR ".join(["d.path >= ? AND d.path < ?"] * len(beginnings))
    edges = [edge for beginning in beginnings for edge in (beginning, _behind(beginning))]
    return f"({ranges}) AND glob_match(?, d.path)", (*edges, pattern)


def _behind(prefix: str) -> str:
    """The first text that sorts behind everything that begins with `prefix`."""
    last = ord(prefix[-1])
    if last == 0x10FFFF:
        return prefix + chr(last) * 1000  # longer than any path
    return prefix[:-1] + chr(0xE000 if last == 0xD7FF else last + 1)


def glob_match(pattern: str, path: str) -> bool:
    return compiled_glob(pattern).fullmatch(path) is not None
