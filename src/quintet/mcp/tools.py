"""The MCP tools. Each reads its arguments, makes one call to the engine and gives body, text and links."""

from collections.abc import Callable, Iterable, Mapping
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

Run = Callable[[SharedIndex, Any, Progress], "Answer"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool gives: the structured body, the same as text, and the files it speaks of."""

    body: Mapping[str, Any]
    text: str
    links: list[ResourceLink] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool: its name and words, what it takes and gives, and what it does."""

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
                destructive_hint=False,  # the index is derived: what leaves it can be made again
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


def search_rifflux(shared: SharedIndex, given: arguments.SearchRifflux, progress: Progress) -> Answer:
    params = given.given("top_k", "mode", "syntax")
    response = shared.search(given.query, "rifflux", params, db_path=given.db_path)
    return _found(None if given.db_path else shared, "rifflux", response, None)


def search(shared: SharedIndex, given: arguments.Search, progress: Progress) -> Answer:
    params = given.given("limit", "mode", "filters")
    response = shared.search(given.query, given.contract, {**given.params, **params}, receipt=given.receipt)
    return _found(shared, given.contract, response, given.max_tokens)


def retrieve(shared: SharedIndex, given: arguments.Retrieve, progress: Progress) -> Answer:
    names = ("index", "top_k", "filters", "search_method", "query_preprocessing", "hybrid_alpha", "syntax")
    return _found(shared, "knowledge", shared.search(given.query, "knowledge", given.given(*names)), None)


def _found(shared: SharedIndex | None, contract: str, response: Response, max_tokens: int | None) -> Answer:
    body = text.cut(contract, response.wire(), max_tokens)
    links = text.links(shared.index, contract, body) if shared else []
    return Answer(body, text.search_text(contract, body), links)


def read(shared: SharedIndex, given: arguments.Read, progress: Progress) -> Answer:
    passages = [passage_fields(one) for one in shared.index.get(given.reference)]
    texts = [text.passage_text(one) for one in passages]
    kept = text.within_budget(texts, given.max_tokens)
    notes = [] if kept == len(texts) else [text.cut_note(kept, texts, given.max_tokens)]
    body = {"reference": given.reference, "passages": passages[:kept], "notes": notes}
    return Answer(body, text.passages_text(body), _file_links(passages))


def _file_links(places: Iterable[Mapping[str, Any]]) -> list[ResourceLink]:
    files = {f"{one['root']}/{one['path']}": one["path"] for one in places}
    return [text.file_link(*file) for file in files.items()]


def related(shared: SharedIndex, given: arguments.Related, progress: Progress) -> Answer:
    found = shared.index.related(given.reference, **given.given("strategy", "depth", "possible", "limit"))
    body = text.cut_neighbours(found.wire(), given.max_tokens)
    nodes = [body["start"], *body["neighbours"]][: text.LINKS_MAX]
    return Answer(body, text.related_text(body), _file_links(nodes))


def remember(shared: SharedIndex, given: arguments.Remember, progress: Progress) -> Answer:
    names = ("kind", "tags", "about", "session", "metadata", "supersedes")
    body = asdict(shared.index.memory.remember(given.text, **given.given(*names)))
    return Answer(body, text.remembered_text(body))


def recall(shared: SharedIndex, given: arguments.Recall, progress: Progress) -> Answer:
    names = ("limit", "kind", "tags", "session", "about", "since", "until", "include_superseded")
    body = text.cut_memories(
        shared.index.memory.recall(given.query, **given.given(*names)).wire(), given.max_tokens
    )
    return Answer(body, text.memories_text(body))


def search_all(shared: SharedIndex, given: arguments.SearchAll, progress: Progress) -> Answer:
    found = shared.search_all(given.query, given.code, given.memory)
    body = text.cut_all(found.wire(), given.max_tokens)
    return Answer(
        body, text.search_all_text(body), text.links(shared.index, "mcb", {"results": body["code"]})
    )


def status(shared: SharedIndex, given: arguments.Status, progress: Progress) -> Answer:
    body = {"index": str(shared.index.folder), **asdict(shared.index.status())}
    return Answer(body, text.status_text(body))


def reindex(shared: SharedIndex, given: arguments.Reindex, progress: Progress) -> Answer:
    body = shared.reindex(given.path, given.paths, force=given.force, progress=progress).wire()
    return Answer(body, text.reindex_text(body))


TOOLS: Mapping[str, McpTool] = {
    tool.name: tool
    for tool in (
        McpTool(
            "search",
            "Search by words and meaning",
            "Find passages of the indexed folders by words and by meaning, best first, with what each signal "
            "gave. Start here. `contract` chooses another published ranking with its own result shape.",
            arguments.Search,
            (SearchBody, AnswerStatus, WithReceipt),
            search,
        ),
        McpTool(
            "read",
            "Read passages whole",
            "Read what search found: a chunk by its id, a whole document by its path, or PATH:FIRST-LAST.",
            arguments.Read,
            (ReadBody, Notes),
            read,
        ),
        McpTool(
            "related",
            "Walk the code graph",
            "Find what calls a symbol, what it needs, or everything around it, nearest first, with each "
            "step, where it stands in the source and how sure it is. It finds what a text search cannot. "
            "A name that several symbols have is refused with all of them.",
            arguments.Related,
            (RelatedFields, Notes),
            related,
        ),
        McpTool(
            "remember",
            "Keep something worth knowing later",
            "Keep a decision, fact, preference, error, summary, piece of code or task for later. Name in "
            "`about` the files or symbols it is about: recall then says when they changed. The same text "
            "again is the same memory; `near` lists memories that say almost the same. `supersedes` names "
            "the one that holds no longer.",
            arguments.Remember,
            (Remembered,),
            remember,
            writes=True,
            idempotent=False,  # each time it is seen once more
        ),
        McpTool(
            "recall",
            "Find what was remembered",
            "Find memories by words and by meaning, best first, with when they held and whether what they "
            "are about changed since. Ask here before working something out again.",
            arguments.Recall,
            (MemoryBody, AnswerStatus),
            recall,
        ),
        McpTool(
            "search_all",
            "Search code and memory together",
            "Find code and what was remembered about it in one ranking: `code` as contract mcb answers, "
            "`memory` as `recall` does, and `hybrid_rank` with both in one order.",
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
            "Index a folder or file (`path`), several (`paths`), or the server's working folder. Only what "
            "changed is read. Returns when the text is searchable; vectors follow, `pending` says how many.",
            arguments.Reindex,
            (ReindexFields,),
            reindex,
            writes=True,
        ),
        McpTool(
            "status",
            "What is indexed",
            "Tell what is indexed, by which embedder, and how far the disk has moved on since.",
            arguments.Status,
            (IndexStatus, IndexFolder),
            status,
        ),
    )
}
