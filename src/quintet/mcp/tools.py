"""The MCP tools. Each makes one call to the engine and returns body, text and links."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NotRequired, TypedDict

from mcp_types import ResourceLink, Tool, ToolAnnotations

from quintet.codegraph.related import RelatedFields
from quintet.contracts.knowledge import KnowledgeBody
from quintet.contracts.rifflux import RiffluxBody
from quintet.indexing.run import Progress
from quintet.mcp import arguments, text
from quintet.memory import Remembered
from quintet.memory.contract import MemoryBody
from quintet.model.results import AnswerStatus, Note
from quintet.model.schema import Object, Probability, schema_of
from quintet.query.search import Response
from quintet.receipts.receipt import WithReceipt
from quintet.serving.results import IndexFolder, PassageFields, ReindexFields, SearchAllBody, passage_fields
from quintet.serving.shared_index import SharedIndex
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

    def listed(self) -> Tool:
        return Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=self.takes.model_json_schema(),
            output_schema=schema_of(*self.gives, closed=False),
            annotations=ToolAnnotations(
                read_only_hint=not self.writes,
                destructive_hint=False,  # the index can always be rebuilt from the files
                idempotent_hint=self.idempotent,
                open_world_hint=False,
            ),
        )


class SearchBody(TypedDict):
    """The body of the chosen contract; the house ranking has query, mode, confidence and results."""

    query: NotRequired[str]
    mode: NotRequired[str]
    confidence: NotRequired[Probability | None]
    results: NotRequired[list[Object]]
    retrieval_calls: NotRequired[list[Object]]


class ReadBody(TypedDict):
    reference: str
    passages: list[PassageFields]


class Notes(TypedDict):
    notes: list[Note]


def search_rifflux(shared: SharedIndex, call: arguments.SearchRifflux, progress: Progress) -> ToolResult:
    params = call.given("top_k", "mode", "syntax")
    response = shared.search(call.query, "rifflux", params, db_path=call.db_path)
    return _search_result(None if call.db_path else shared, "rifflux", response, None)


def search(shared: SharedIndex, call: arguments.Search, progress: Progress) -> ToolResult:
    params = {**call.params, **call.given("limit", "mode", "filters")}
    response = shared.search(call.query, call.contract, params, receipt=call.receipt)
    return _search_result(shared, call.contract, response, call.max_tokens)


def retrieve(shared: SharedIndex, call: arguments.Retrieve, progress: Progress) -> ToolResult:
    names = ("index", "top_k", "filters", "search_method", "query_preprocessing", "hybrid_alpha", "syntax")
    response = shared.search(call.query, "knowledge", call.given(*names))
    return _search_result(shared, "knowledge", response, None)


def _search_result(
    shared: SharedIndex | None, contract: str, response: Response, max_tokens: int | None
) -> ToolResult:
    body = text.cut_results(contract, response.wire(), max_tokens)
    links = text.result_links(shared.index, contract, body) if shared else []
    return ToolResult(body, text.search_text(contract, body), links)


def read(shared: SharedIndex, call: arguments.Read, progress: Progress) -> ToolResult:
    passages = [passage_fields(passage) for passage in shared.index.get(call.reference)]
    texts = [text.passage_text(passage) for passage in passages]
    count, notes = text.within_budget(texts, call.max_tokens)
    body = {"reference": call.reference, "passages": passages[:count], "notes": notes}
    return ToolResult(body, text.passages_text(body), text.file_links(passages))


def related(shared: SharedIndex, call: arguments.Related, progress: Progress) -> ToolResult:
    symbols = shared.index.related(call.reference, **call.given("strategy", "depth", "possible", "limit"))
    body = text.cut_neighbours(symbols.wire(), call.max_tokens)
    nodes = [body["start"], *body["neighbours"]][: text.LINKS_MAX]
    return ToolResult(body, text.related_text(body), text.file_links(nodes))


def remember(shared: SharedIndex, call: arguments.Remember, progress: Progress) -> ToolResult:
    names = ("kind", "tags", "about", "session", "metadata", "supersedes")
    body = asdict(shared.index.memory.remember(call.text, **call.given(*names)))
    return ToolResult(body, text.remembered_text(body))


def recall(shared: SharedIndex, call: arguments.Recall, progress: Progress) -> ToolResult:
    names = ("limit", "kind", "tags", "session", "about", "since", "until", "include_superseded")
    response = shared.index.memory.recall(call.query, **call.given(*names))
    body = text.cut_memories(response.wire(), call.max_tokens)
    return ToolResult(body, text.memories_text(body))


def search_all(shared: SharedIndex, call: arguments.SearchAll, progress: Progress) -> ToolResult:
    response = shared.search_all(call.query, call.code, call.memory)
    body = text.cut_all(response.wire(), call.max_tokens)
    links = text.result_links(shared.index, "mcb", {"results": body["code"]})
    return ToolResult(body, text.search_all_text(body), links)


def status(shared: SharedIndex, call: arguments.Status, progress: Progress) -> ToolResult:
    body = {"index": str(shared.index.folder), **asdict(shared.index.status())}
    return ToolResult(body, text.status_text(body))


def reindex(shared: SharedIndex, call: arguments.Reindex, progress: Progress) -> ToolResult:
    targets = shared.targets(call.path, call.paths)
    body = shared.reindex(targets, force=call.force, progress=progress).wire()
    return ToolResult(body, text.reindex_text(body))


TOOLS: Mapping[str, McpTool] = {
    tool.name: tool
    for tool in (
        McpTool(
            "search",
            "Search by words and meaning",
            "Find passages of the indexed folders by words and by meaning, best first, with the score of "
            "each signal. Start here. `contract` chooses another published ranking with its own result "
            "shape.",
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
            "Find the callers of a symbol, its dependencies, or everything around it, nearest first. Each "
            "step has its source line and its confidence. It finds what a text search cannot. "
            "If several symbols have the name, the error lists all of them.",
            arguments.Related,
            (RelatedFields, Notes),
            related,
        ),
        McpTool(
            "remember",
            "Remember something for later",
            "Remember a decision, fact, preference, error, summary, piece of code or task. Name in `about` "
            "the files or symbols it is about: recall then says whether they changed. The same text is "
            "stored once; `near` lists memories that say almost the same. `supersedes` names the memory "
            "that this one replaces.",
            arguments.Remember,
            (Remembered,),
            remember,
            writes=True,
            idempotent=False,  # each call counts the memory once more
        ),
        McpTool(
            "recall",
            "Find memories",
            "Find memories by words and by meaning, best first, with the time they were valid and whether "
            "their subjects changed since. Look here before you work something out again.",
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
            "over a knowledge base, with exact-match filters.",
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
        ),
    )
}
