"""The MCP tools. Each makes one call to the engine and returns body, text and links."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NotRequired, TypedDict

from mcp_types import ResourceLink, Tool, ToolAnnotations

from quintet.codegraph.related import RelatedFields
from quintet.contracts.knowledge import KnowledgeBody
from quintet.contracts.rifflux import RiffluxBody
from quintet.errors import UsageError
from quintet.index import Index
from quintet.indexing.run import Progress, no_progress
from quintet.mcp import arguments, budget, text
from quintet.mcp.links import LINKS_MAX, file_links, view_links
from quintet.memory import Remembered
from quintet.memory.contract import MemoryBody
from quintet.model.results import AnswerStatus, Note
from quintet.model.schema import Object, Probability, Schema, schema_of
from quintet.query.search import Response
from quintet.receipts.receipt import WithReceipt
from quintet.serving.reply import Reply
from quintet.serving.results import IndexFolder, ReadBody, ReindexFields, SearchAllBody, passage_fields
from quintet.serving.shared_index import SharedIndex
from quintet.serving.views import is_from_base, result_views, views_with_evidence, with_place
from quintet.status import IndexStatus

Run = Callable[[SharedIndex, Any, Progress], "ToolResult"]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool: the structured body, the same as text, and links to the files in it."""

    body: Mapping[str, Any]
    text: str
    links: list[ResourceLink] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool: its name and description, its arguments and result types, and its function."""

    name: str
    title: str
    description: str
    takes: type[arguments.Arguments]
    gives: tuple[Any, ...]  # the types whose fields the body has
    run: Run
    writes: bool = False
    idempotent: bool = True
    in_front: bool = False  # it needs the server's own process

    def runs_in_reader(self, values: Mapping[str, Any]) -> bool:
        """Other indexes, by `db_path`, are open in the server's own process alone."""
        return not (self.writes or self.in_front or values.get("db_path"))

    def listed(self) -> Tool:
        return Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=self.takes.listed(),
            output_schema=_outline(schema_of(*self.gives, closed=False)),
            annotations=ToolAnnotations(
                read_only_hint=not self.writes,
                destructive_hint=False,  # the index can always be rebuilt from the files
                idempotent_hint=self.idempotent,
                open_world_hint=False,
            ),
        )


def _outline(schema: Schema) -> Schema:
    """The fields of an answer with their types, without what is inside them: every agent reads the tool list
    before its first call. `/openapi.json` describes the same bodies in full."""
    kinds = {name: part.get("type") for name, part in schema["properties"].items()}
    return {
        "type": "object",
        "properties": {name: {"type": kind} if kind else {} for name, kind in kinds.items()},
    }


class SearchBody(TypedDict):
    """The body of the chosen contract; the house ranking has query, mode, confidence and results."""

    query: NotRequired[str]
    mode: NotRequired[str]
    confidence: NotRequired[Probability | None]
    results: NotRequired[list[Object]]
    retrieval_calls: NotRequired[list[Object]]


class Notes(TypedDict):
    notes: list[Note]


def search_rifflux(shared: SharedIndex, call: arguments.SearchRifflux, progress: Progress) -> ToolResult:
    params = call.given("top_k", "mode", "syntax")
    response = shared.search(call.query, "rifflux", params, db_path=call.db_path)
    index = shared.index_at(call.db_path)
    return _search_result(index, "rifflux", response, None, links=index is shared.index)


def search(shared: SharedIndex, call: arguments.Search, progress: Progress) -> ToolResult:
    params = {**call.params, **call.given("limit", "mode", "filters")}
    response = shared.search(call.query, call.contract, params, receipt=call.receipt)
    return _search_result(shared.index, call.contract, response, call.max_tokens)


def retrieve(shared: SharedIndex, call: arguments.Retrieve, progress: Progress) -> ToolResult:
    names = ("index", "top_k", "filters", "search_method", "query_preprocessing", "hybrid_alpha", "syntax")
    response = shared.search(call.query, "knowledge", call.given(*names))
    return _search_result(shared.index, "knowledge", response, None)


