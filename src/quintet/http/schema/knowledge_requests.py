"""JSON Schemas of requests to the routes of knowledge bases."""

from quintet.contracts.bases import INDEX_PREFIX, PROPERTY_KINDS
from quintet.contracts.knowledge import CONTRACT
from quintet.filters.fields import BUILT_IN
from quintet.http.schema.components import described
from quintet.http.schema.requests import QUERY, with_parameters
from quintet.knowledge.documents import ID, URI_CHARS
from quintet.knowledge.registration import MAX_PROPERTIES, PROPERTY, RESERVED_SLUGS, SLUG, TITLE_CHARS
from quintet.model.schema import NOT_BLANK, Metadata, Schema, named, object_schema, schema_of
from quintet.model.tokens import LARGEST_BUDGET

# A text that is too long or a list with too many items gets 413, so these schemas set no upper bounds.
ONE_LINE = r"^[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f\x85][^\x00-\x1f\x7f]*$"
SPACE = r"[\s\x1c-\x1f\x85]*"  # what `str.strip` removes
URI = rf"^{SPACE}[^\s\x00-\x20\x7f\x85][^\x00-\x20\x7f]*{SPACE}$"
# Addresses that a browser would run, and places on a disk. Patterns of JSON Schema cannot ignore case.
UNSHOWN = (
    "([Jj][Aa][Vv][Aa]|[Vv][Bb])[Ss][Cc][Rr][Ii][Pp][Tt]:|[Dd][Aa][Tt][Aa]:"
    r"|([A-Za-z][A-Za-z0-9+.-]*:){0,4}[Ff][Ii][Ll][Ee]:|[/\\]|[A-Za-z]:[/\\]|~[/\\]"
)
TITLE: Schema = {
    "type": ["string", "null"],
    "minLength": 1,
    "pattern": ONE_LINE,
    "description": f"one line of at most {TITLE_CHARS} characters",
}
NEW_PROPERTY = named(
    "NewProperty",
    "A field of metadata to filter by.",
    object_schema(
        {
            "name": {
                "type": "string",
                "pattern": f"^{PROPERTY.pattern}$",
                "not": {"enum": list(BUILT_IN)},
                "description": "the name of the field, which no built-in field has",
            },
            "type": {"type": "string", "enum": list(PROPERTY_KINDS), "description": "the type of its values"},
        },
        required=["name", "type"],
    ),
)
CREATE = named(
    "NewKnowledgeBase",
    "A knowledge base to create.",
    object_schema(
        {
            "slug": {
                "type": "string",
                "pattern": f"^{SLUG.pattern}$",
                "not": {"anyOf": [{"enum": sorted(RESERVED_SLUGS)}, {"pattern": f"^{INDEX_PREFIX}"}]},
                "description": f"its name in addresses; the name of its index is {INDEX_PREFIX}<slug>",
            },
            "title": TITLE,
            "properties": {
                "type": "array",
                "items": NEW_PROPERTY,
                "description": f"at most {MAX_PROPERTIES} fields to filter by besides the built-in ones",
            },
        },
        required=["slug"],
    ),
)
ABOUT: dict[str, Schema] = {
    "title": TITLE,
    "uri": {
        "type": ["string", "null"],
        "minLength": 1,
        "pattern": URI,
        "not": {"pattern": rf"^{SPACE}({UNSHOWN})"},
        "description": f"where the document comes from, at most {URI_CHARS} characters; no path on a disk",
    },
    "metadata": {
        "anyOf": [schema_of(Metadata), {"type": "null"}],
        "description": "any JSON values by name; properties of the base can be filtered by",
    },
}
CONTENT: dict[str, Schema] = {
    "text": {"type": "string", "description": "the text of the document"},
    "content": {"type": "string", "description": "another name for text; give one of them"},
    "mime": {"type": "string", "description": "the format of the text; default: text/plain"},
    **ABOUT,
}
BOTH: Schema = {"required": ["text", "content"]}
EITHER: Schema = {"anyOf": [{"required": ["text"]}, {"required": ["content"]}]}
DOCUMENT_ID: Schema = {
    "type": ["string", "null"],
    "pattern": f"^{ID.pattern}$",
    "description": "the id of the document; without it, one derived from the content",
}
# Generators make one class of an object with `not`, but nameless variants of one with `anyOf`.
NEW_DOCUMENT = named(
    "NewDocument",
    "A document to add or to replace: its text, and what is known about it.",
    {
        **object_schema({"id": DOCUMENT_ID, **CONTENT}),
        "not": {"anyOf": [BOTH, {"not": EITHER}]},
    },
)


def put_request(most: int) -> Schema:
    """One document, or up to `most`."""
    documents = {
        "type": "array",
        "items": NEW_DOCUMENT,
        "minItems": 1,
        "description": f"at most {most}",
    }
    several = named(
        "NewDocuments", "Several documents.", object_schema({"documents": documents}, required=["documents"])
    )
    return named("PutDocumentsRequest", "One document, or several.", {"oneOf": [NEW_DOCUMENT, several]})


FORM = named(
    "DocumentForm",
    "Files to add. A title, a uri and an id can be given with one file only.",
    object_schema(
        {
            "file": {
                "type": "array",
                "minItems": 1,
                "items": {"type": "string", "format": "binary"},
                "description": "files; the file name decides the format, the name of the part is free",
            },
            "title": {**TITLE, "type": "string"},
            "uri": {"type": "string", "pattern": URI, "description": ABOUT["uri"]["description"]},
            "id": {**DOCUMENT_ID, "type": "string"},
            "metadata": {"type": "string", "description": "a JSON object, for every file"},
        },
        required=["file"],
    ),
)
CHANGE = named(
    "DocumentChange",
    "With a text, the new document; without one, what to change about it.",
    {
        **object_schema(CONTENT),
        "minProperties": 1,
        "not": BOTH,
        "dependentSchemas": {"mime": EITHER},
    },
)
ADD_SOURCE = named(
    "NewSource",
    "A folder of the server's machine.",
    object_schema(
        {"directory": described(NOT_BLANK, "the folder, as the server sees it"), "name": TITLE},
        required=["directory"],
    ),
)


def context_request() -> Schema:
    budget = {
        "type": "integer",
        "minimum": 1,
        "maximum": LARGEST_BUDGET,
        "description": "tokens; default: 2000",
    }
    schema = with_parameters(CONTRACT, {"query": QUERY, "budget": budget}, ["query"], without="index")
    return named("ContextRequest", "A search, and how many tokens of passages to return.", schema)
