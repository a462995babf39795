"""JSON Schemas of what `verify` and `why` take and give."""

from quintet.contracts import CONTRACTS, HOUSE
from quintet.http.schema.responses import COUNT, FLAG, MAYBE_COUNT, RECEIPT, TEXT, Schema, closed, several

MAYBE_NUMBER: Schema = {"type": ["number", "null"]}
PLACED: Schema = {"type": "integer", "minimum": 1}

VERIFY_REQUEST: Schema = {**RECEIPT, "description": "a receipt as a search gave it"}
VERDICT = closed(
    {"identical": FLAG, "same_results": FLAG, "differences": several(TEXT), "changed": several(TEXT)}
)
WHY_REQUEST = closed(
    {
        "query": {**TEXT, "minLength": 1},
        "reference": {**TEXT, "minLength": 1, "description": "a chunk's id, PATH or PATH:LINE"},
        "contract": {"type": "string", "enum": list(CONTRACTS), "default": HOUSE},
        "params": {"type": "object", "description": "parameters of the contract, as in a search"},
    },
    optional=("contract", "params"),
)
LEG = closed(
    {
        "signal": TEXT,
        "rank": MAYBE_COUNT,
        "of": COUNT,
        "score": MAYBE_NUMBER,
        "depth": COUNT,
        "cutoff": MAYBE_NUMBER,
    }
)
CHANGE = closed({"parameter": TEXT, "from": {}, "to": {}, "rank": PLACED})
WHY = closed(
    {
        "chunk_id": TEXT,
        "path": TEXT,
        "first_line": {"type": "integer"},
        "rank": MAYBE_COUNT,
        "reasons": several(TEXT),
        "legs": several(LEG),
        "changes": several(CHANGE),
    }
)