def _search_result(
    index: Index, contract: str, response: Response, max_tokens: int | None, *, links: bool = True
) -> ToolResult:
    """Documents of a knowledge base have no places and no links: `read` cannot open them."""
    if is_from_base(response.body):
        views, places = result_views(contract, response.body), text.Places(())
    else:
        views = [with_place(index, view) for view in views_with_evidence(contract, response)]
        places = text.Places(index.roots())
    texts = text.result_texts(views, places)
    body = budget.cut_results(response.wire(), texts, max_tokens)
    shown = views[: len(result_views(contract, body))]
    to_files = view_links(shown) if links and places.roots else []
    return ToolResult(body, text.search_text(body, shown, texts[: len(shown)], places), to_files)


def read(shared: SharedIndex, call: arguments.Read, progress: Progress) -> ToolResult:
    passages = [passage_fields(passage) for passage in shared.index.get(call.reference)]
    places = text.Places(shared.roots())
    texts = text.passage_texts(passages, places)
    count, notes = budget.within_budget(texts, call.max_tokens)
    body = {"reference": call.reference, "passages": passages[:count], "notes": notes}
    return ToolResult(body, text.passages_text(body, texts, places), file_links(passages))


def related(shared: SharedIndex, call: arguments.Related, progress: Progress) -> ToolResult:
    symbols = shared.index.related(call.reference, **call.given("strategy", "depth", "possible", "limit"))
    whole, places = symbols.wire(), text.Places(shared.roots())
    texts = [text.neighbour_text(neighbour, places) for neighbour in whole["neighbours"]]
    body = budget.cut_neighbours(whole, texts, call.max_tokens)
    nodes = [body["start"], *body["neighbours"]][:LINKS_MAX]
    return ToolResult(body, text.related_text(body, texts, places), file_links(nodes))


def remember(shared: SharedIndex, call: arguments.Remember, progress: Progress) -> ToolResult:
    names = ("kind", "tags", "about", "session", "metadata", "supersedes")
    body = asdict(shared.index.memory.remember(call.text, **call.given(*names)))
    return ToolResult(body, text.remembered_text(body))


def recall(shared: SharedIndex, call: arguments.Recall, progress: Progress) -> ToolResult:
    names = ("limit", "kind", "tags", "session", "about", "since", "until", "include_superseded")
    whole = shared.index.memory.recall(call.query, **call.given(*names)).wire()
    texts = text.memory_texts(whole["results"], text.Places(shared.roots()))
    body = budget.cut_memories(whole, texts, call.max_tokens)
    return ToolResult(body, text.memories_text(body, texts))


def search_all(shared: SharedIndex, call: arguments.SearchAll, progress: Progress) -> ToolResult:
    whole = shared.search_all(call.query, call.context, call.code, call.memory).wire()
    places = text.Places(shared.roots())
    views = [with_place(shared.index, view) for view in result_views("mcb", {"results": whole["code"]})]
    texts = text.ranked_texts(whole, views, places)
    body = budget.cut_all(whole, texts, call.max_tokens)
    links = view_links(views[: len(body["code"])])
    return ToolResult(body, text.search_all_text(body, views, texts, places), links)


def status(shared: SharedIndex, call: arguments.Status, progress: Progress) -> ToolResult:
    body = {"index": str(shared.index.folder), **asdict(shared.status())}
    return ToolResult(body, text.status_text(body))


def reindex(shared: SharedIndex, call: arguments.Reindex, progress: Progress) -> ToolResult:
    targets = shared.targets(call.path, call.paths)
    body = shared.reindex(targets, force=call.force, progress=progress).wire()
    return ToolResult(body, text.reindex_text(body))


