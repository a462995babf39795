"""JSON Schemas of what the routes of knowledge bases take and give."""

from quintet.contracts.knowledge import CONTRACT, KEPT, PROPERTY_KINDS
from quintet.http.schema.requests import search_request
from quintet.http.schema.responses import (
    BESIDE,
    COUNT,
    FLAG,
    KNOWLEDGE_RESULT,
    MAYBE_TEXT,
    NUMBER,
    OPEN,
    RETRIEVAL_CALL,
    RUN,
    TEXT,
    Schema,
    closed,
    one_of,
    several,
)
from quintet.knowledge.documents import ID, URI_CHARS
from quintet.knowledge.registry import MOST_PROPERTIES, PROPERTY, SLUG, TITLE_CHARS
from quintet.model.parameters import object_schema
from quintet.model.tokens import LARGEST_BUDGET

# What is asked. What is too long or too many is told as 413, so no schema calls it wrong.
TITLE: Schema = {
    "type": ["string", "null"],
    "minLength": 1,
    "description": f"one line of at most {TITLE_CHARS} characters",
}
PROPERTIES = {
    **several(
        closed(
            {
                "name": {"type": "string", "pattern": f"^{PROPERTY.pattern}$"},
                "type": one_of(*PROPERTY_KINDS),
            }
        )
    ),
    "default": [],
    "description": f"at most {MOST_PROPERTIES} fields to filter by besides the built-in ones",
}
CREATE = closed(
    {
        "slug": {"type": "string", "pattern": f"^{SLUG.pattern}$", "description": "its index is kb_<slug>"},
        "title": TITLE,
        "properties": PROPERTIES,
    },
    optional=("title", "properties"),
)
ABOUT: dict[str, Schema] = {
    "title": TITLE,
    "uri": {
        "type": ["string", "null"],
        "minLength": 1,
        "description": f"where it comes from, {URI_CHARS} characters at most; no place on a disk",
    },
    "metadata": {"type": ["object", "null"]},
}
WRITTEN: dict[str, Schema] = {
    "text": {"type": ["string", "null"], "description": "what it says"},
    "content": {"type": ["string", "null"], "description": "another name of text; give one of them"},
    "mime": {"type": "string", "default": "text/plain", "description": "how the text is to be read"},
    **ABOUT,
}
WITH_TEXT = [{"required": ["text"]}, {"required": ["content"]}]
OWN_ID: Schema = {
    "type": ["string", "null"],
    "pattern": f"^{ID.pattern}$",
    "description": "to put it again later; else it hangs on what the document says",
}
DOCUMENT_TO_PUT = {**object_schema({"id": OWN_ID, **WRITTEN}, required=[]), "anyOf": WITH_TEXT}


def put_request(most: int) -> Schema:
    """One document, or up to `most`."""
    together = {**several(DOCUMENT_TO_PUT), "minItems": 1, "description": f"at most {most}"}
    return {"oneOf": [DOCUMENT_TO_PUT, closed({"documents": together})]}


FORM = object_schema(
    {
        "file": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "string", "format": "binary"},
            "description": "files, by whose names they are read; the parts may be called anything",
        },
        "title": {"type": "string"},
        "uri": {"type": "string"},
        "id": {"type": "string"},
        "metadata": {"type": "string", "description": "a JSON object, of every file"},
    },
    required=["file"],
)
CHANGE = {
    "anyOf": [
        {**object_schema(WRITTEN, required=[]), "anyOf": WITH_TEXT},
        {**object_schema(ABOUT, required=[]), "minProperties": 1},
    ]
}
ADD_SOURCE = closed(
    {"directory": {"type": "string", "minLength": 1}, "name": TITLE},
    optional=("name",),
)


def context_request() -> Schema:
    schema = search_request(CONTRACT)
    budget = {"type": "integer", "minimum": 1, "maximum": LARGEST_BUDGET, "default": 2000}
    own = {name: one for name, one in schema["properties"].items() if name not in ("index", "receipt")}
    return object_schema({**own, "budget": {**budget, "description": "tokens"}}, required=["query"])


# What is answered.
SOURCE = closed({"id": TEXT, "name": TEXT, "type": one_of("local_directory"), "documents": COUNT})
SOURCES = closed({"sources": several(SOURCE)})
BASE = closed(
    {
        "id": TEXT,
        "index": TEXT,
        "title": TEXT,
        "state": one_of("ready", "syncing", "error"),
        "archived": FLAG,
        "created_ms": COUNT,
        "properties": several(closed({"name": TEXT, "type": one_of(*PROPERTY_KINDS)})),
        **dict.fromkeys(("documents", "chunks", "embedded"), COUNT),
        "sources": several(SOURCE),
    }
)
LISTED = closed({**BASE["properties"], "error": TEXT}, optional=("error",))  # what a damaged one says
BASES = closed({"knowledge_bases": several(LISTED)})
OUTCOME = closed(
    {
        "id": MAYBE_TEXT,
        "outcome": one_of("created", "updated", "unchanged", "refused"),
        "name": MAYBE_TEXT,
        "chunks": COUNT,
        "code": MAYBE_TEXT,
        "message": MAYBE_TEXT,
    }
)
OUTCOMES = closed({"documents": several(OUTCOME)})
DOCUMENT = closed(
    {
        "id": TEXT,
        "title": TEXT,
        **dict.fromkeys(sorted(KEPT - {"document_id", "managed_by_source"}), MAYBE_TEXT),
        "managed_by_source": FLAG,
        "mime_type": TEXT,
        "size": COUNT,
        "digest": TEXT,
        "chunks": COUNT,
        "updated_ms": COUNT,
        "metadata": OPEN,
    }
)
DOCUMENTS = closed({"documents": several(DOCUMENT), "next": MAYBE_TEXT})
DELETED = closed({"id": TEXT, "outcome": one_of("deleted")})
SOURCE_DELETED = closed({"id": TEXT, "outcome": one_of("deleted"), "documents": COUNT})
RUNS = closed({"runs": several(RUN)})
REFERENCE = closed(
    {
        "id": TEXT,
        "citation_label": TEXT,
        "title": TEXT,
        "uri": MAYBE_TEXT,
        "pages": several(COUNT),
        "source_ids": several(TEXT),
        "file_url": TEXT,
    },
    optional=("file_url",),
)
_TAGGED = {**KNOWLEDGE_RESULT, "properties": {**KNOWLEDGE_RESULT["properties"], "reference_id": TEXT}}
_CALL = {**RETRIEVAL_CALL, "properties": {**RETRIEVAL_CALL["properties"], "results": several(_TAGGED)}}
RETRIEVED = closed(
    {"retrieval_calls": several(_CALL), "references": several(REFERENCE), **BESIDE},
    optional=("references", "receipt"),
)
PASSAGE = closed(
    {
        "id": TEXT,
        "reference_id": TEXT,
        "marker": TEXT,
        "document_id": TEXT,
        "chunk_index": COUNT,
        "relevance_score": NUMBER,
    }
)
CONTEXT = closed(
    {
        "index": TEXT,
        "query": TEXT,
        "budget": COUNT,
        "tokens": COUNT,
        "text": TEXT,
        "references": several(REFERENCE),
        "sources": several(PASSAGE),
        "duplicates": COUNT,
        "left_out": COUNT,
        "digest": TEXT,
        "status": BESIDE["status"],
        "notes": BESIDE["notes"],
    }
)
