"""How people see a memory, and points in time."""

from datetime import UTC, datetime
from typing import Any

from quintet.cli.terminal import safe, safe_lines
from quintet.serving.views import printed_path


def format_memory(memory: Any, lead: str = "", *, several_roots: bool) -> str:
    """Kind, id, time and tags, then the text, then whether it is still valid."""
    tags = "".join(f" #{tag}" for tag in memory["tags"])
    head = f"{lead}{memory['kind']}  {memory['id']}  {format_time(memory['created_ms'])}{tags}"
    lines = [safe(head), *(f"    {line}" for line in safe_lines(memory["text"]))]
    if memory["valid"]["until_ms"] is not None:
        by = f", superseded by {memory['superseded_by']}" if memory["superseded_by"] else ""
        lines.append(f"    valid until {format_time(memory['valid']['until_ms'])}{by}")
    for subject in memory["about"]:
        lines.append(safe(f"    about {_place(subject, several_roots)}: {subject['state']}"))
    return "\n".join(lines) + "\n"


def _place(subject: Any, several_roots: bool) -> str:
    """
    >>> _place({"root": "r", "path": "a.py", "symbol": "f", "lines": [1, 2]}, False)
    'a.py:f'
    >>> _place({"root": "r", "path": "a.py", "lines": [1, 2]}, True)
    'r/a.py:1-2'
    """
    lines = "-".join(map(str, subject.get("lines", ())))
    path = subject.get("path")
    if path and subject.get("root"):
        path = printed_path(subject["root"], path, several_roots)
    return ":".join(part for part in (path, subject.get("symbol") or lines) if part)


def format_time(ms: int) -> str:
    """
    >>> format_time(1_700_000_000_000)
    '2023-11-14T22:13:20Z'
    """
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
