"""Metadata that callers give: a JSON object that must come back exactly as it went in."""

import json
import re
from collections.abc import Mapping

from quintet.errors import LimitError, UsageError
from quintet.model.documents import Json
from quintet.model.parameters import shown

METADATA_CHARS = 10_000  # as JSON
METADATA_LEVELS = 32  # of nested objects and lists; SQLite reads at most 1,000, on every filter
UNSTORABLE = re.compile("[\0\ud800-\udfff]")  # NUL and lone surrogates


def check_metadata(metadata: object) -> Mapping[str, Json]:
    try:
        if not isinstance(metadata, Mapping):
            raise TypeError("not an object")
        text = json.dumps(dict(metadata), allow_nan=False)
        checked: dict[str, Json] = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        message = f"metadata is {shown(metadata)}; it must be an object of JSON values"
        raise UsageError(message, details={"parameter": "metadata"}) from None
    if len(text) > METADATA_CHARS:
        raise LimitError(
            f"metadata has {len(text)} characters of JSON; at most {METADATA_CHARS} are allowed: shorten it"
        )
    if not _is_shallow(checked):
        raise LimitError(f"metadata is more than {METADATA_LEVELS} levels deep; make it flatter")
    if UNSTORABLE.search(json.dumps(checked, ensure_ascii=False)):
        raise UsageError("metadata holds lone surrogates; every text must be Unicode")
    return checked


def _is_shallow(value: Json) -> bool:
    level = [value]
    for _ in range(METADATA_LEVELS + 1):
        holders = [item for item in level if isinstance(item, (dict, list))]
        level = [child for item in holders for child in (item.values() if isinstance(item, dict) else item)]
    return not level
