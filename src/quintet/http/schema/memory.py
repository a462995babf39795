"""JSON Schema of what a search over code and memory gives."""

from quintet.http.schema.responses import (
    COUNT,
    LINES,
    MAYBE_COUNT,
    MAYBE_TEXT,
    MCB_RESULT,
    NOTE,
    NUMBER,
    OPEN,
    STATUSES,
    TEXT,
    closed,
    one_of,
    several,
)
from quintet.model.memories import KINDS

MEMORY_RESULT = closed(
    {
        "id": TEXT,
        "text": TEXT,
        "kind": one_of(*KINDS),
        **dict.fromkeys(("created_ms", "last_seen_ms", "seen"), COUNT),
        "tags": several(TEXT),
        "about": several(
            closed(
                {
                    **dict.fromkeys(("path", "symbol", "root"), TEXT),
                    "lines": LINES,
                    "state": one_of("unchanged", "changed", "gone", "unknown"),
                },
                optional=("path", "symbol", "root", "lines"),
            )
        ),
        "session": MAYBE_TEXT,
        "sessions": several(TEXT),
        "supersedes": several(TEXT),
        "superseded_by": MAYBE_TEXT,
        "metadata": OPEN,
        "valid": closed({"from_ms": COUNT, "until_ms": MAYBE_COUNT}),
        "freshness": one_of("Fresh", "Stale", "StaleWithRisk"),
        "score": NUMBER,
        "signals": {
            "type": "object",
            "additionalProperties": closed(
                {"rank": MAYBE_COUNT, "score": NUMBER, "raw": NUMBER, "contribution": NUMBER}
            ),
        },
    }
)
SEARCHED_ALL = closed(
    {
        "code": several(MCB_RESULT),
        "memory": several(MEMORY_RESULT),
        "hybrid_rank": several(closed({"kind": one_of("code", "memory"), "id": TEXT, "score": NUMBER})),
        "status": STATUSES,
        "notes": several(NOTE),
    }
)