def run_read(shared: SharedIndex, name: str, values: dict[str, Any]) -> Reply:
    """A tool that only reads, in a reader process: the result as JSON that loses nothing."""
    tool = TOOLS[name]
    result = tool.run(shared, arguments.read_arguments(name, tool.takes, values), no_progress)
    links = [link.model_dump(mode="json") for link in result.links]
    return Reply(json.dumps([result.body, result.text, links]).encode())


def read_result(reply: Reply) -> ToolResult:
    body, content, links = json.loads(reply.content)
    return ToolResult(body, content, [ResourceLink.model_validate(link) for link in links])


TOOLS: Mapping[str, McpTool] = {
    tool.name: tool
    for tool in (
        McpTool(
            "search",
            "Search by words and meaning",
            "Find passages of the indexed folders by words and by meaning, best first. Start here.",
            arguments.Search,
            (SearchBody, AnswerStatus, WithReceipt),
            search,
        ),
        McpTool(
            "read",
            "Read passages whole",
            "Read a search result whole: a chunk by its id, a document by its path, or PATH:FIRST-LAST.",
            arguments.Read,
            (ReadBody, Notes),
            read,
        ),
        McpTool(
            "related",
            "Walk the code graph",
            "Find the callers of a symbol, its dependencies, or everything around it, nearest first, with "
            "source lines. If several symbols have the name, the error lists them.",
            arguments.Related,
            (RelatedFields, Notes),
            related,
        ),
        McpTool(
            "remember",
            "Remember something for later",
            "Remember something. The same text is stored once; `near` lists memories that say almost the "
            "same.",
            arguments.Remember,
            (Remembered,),
            remember,
            writes=True,
            idempotent=False,  # each call counts the memory once more
        ),
        McpTool(
            "recall",
            "Find memories",
            "Find memories, best first, and whether what they are about changed since. Look here before you "
            "work something out again.",
            arguments.Recall,
            (MemoryBody, AnswerStatus),
            recall,
        ),
        McpTool(
            "search_all",
            "Search code and memory together",
            "Find code and memories in one ranking: `code` as contract mcb answers, `memory` as `recall` "
            "does, and `hybrid_rank` with both in one order.",
            arguments.SearchAll,
            (SearchAllBody, AnswerStatus),
            search_all,
        ),
        McpTool(
            "search_rifflux",
            "Search (Rifflux contract)",
            "Search by the Rifflux contract: BM25 and cosine fused by RRF, each result with its breakdown.",
            arguments.SearchRifflux,
            (RiffluxBody, AnswerStatus),
            search_rifflux,
        ),
        McpTool(
            "retrieve",
            "Retrieve (knowledge contract)",
            "Retrieve by the knowledge contract's canonical request: semantic, keyword or hybrid branches "
            "over a knowledge base.",
            arguments.Retrieve,
            (KnowledgeBody, AnswerStatus),
            retrieve,
        ),
        McpTool(
            "reindex",
            "Bring the index up to date",
            "Index a folder or file (`path`), several (`paths`), or the roots in the working folder. Only "
            "changed files are read. Returns when the text is searchable; `pending` counts vectors still "
            "to come.",
            arguments.Reindex,
            (ReindexFields,),
            reindex,
            writes=True,
        ),
        McpTool(
            "status",
            "What is indexed",
            "Show what is indexed, with which embedder, and how many files changed on disk since.",
            arguments.Status,
            (IndexStatus, IndexFolder),
            status,
            in_front=True,
        ),
    )
}

Toolset = Literal["agent", "full"]
AGENT = ("search", "read", "related", "remember", "recall", "reindex", "status")
TOOLSETS: Mapping[Toolset, tuple[str, ...]] = {"agent": AGENT, "full": tuple(TOOLS)}


def toolset_named(name: str) -> Toolset:
    for toolset in TOOLSETS:
        if name == toolset:
            return toolset
    raise UsageError(f"--toolset is {name!r}; it must be one of: {', '.join(TOOLSETS)}")
