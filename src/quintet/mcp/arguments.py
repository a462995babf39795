"""The arguments of each MCP tool: published as JSON Schema, checked here or by the engine."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated, Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, WithJsonSchema

from quintet.codegraph.related import MAX_DEPTH, MAX_LIMIT
from quintet.contracts import CONTRACTS, HOUSE
from quintet.contracts.contract import Strategy
from quintet.errors import UsageError
from quintet.model.memories import KINDS
from quintet.model.parameters import LIMIT_MAX, shown

A = TypeVar("A", bound="Arguments")

# The engine checks these itself, with the same error codes and messages as every other interface.
Query = Annotated[
    Any, WithJsonSchema({"type": "string", "description": "What to look for; any text is safe."})
]


def whole_number(description: str, at_most: int) -> Any:
    """A whole number from 1 on, which the engine checks."""
    return WithJsonSchema({"type": "integer", "minimum": 1, "maximum": at_most, "description": description})


Count = Annotated[Any, whole_number("Results to return.", LIMIT_MAX)]
Syntax = Annotated[
    Any,
    WithJsonSchema(
        {
            "type": "string",
            "enum": ["plain", "fts5"],
            "description": "Plain words, or SQLite FTS5's own query language.",
        }
    ),
]
Object = Annotated[Any, WithJsonSchema({"type": "object", "additionalProperties": True})]
READ_TOKENS = 20_000  # the reader cannot know the size of a document
MaxTokens = Annotated[
    int | None,
    Field(
        ge=1, description="Leave out the last results so that the text stays below about this many tokens."
    ),
]


def by_contract() -> Any:
    """A default that is not published, because it differs between contracts."""
    return Field(default_factory=lambda: None)


def _short(field: dict[str, Any]) -> dict[str, Any]:
    """Without its title, and with one list of types for a value that may be null."""
    kept = {key: value for key, value in field.items() if key not in ("title", "anyOf")}
    match field.get("anyOf"):
        case [{"type": _} as first, {"type": "null"}]:
            return {**first, "type": [first["type"], "null"], **kept}
        case _:
            return kept


def choice(description: str, *names: str) -> Any:
    """One of these names, which the engine checks."""
    return WithJsonSchema({"type": "string", "enum": list(names), "description": description})


class Arguments(BaseModel):
    """Unknown arguments are errors, and no value is converted: "10" is not 10."""

    model_config = ConfigDict(extra="forbid", strict=True)

    @classmethod
    def listed(cls) -> dict[str, Any]:
        """The schema that clients see: without titles, which only repeat the names, and without the notes for
        developers."""
        schema = cls.model_json_schema()
        fields = {name: _short(field) for name, field in schema["properties"].items()}
        kept = {key: value for key, value in schema.items() if key not in ("title", "description")}
        return {**kept, "properties": fields}

    def given(self, *names: str) -> dict[str, Any]:
        """Those of `names` that the caller set. The engine knows the defaults of the others."""
        return {name: getattr(self, name) for name in names if name in self.model_fields_set}


class SearchRifflux(Arguments):
    """Spec 000, section 4.4, and the optional `syntax`."""

    query: Query
    top_k: Count = 10
    mode: Annotated[Any, choice("Which signals to use.", "lexical", "semantic", "hybrid")] = "hybrid"
    db_path: str | None = Field(
        None, description="Another index beside the server's own: its folder or its index.db."
    )
    syntax: Syntax = "plain"


class Reindex(Arguments):
    """Spec 000, section 4.5."""

    path: str | None = Field(None, description="A folder or file; ignored when paths names any.")
    paths: list[str] | None = Field(
        None,
        description="Up to 1000 folders and files. Without path and paths: the roots in the working folder.",
    )
    force: bool = Field(False, description="Read every file again, changed or not.")


class Search(Arguments):
    query: Query
    contract: Annotated[
        Any, choice("The contract: it decides the ranking and the result shape.", *CONTRACTS)
    ] = HOUSE
    limit: Annotated[
        Any, whole_number("Results to return; by default the contract's own number.", LIMIT_MAX)
    ] = by_contract()
    mode: Annotated[
        Any,
        choice(
            "Which signals to use; the default is the contract's own. Some contracts say keyword instead of "
            "lexical; mcb has no modes.",
            "lexical",
            "keyword",
            "semantic",
            "hybrid",
        ),
    ] = by_contract()
    filters: Annotated[
        Any,
        WithJsonSchema(
            {
                "type": ["string", "object"],
                "description": "Filters that results must match: 'path:docs/** -tag:old meta.prio<3', or an "
                'object such as {"path": "docs/**"}, {"or": [{"tag": "a"}, {"not": {"lang": "c"}}]}.',
            }
        ),
    ] = Field(default_factory=dict)
    params: dict[str, Any] = Field(
        default_factory=dict,
        description='Further parameters of the contract: {"semantic_weight": 0.5}; {"index": "kb_faq"} is a '
        "knowledge base.",
    )
    max_tokens: MaxTokens = None
    receipt: bool = Field(
        False, description="Add a receipt of the whole answer, which `quintet verify` can replay."
    )


class Read(Arguments):
    reference: str = Field(
        description="A chunk id, a path as search shows it, or PATH:FIRST-LAST for some lines.", min_length=1
    )
    max_tokens: MaxTokens = READ_TOKENS


class Status(Arguments):
    pass


class Related(Arguments):
    reference: str = Field(
        description="A symbol by the end of its qualified name, a PATH:LINE, or a file's path.",
        min_length=1,
    )
    strategy: Annotated[
        Any,
        choice(
            "Its callers; what it calls, imports, extends or implements; or everything around it.",
            *get_args(Strategy),
        ),
    ] = "related"
    depth: Annotated[Any, whole_number("How many steps to go.", MAX_DEPTH)] = 1
    possible: bool = Field(False, description="Also follow edges that are only guesses.")
    limit: Annotated[Any, whole_number("Neighbours to return.", MAX_LIMIT)] = 100
    max_tokens: MaxTokens = None


Text = Annotated[
    Any, WithJsonSchema({"type": "string", "minLength": 1, "description": "The text to remember."})
]
Kind = choice("The kind of memory.", *KINDS)
Names = {"type": "array", "items": {"type": "string", "minLength": 1}}


def described(schema: Mapping[str, Any], description: str) -> Any:
    """A value of this schema, which the engine checks."""
    return WithJsonSchema({**schema, "description": description})


class Remember(Arguments):
    text: Text
    kind: Annotated[Any, Kind] = "fact"
    tags: Annotated[Any, described(Names, "Words to find the memory by.")] = ()
    about: Annotated[
        Any,
        described(Names, "Paths, PATH:FIRST-LAST or symbols it is about; recall says whether they changed."),
    ] = ()
    session: Annotated[Any, described({"type": ["string", "null"]}, "The session the memory belongs to.")] = (
        None
    )
    metadata: Annotated[Object, Field(description="Any further data, as an object.")] = Field(
        default_factory=dict
    )
    supersedes: Annotated[
        Any, described({"type": ["string", "null"]}, "The id of the memory that this one replaces.")
    ] = None


class Recall(Arguments):
    query: Query
    limit: Count = 10
    kind: Annotated[
        Any, described({"type": ["string", "null"], "enum": [*KINDS, None]}, "Only this kind.")
    ] = None
    tags: Annotated[Any, described(Names, "Only with all of these tags.")] = ()
    session: Annotated[Any, described({"type": ["string", "null"]}, "Only from this session.")] = None
    about: Annotated[Any, described({"type": ["string", "null"]}, "Only about this path or symbol.")] = None
    since: Annotated[
        Any, described({"type": ["integer", "null"]}, "Created at this time or later, Unix milliseconds.")
    ] = None
    until: Annotated[
        Any, described({"type": ["integer", "null"]}, "Created before this time, Unix milliseconds.")
    ] = None
    include_superseded: Annotated[Any, described({"type": "boolean"}, "Include superseded memories.")] = False
    max_tokens: MaxTokens = None


class SearchAll(Arguments):
    query: Query
    context: dict[str, Any] = Field(
        default_factory=dict,
        description="Where you are: {project, open_files, symbols, memories}. The project scopes the code; "
        "the graph is walked from the rest.",
    )
    code: dict[str, Any] = Field(
        default_factory=dict,
        description='Further parameters of contract mcb: {"limit": 5, "filters": "path:src/**"}.',
    )
    memory: dict[str, Any] = Field(
        default_factory=dict, description='Further arguments of `recall`: {"limit": 5, "tags": ["cache"]}.'
    )
    max_tokens: MaxTokens = None


class Retrieve(Arguments):
    """Spec 003's canonical request, and the optional `syntax`."""

    query: Query
    index: Annotated[
        Any,
        WithJsonSchema({"type": "string", "description": "The knowledge base; 'default' is every folder."}),
    ] = "default"
    top_k: Count = 5
    filters: Annotated[
        Any,
        described(
            {"type": ["object", "string"]},
            'Fields that must all match exactly: {"title": "Guide"}; or text: \'price<20 -team:red\'.',
        ),
    ] = Field(default_factory=dict)
    search_method: Annotated[Any, choice("Which branches to use.", "semantic", "keyword", "hybrid")] = (
        "semantic"
    )
    query_preprocessing: Annotated[Any, choice("How the query is prepared.", "none", "normalize")] = "none"
    hybrid_alpha: Annotated[
        Any,
        WithJsonSchema(
            {
                "type": ["number", "null"],
                "minimum": 0,
                "maximum": 1,
                "description": "Weight of the semantic branch in hybrid search; default 0.5.",
            }
        ),
    ] = None
    syntax: Syntax = "plain"


def read_arguments(tool: str, kind: type[A], values: Mapping[str, Any]) -> A:
    """The arguments of a call, or an error that names the wrong one and the allowed values."""
    known = list(kind.model_fields)
    for name in values:
        if name not in known:
            close = get_close_matches(name, known, 1)
            hint = f"did you mean {close[0]!r}?" if close else f"it takes: {', '.join(known) or 'nothing'}"
            raise UsageError(f"{tool} has no argument {shown(name)}; {hint}", details={"parameter": name})
    try:
        return kind.model_validate(dict(values))
    except ValidationError as error:
        raise _usage_error(tool, error) from None


def _usage_error(tool: str, error: ValidationError) -> UsageError:
    first = error.errors(include_url=False)[0]
    name = ".".join(str(part) for part in first["loc"])
    details: dict[str, object] = {"parameter": name}
    if first["type"] == "missing":
        return UsageError(f"{tool} needs the argument {name!r}; give it", details=details)
    wanted = first["msg"].removeprefix("Input ").rstrip(".")
    return UsageError(f"{tool}: {name} is {shown(first['input'])}; it {wanted}", details=details)
