"""Front matter: a YAML (`---`) or TOML (`+++`) mapping before a document's text."""

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from typing import Any

from quintet.formats.lines import well_formed
from quintet.model.documents import Json

MAX_CHARS = 64 * 1024  # people write far less; a YAML bomb may not
MAX_DEPTH = 32  # PyYAML recurses in C without a limit of its own
FENCES = {"---": ("---", "..."), "+++": ("+++",)}


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """`rows` is its number of lines. `metadata` is None if they look like front matter but cannot be
    parsed."""

    rows: int = 0
    metadata: dict[str, Json] | None = field(default_factory=dict)


def front_matter(lines: Sequence[str]) -> FrontMatter:
    fence = lines[0].rstrip() if lines else ""
    # A fence with a blank line below it is a thematic break, not front matter.
    if fence not in FENCES or len(lines) < 2 or not lines[1].strip():
        return FrontMatter()
    for row in range(1, len(lines)):
        if lines[row].rstrip() in FENCES[fence]:
            text = "\n".join(lines[1:row])
            return FrontMatter(row + 1, _load(text, fence) if len(text) <= MAX_CHARS else None)
    return FrontMatter()


def _load(text: str, fence: str) -> dict[str, Json] | None:
    try:
        value = _load_yaml(text) if fence == "---" else tomllib.loads(text)
        if not isinstance(value, Mapping):
            return None
        return {well_formed(str(key)): to_json(item) for key, item in value.items()}
    except Exception:  # hostile tags make PyYAML raise many kinds of errors
        return None


def _load_yaml(text: str) -> Any:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    depth = 0
    for event in yaml.parse(text, loader):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise ValueError("anchors and aliases are not allowed: they can expand without bound")
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise ValueError("nested too deeply")
    return yaml.load(text, loader)


def to_json(value: object) -> Json:
    """`value` in JSON types: dates as ISO text, keys and numbers that JSON lacks as text."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, (date, datetime, time)):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {well_formed(str(key)): to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        items = value if isinstance(value, (list, tuple)) else sorted(value, key=str)
        return [to_json(item) for item in items]
    return well_formed(value if isinstance(value, str) else str(value))
