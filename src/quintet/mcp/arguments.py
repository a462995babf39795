"""What each MCP tool takes: published as JSON Schema, checked here or, where it says so, by the engine."""

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

# The engine checks these itself, with the codes and the sentences of every other interface.
Query = Annotated[
    Any, WithJsonSchema({"type": "string", "description": "What to look for; any text is safe."})
]


def whole_number(description: str, at_most: int) -> Any:
    """A count from 1, which the engine checks."""
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
READ_TOKENS = 20_000  # of a document whose size the reader cannot know
MaxTokens = Annotated[
    int | None,
    Field(ge=1, description="Cut whole results off the end so that the text stays below about this size."),
]


def left_out() -> Any:
    """A default that is not published, because it is not the same for every contract."""
    return Field(default_factory=lambda: None)


def choice(description: str, *names: str) -> Any:
    """A name out of a few, which the engine checks."""
    return WithJsonSchema({"type": "string", "enum": list(names), "description": description})


class Arguments(BaseModel):
    """Only what is declared is taken, and nothing is converted: "10" is not 10."""

    model_config = ConfigDict(extra="forbid", strict=True)

    def given(self, *names: str) -> dict[str, Any]:
        """Those of `names` that the caller set: the engine knows the defaults of the rest."""
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
        None, description="Several folders and files. Without path and paths: the server's working folder."
    )
    force: bool = Field(False, description="Read every file again, changed or not.")


class Search(Arguments):
    query: Query
    contract: Annotated[Any, choice("Whose ranking and result shape.", *CONTRACTS)] = HOUSE
    limit: Annotated[
        Any, whole_number("Results to return; left out, the contract's own number.", LIMIT_MAX)
    ] = left_out()
    mode: Annotated[
        Any,
        choice(
            "Which signals to use; lexical or keyword by contract. Left out, the contract's own; "
            "mcb has no modes.",
            "lexical",
            "keyword",
            "semantic",
            "hybrid",
        ),
    ] = left_out()
    filters: Annotated[
        Any,
        WithJsonSchema(
            {
                "type": ["string", "object"],
                "description": "What results must fulfil: 'path:docs/** lang:c -tag:draft', or an object "
                'such as {"path": "docs/**"}, {"or": [{"tag": "a"}, {"not": {"lang": "c"}}]}.',
            }
        ),
    ] = Field(default_factory=dict)
    params: dict[str, Any] = Field(
        default_factory=dict, description='Further parameters of the contract: {"semantic_weight": 0.5}.'
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
        description="A symbol by as much of its qualified name as it takes, a PATH:LINE, or a file's path.",
        min_length=1,
    )
    strategy: Annotated[
        Any,
        choice(
            "What calls it; what it calls, imports, extends or implements; or everything around it.",
            *get_args(Strategy),
        ),
    ] = "related"
    depth: Annotated[Any, whole_number("How many steps to go.", MAX_DEPTH)] = 1
    possible: bool = Field(False, description="Follow edges that are no more than a guess, too.")
    limit: Annotated[Any, whole_number("Neighbours to return.", MAX_LIMIT)] = 100
    max_tokens: MaxTokens = None


Text = Annotated[Any, WithJsonSchema({"type": "string", "minLength": 1, "description": "What to keep."})]
Kind = choice("What sort of memory.", *KINDS)
Names = {"type": "array", "items": {"type": "string", "minLength": 1}}


def described(schema: Mapping[str, Any], description: str) -> Any:
    """A value of this shape, which the engine checks."""
    return WithJsonSchema({**schema, "description": description})


class Remember(Arguments):
    text: Text
    kind: Annotated[Any, Kind] = "fact"
    tags: Annotated[Any, described(Names, "Words to find it by.")] = ()
    about: Annotated[
        Any,
        described(Names, "Paths, PATH:FIRST-LAST or symbols that it is about; recall says if they changed."),
    ] = ()
    session: Annotated[Any, described({"type": ["string", "null"]}, "The session it belongs to.")] = None
    metadata: Annotated[Object, Field(description="Anything else to keep with it.")] = Field(
        default_factory=dict
    )
    supersedes: Annotated[
        Any, described({"type": ["string", "null"]}, "The id of a memory that holds no longer.")
    ] = None


class Recall(Arguments):
    query: Query
    limit: Count = 10
    kind: Annotated[
        Any, described({"type": ["string", "null"], "enum": [*KINDS, None]}, "Only this kind.")
    ] = None
    tags: Annotated[Any, described(Names, "Only with all of these tags.")] = ()
    session: Annotated[Any, described({"type": ["string", "null"]}, "Only of this session.")] = None
    about: Annotated[Any, described({"type": ["string", "null"]}, "Only about this path or symbol.")] = None
    since: Annotated[Any, described({"type": ["integer", "null"]}, "Created then or later, Unix ms.")] = None
    until: Annotated[Any, described({"type": ["integer", "null"]}, "Created before that, Unix ms.")] = None
    include_superseded: Annotated[Any, described({"type": "boolean"}, "Also what no longer holds.")] = False
    max_tokens: MaxTokens = None


class SearchAll(Arguments):
    query: Query
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
    filters: Annotated[Object, Field(description='Exact matches that all must hold: {"title": "Guide"}.')] = (
        Field(default_factory=dict)
    )
    search_method: Annotated[Any, choice("Which branches to use.", "semantic", "keyword", "hybrid")] = (
        "semantic"
    )
    query_preprocessing: Annotated[Any, choice("What is done to the query first.", "none", "normalize")] = (
        "none"
    )
    hybrid_alpha: Annotated[
        Any,
        WithJsonSchema(
            {
                "type": ["number", "null"],
                "minimum": 0,
                "maximum": 1,
                "description": "Weight of the semantic branch in hybrid search; 0.5 if left out.",
            }
        ),
    ] = None
    syntax: Syntax = "plain"


def read_arguments(tool: str, kind: type[A], given: Mapping[str, Any]) -> A:
    """The arguments of a call, or an error that names the one that is wrong and what would be right."""
    known = list(kind.model_fields)
    for name in given:
        if name not in known:
            close = get_close_matches(name, known, 1)
            hint = f"did you mean {close[0]!r}?" if close else f"it takes: {', '.join(known) or 'nothing'}"
            raise UsageError(f"{tool} has no argument {shown(name)}; {hint}", details={"parameter": name})
    try:
        return kind.model_validate(dict(given))
    except ValidationError as error:
        raise _refused(tool, error) from None


def _refused(tool: str, error: ValidationError) -> UsageError:
    first = error.errors(include_url=False)[0]
    name = ".".join(str(part) for part in first["loc"])
    details: dict[str, object] = {"parameter": name}
    if first["type"] == "missing":
        return UsageError(f"{tool} needs the argument {name!r}; give it", details=details)
    wanted = first["msg"].removeprefix("Input ").rstrip(".")
    return UsageError(f"{tool}: {name} is {shown(first['input'])}; it {wanted}", details=details)
