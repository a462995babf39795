"""A memory as people read it."""

from datetime import UTC, datetime
from typing import Any

from quintet.cli.terminal import safe, safe_lines


def shown(memory: Any, lead: str = "") -> str:
    """A memory as people read it: what it is, its text, and whether it can still be trusted."""
    tags = "".join(f" #{tag}" for tag in memory["tags"])
    head = f"{lead}{memory['kind']}  {memory['id']}  {moment(memory['created_ms'])}{tags}"
    lines = [safe(head), *(f"    {line}" for line in safe_lines(memory["text"]))]
    if memory["valid"]["until_ms"] is not None:
        by = f", superseded by {memory['superseded_by']}" if memory["superseded_by"] else ""
        lines.append(f"    held until {moment(memory['valid']['until_ms'])}{by}")
    for one in memory["about"]:
        lines.append(safe(f"    about {_where(one)}: {one['state']}"))
    return "\n".join(lines) + "\n"


def _where(about: Any) -> str:
    """
    >>> _where({"path": "a.py", "symbol": "f", "lines": [1, 2]}), _where({"path": "a.py", "lines": [1, 2]})
    ('a.py:f', 'a.py:1-2')
    """
    lines = "-".join(map(str, about.get("lines", ())))
    return ":".join(part for part in (about.get("path"), about.get("symbol") or lines) if part)


def moment(ms: int) -> str:
    """
    >>> moment(1_700_000_000_000)
    '2023-11-14T22:13:20Z'
    """
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
