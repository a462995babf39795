"""Results as text for people and models: short, with links to the files, within a budget of tokens."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from mcp_types import ResourceLink

from quintet.model.results import Note
from quintet.model.tokens import tokens
from quintet.serving.views import (
    View,
    confidence_text,
    is_from_base,
    place_text,
    result_views,
    with_place,
)

if TYPE_CHECKING:
    from quintet.index import Index

LINKS_MAX = 20
PROBLEMS_SHOWN = 20
FILE_URI = "quintet://file/"
CHUNK_URI = "quintet://chunk/"
EMPTY = {
    "never_indexed": "nothing was indexed yet: call `reindex`, then ask again",
    "empty_index": "the index is empty: call `reindex` with what it should hold",
}

Body = Mapping[str, Any]


def search_text(contract: str, body: Body) -> str:
    """The number of results and the confidence, the results, the notes."""
    results = result_texts(contract, body)
    count = f"{len(results)} result{'' if len(results) == 1 else 's'} [{body['status']}]"
    head = ", ".join(filter(None, [count, confidence_text(body)]))
    receipt = [f"receipt {body['receipt']['digest']}"] if "receipt" in body else []
    is_retrieval = "retrieval_calls" in body  # perhaps of a knowledge base, which `reindex` does not fill
    advice = [] if is_retrieval or body["status"] not in EMPTY else [EMPTY[body["status"]]]
    return "\n\n".join([head, *advice, *results, *_notes(body), *receipt])


def result_texts(contract: str, body: Body) -> list[str]:
    """If the results come from several roots, each path begins with the name of its root."""
    views = result_views(contract, body)
    if len({view.root for view in views}) > 1:
        views = [replace(view, path=f"{view.root}/{view.path}") for view in views]
    return [result_text(rank, view) for rank, view in enumerate(views, 1)]


def result_text(rank: int, view: View) -> str:
    heading = f" · {view.heading}" if view.heading else ""
    return f"{rank}. {view.where}{heading} (score {view.score:.4g}, id {view.reference})\n{view.content}"


def passages_text(body: Body) -> str:
    passages = [passage_text(passage) for passage in body["passages"]]
    return "\n\n".join([*(passages or [f"no passage at {body['reference']}"]), *_notes(body)])


def passage_text(passage: Mapping[str, Any]) -> str:
    where = place_text(passage["path"], passage["lines"], passage["page"])
    heading = f" · {passage['heading_path']}" if passage["heading_path"] else ""
    return f"{where}{heading} (id {passage['chunk_id']})\n{passage['content']}"


def related_text(body: Body) -> str:
    """The start of the walk, then one line for each neighbour."""
    start, lines = body["start"], [neighbour_text(neighbour) for neighbour in body["neighbours"]]
    if not lines and not body["more"]:
        guesses = "" if body["possible"] else "; `possible` follows guesses too"
        lines = [f"nothing within {body['depth']} by {body['strategy']}{guesses}"]
    more = ["there are more; raise `limit`"] if body["more"] and not body["notes"] else []
    return "\n".join([f"{start['name']} {_node_place(start)}", *lines, *more, *_notes(body)])


def neighbour_text(neighbour: Mapping[str, Any]) -> str:
    """Distance, name and place, and the last step of the path with its source line and its confidence."""
    step = neighbour["steps"][-1]
    edge = f"{step['from']} {step['relation']} {step['to']} at {step['path']}:{step['line']}"
    node = f"{neighbour['name']} {_node_place(neighbour)}"
    return f"{neighbour['distance']}. {node}: {edge} ({neighbour['confidence']})"


def _node_place(node: Mapping[str, Any]) -> str:
    first, last = node["lines"]
    return f"({node['kind']}, {node['path']}:{first}-{last})"


def remembered_text(body: Body) -> str:
    action = f"seen {body['seen']} times" if body["merged"] else "remembered"
    near = [
        f"near: {memory['id']} ({memory['by']} {memory['similarity']:.2f}): {memory['text']}"
        for memory in body["near"]
    ]
    return "\n".join([f"{body['id']} {action}", *near, *_notes(body)])


def memories_text(body: Body) -> str:
    memories = memory_texts(body)
    head = f"{len(memories)} memor{'y' if len(memories) == 1 else 'ies'} [{body['status']}]"
    return "\n\n".join([head, *memories, *_notes(body)])


def memory_texts(body: Body) -> list[str]:
    return [memory_text(rank, memory) for rank, memory in enumerate(body["results"], 1)]


def memory_text(rank: int, memory: Mapping[str, Any]) -> str:
    """Kind, id and text; whether the memory is still valid; whether its subjects changed."""
    lines = [f"{rank}. {memory['kind']} (score {memory['score']:.4g}, id {memory['id']})", memory["text"]]
    if memory["valid"]["until_ms"] is not None:
        lines.append(f"no longer valid; superseded by {memory['superseded_by'] or 'a memory that is gone'}")
    for subject in memory["about"]:
        lines.append(f"about {subject.get('symbol') or subject['path']}: {subject['state']}")
    return "\n".join(lines)


def search_all_text(body: Body) -> str:
    counts = f"{len(body['code'])} of code, {len(body['memory'])} remembered [{body['status']}]"
    return "\n\n".join([counts, *ranked_texts(body), *_notes(body)])


def ranked_texts(body: Body) -> list[str]:
    """Code and memory in the order of `hybrid_rank`, which keeps the order of each list."""
    code, memory = iter(result_views("mcb", {"results": body["code"]})), iter(body["memory"])
    return [
        result_text(rank, next(code)) if item["kind"] == "code" else memory_text(rank, next(memory))
        for rank, item in enumerate(body["hybrid_rank"], 1)
    ]


def reindex_text(body: Body) -> str:
    counts = (
        f"{body['indexed_files']} indexed, {body['skipped_files']} skipped, {body['removed_files']} removed"
    )
    lines = [f"{counts}; {body['pending']} chunks still to be embedded by {body['embedding_model']}"]
    lines += [f"roots: {', '.join(body['roots'])}"]
    lines += [f"{problem['path']}: {problem['reason']}" for problem in body["problems"][:PROBLEMS_SHOWN]]
    if len(body["problems"]) > PROBLEMS_SHOWN:
        lines.append(f"and {len(body['problems']) - PROBLEMS_SHOWN} more problems")
    return "\n".join(lines)


def status_text(body: Body) -> str:
    lag, cache = body["lag"], body["cache"]
    empty = [] if body["roots"] else [f"nothing is indexed in {body['index']}: call `reindex`"]
    embedded = f"{body['embedded']} embedded by {body['embedder']}" if body["embedder"] else "text only"
    lines = [
        *empty,
        f"{body['files']} files, {body['chunks']} chunks, {embedded}",
        *(f"root {root['name']}: {root['location']}" for root in body["roots"]),
        f"changes on disk: {lag['added']} new, {lag['changed']} changed, {lag['removed']} gone",
        *([f"{lag['refused']} files cannot be indexed"] if lag["refused"] else []),
        f"cache: {cache['entries']} searches cached, {cache['hits']} hits, {cache['misses']} misses",
    ]
    if body["tuned"]:
        lines.append("tuned: " + ", ".join(f"{name} {value:g}" for name, value in body["tuned"].items()))
    return "\n".join(lines)


def _notes(body: Body) -> list[str]:
    return [f"note: {note['message']} [{note['code']}]" for note in body["notes"]]


def within_budget(texts: Sequence[str], max_tokens: int | None) -> tuple[int, list[Note]]:
    """How many of `texts` fit, from the first on, and a note if some do not."""
    if max_tokens is None:
        return len(texts), []
    count, spent = 0, 0
    for text in texts:
        spent += tokens(text)
        if spent > max_tokens:
            break
        count += 1
    return count, [] if count == len(texts) else [_cut_note(count, texts, max_tokens)]


def _cut_note(count: int, texts: Sequence[str], max_tokens: int) -> Note:
    message = (
        f"{count} of {len(texts)} fit into {max_tokens} tokens; "
        f"all of them need about {sum(map(tokens, texts))}, the next one {tokens(texts[count])}"
    )
    return {"code": "results_cut", "message": message}


def cut_results(contract: str, body: dict[str, Any], max_tokens: int | None) -> dict[str, Any]:
    """The body with as many whole results as fit, the right counts, and a note if any are left out."""
    count, notes = within_budget(result_texts(contract, body), max_tokens)
    if not notes:
        return body
    holder = body["retrieval_calls"][0] if "retrieval_calls" in body else body
    counts = {name: count for name in ("count", "result_count") if name in holder}
    short = {**holder, "results": holder["results"][:count], **counts}
    notes = [*body["notes"], *notes]
    if "retrieval_calls" in body:
        return {**body, "retrieval_calls": [short], "notes": notes}
    return {**short, "notes": notes}


def cut_memories(body: dict[str, Any], max_tokens: int | None) -> dict[str, Any]:
    count, notes = within_budget(memory_texts(body), max_tokens)
    return {**body, "results": body["results"][:count], "notes": [*body["notes"], *notes]}


def cut_neighbours(body: Body, max_tokens: int | None) -> dict[str, Any]:
    texts = [neighbour_text(neighbour) for neighbour in body["neighbours"]]
    count, notes = within_budget(texts, max_tokens)
    more = body["more"] or bool(notes)
    return {**body, "neighbours": body["neighbours"][:count], "more": more, "notes": notes}


def cut_all(body: dict[str, Any], max_tokens: int | None) -> dict[str, Any]:
    """As many items of code and memory as fit, from the first of `hybrid_rank` on."""
    count, notes = within_budget(ranked_texts(body), max_tokens)
    ranked = body["hybrid_rank"][:count]
    counts = Counter(item["kind"] for item in ranked)
    lists = {kind: body[kind][: counts[kind]] for kind in ("code", "memory")}
    return {**body, **lists, "hybrid_rank": ranked, "notes": [*body["notes"], *notes]}


def result_links(index: "Index", contract: str, body: Body) -> list[ResourceLink]:
    """Links to the files of the first results. Documents of a knowledge base have none: `read` cannot open
    them."""
    if is_from_base(body):
        return []
    views = [with_place(index, view) for view in result_views(contract, body)[:LINKS_MAX]]
    return _links((f"{view.root}/{view.path}" if view.root else view.path, view.path) for view in views)


def file_links(places: Iterable[Mapping[str, Any]]) -> list[ResourceLink]:
    """Links to the files of passages or code nodes."""
    return _links((f"{place['root']}/{place['path']}", place["path"]) for place in places)


def _links(files: Iterable[tuple[str, str]]) -> list[ResourceLink]:
    """One link for each file, from pairs of its full path and its name."""
    names: dict[str, str] = {}
    for path, name in files:
        names.setdefault(path, name)
    return [
        ResourceLink(type="resource_link", uri=FILE_URI + quote(path, safe=""), name=name)
        for path, name in names.items()
    ]
