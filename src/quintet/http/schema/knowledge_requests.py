"""JSON Schemas of requests to the routes of knowledge bases."""

from quintet.contracts.bases import PROPERTY_KINDS
from quintet.contracts.knowledge import CONTRACT
from quintet.http.schema.requests import search_request
from quintet.knowledge.documents import ID, URI_CHARS
from quintet.knowledge.registration import MAX_PROPERTIES, PROPERTY, SLUG, TITLE_CHARS
from quintet.model.schema import Schema, object_schema
from quintet.model.tokens import LARGEST_BUDGET

# A text that is too long or a list with too many items gets 413, so these schemas set no upper bounds.
TITLE: Schema = {
    "type": ["string", "null"],
    "minLength": 1,
    "description": f"one line of at most {TITLE_CHARS} characters",
}
PROPERTY_FIELDS: dict[str, Schema] = {
    "name": {"type": "string", "pattern": f"^{PROPERTY.pattern}$"},
    "type": {"type": "string", "enum": list(PROPERTY_KINDS)},
}
CREATE = object_schema(
    {
        "slug": {
            "type": "string",
            "pattern": f"^{SLUG.pattern}$",
            "description": "the name of its index is kb_<slug>",
        },
        "title": TITLE,
        "properties": {
            "type": "array",
            "items": object_schema(PROPERTY_FIELDS, required=list(PROPERTY_FIELDS)),
            "default": [],
            "description": f"at most {MAX_PROPERTIES} fields to filter by besides the built-in ones",
        },
    },
    required=["slug"],
)
ABOUT: dict[str, Schema] = {
    "title": TITLE,
    "uri": {
        "type": ["string", "null"],
        "minLength": 1,
        "description": f"where the document comes from, at most {URI_CHARS} characters; no path on a disk",
    },
    "metadata": {"type": ["object", "null"]},
}
CONTENT: dict[str, Schema] = {
    "text": {"type": ["string", "null"], "description": "the text of the document"},
    "content": {"type": ["string", "null"], "description": "another name for text; give one of them"},
    "mime": {"type": "string", "default": "text/plain", "description": "the format of the text"},
    **ABOUT,
}
WITH_TEXT = [{"required": ["text"]}, {"required": ["content"]}]
DOCUMENT_ID: Schema = {
    "type": ["string", "null"],
    "pattern": f"^{ID.pattern}$",
    "description": "the id of the document; without it, one derived from the content",
}
PUT_ONE: Schema = {**object_schema({"id": DOCUMENT_ID, **CONTENT}), "anyOf": WITH_TEXT}


def put_request(most: int) -> Schema:
    """One document, or up to `most`."""
    documents = {"type": "array", "items": PUT_ONE, "minItems": 1, "description": f"at most {most}"}
    return {"oneOf": [PUT_ONE, object_schema({"documents": documents}, required=["documents"])]}


FORM = object_schema(
    {
        "file": {
            "type": "array",
            "minItems": 1,
            "items": {"type": "string", "format": "binary"},
            "description": "files; the file name decides the format, the name of the part is free",
        },
        "title": {"type": "string"},
        "uri": {"type": "string"},
        "id": {"type": "string"},
        "metadata": {"type": "string", "description": "a JSON object, for every file"},
    },
    required=["file"],
)
CHANGE: Schema = {
    "anyOf": [
        {**object_schema(CONTENT), "anyOf": WITH_TEXT},
        {**object_schema(ABOUT), "minProperties": 1},
    ]
}
ADD_SOURCE = object_schema(
    {"directory": {"type": "string", "minLength": 1}, "name": TITLE}, required=["directory"]
)


def context_request() -> Schema:
    fields = search_request(CONTRACT)["properties"]
    own = {name: schema for name, schema in fields.items() if name not in ("index", "receipt")}
    budget = {"type": "integer", "minimum": 1, "maximum": LARGEST_BUDGET, "default": 2000}
    return object_schema({**own, "budget": {**budget, "description": "tokens"}}, required=["query"])
