"""How people see a memory, and points in time."""

from datetime import UTC, datetime
from typing import Any

from quintet.cli.terminal import safe, safe_lines


def format_memory(memory: Any, lead: str = "") -> str:
    """Kind, id, time and tags, then the text, then whether it is still valid."""
    tags = "".join(f" #{tag}" for tag in memory["tags"])
    head = f"{lead}{memory['kind']}  {memory['id']}  {format_time(memory['created_ms'])}{tags}"
    lines = [safe(head), *(f"    {line}" for line in safe_lines(memory["text"]))]
    if memory["valid"]["until_ms"] is not None:
        by = f", superseded by {memory['superseded_by']}" if memory["superseded_by"] else ""
        lines.append(f"    valid until {format_time(memory['valid']['until_ms'])}{by}")
    for subject in memory["about"]:
        lines.append(safe(f"    about {_place(subject)}: {subject['state']}"))
    return "\n".join(lines) + "\n"


def _place(subject: Any) -> str:
    """
    >>> _place({"path": "a.py", "symbol": "f", "lines": [1, 2]}), _place({"path": "a.py", "lines": [1, 2]})
    ('a.py:f', 'a.py:1-2')
    """
    lines = "-".join(map(str, subject.get("lines", ())))
    return ":".join(part for part in (subject.get("path"), subject.get("symbol") or lines) if part)


def format_time(ms: int) -> str:
    """
    >>> format_time(1_700_000_000_000)
    '2023-11-14T22:13:20Z'
    """
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
