"""An answer as people and models read it: the same results in few words, links to their files, a budget."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from mcp_types import ResourceLink

from quintet.model.tokens import tokens
from quintet.serving.views import View, of_base, place, placed, sure, views

if TYPE_CHECKING:
    from quintet.index import Index

LINKS_MAX = 20
PROBLEMS_SHOWN = 20
FILE_URI = "quintet://file/"
CHUNK_URI = "quintet://chunk/"


def search_text(contract: str, body: Mapping[str, Any]) -> str:
    """How sure the answer is; each result with its place, heading, score, reference and text; the notes."""
    shown = result_texts(contract, body)
    counted = f"{len(shown)} result{'' if len(shown) == 1 else 's'} [{body['status']}]"
    head = ", ".join(filter(None, [counted, sure(body)]))
    digest = [f"receipt {body['receipt']['digest']}"] if "receipt" in body else []
    unfilled = [] if "retrieval_calls" in body else _unfilled(body)  # that may be of a knowledge base
    return "\n\n".join([head, *unfilled, *shown, *_notes(body), *digest])


def _unfilled(body: Mapping[str, Any]) -> list[str]:
    """What to do where no query can find anything."""
    told = {
        "never_indexed": "nothing was indexed yet: call `reindex`, then ask again",
        "empty_index": "the index is empty: call `reindex` with what it should hold",
    }
    return [told[body["status"]]] if body["status"] in told else []


def result_texts(contract: str, body: Mapping[str, Any]) -> list[str]:
    """Among results of several roots a path begins with the name of its root, as `read` takes it too."""
    found = views(contract, body)
    if len({view.root for view in found}) > 1:
        found = [replace(view, path=f"{view.root}/{view.path}") for view in found]
    return [result_text(rank, view) for rank, view in enumerate(found, 1)]


def result_text(rank: int, view: View) -> str:
    heading = f" · {view.heading}" if view.heading else ""
    return f"{rank}. {view.where}{heading} (score {view.score:.4g}, id {view.reference})\n{view.content}"


def passages_text(body: Mapping[str, Any]) -> str:
    shown = [passage_text(one) for one in body["passages"]]
    return "\n\n".join([*(shown or [f"no passage at {body['reference']}"]), *_notes(body)])


def passage_text(passage: Mapping[str, Any]) -> str:
    where = place(passage["path"], passage["lines"], passage["page"])
    heading = f" · {passage['heading_path']}" if passage["heading_path"] else ""
    return f"{where}{heading} (id {passage['chunk_id']})\n{passage['content']}"


def related_text(body: Mapping[str, Any]) -> str:
    """What the walk started from, then a line a neighbour."""
    start, shown = body["start"], [neighbour_text(one) for one in body["neighbours"]]
    if not shown and not body["more"]:
        guesses = "" if body["possible"] else "; `possible` follows guesses too"
        shown = [f"nothing within {body['depth']} by {body['strategy']}{guesses}"]
    more = ["there are more; raise `limit`"] if body["more"] and not body["notes"] else []
    return "\n".join([f"{start['name']} {_placed(start)}", *shown, *more, *_notes(body)])


def neighbour_text(one: Mapping[str, Any]) -> str:
    """Distance, name and place, and the step that led there with how sure the way is and where it stands."""
    step = one["steps"][-1]
    way = f"{step['from']} {step['relation']} {step['to']} at {step['path']}:{step['line']}"
    return f"{one['distance']}. {one['name']} {_placed(one)}: {way} ({one['confidence']})"


def _placed(node: Mapping[str, Any]) -> str:
    first, last = node["lines"]
    return f"({node['kind']}, {node['path']}:{first}-{last})"


def cut_neighbours(body: Mapping[str, Any], max_tokens: int | None) -> dict[str, Any]:
    texts = [neighbour_text(one) for one in body["neighbours"]]
    kept = within_budget(texts, max_tokens)
    if kept == len(texts):
        return {**body, "notes": []}
    notes = [cut_note(kept, texts, max_tokens)]
    return {**body, "neighbours": body["neighbours"][:kept], "more": True, "notes": notes}


def remembered_text(body: Mapping[str, Any]) -> str:
    done = f"seen {body['seen']} times" if body["merged"] else "remembered"
    near = [f"near: {one['id']} ({one['by']} {one['similarity']:.2f}): {one['text']}" for one in body["near"]]
    return "\n".join([f"{body['id']} {done}", *near, *_notes(body)])


def memories_text(body: Mapping[str, Any]) -> str:
    """Each memory with its kind, id and text, until when it held, and what of its code changed."""
    shown = [memory_text(rank, one) for rank, one in enumerate(body["results"], 1)]
    head = f"{len(shown)} memor{'y' if len(shown) == 1 else 'ies'} [{body['status']}]"
    return "\n\n".join([head, *shown, *_notes(body)])


def memory_text(rank: int, memory: Mapping[str, Any]) -> str:
    lines = [f"{rank}. {memory['kind']} (score {memory['score']:.4g}, id {memory['id']})", memory["text"]]
    if memory["valid"]["until_ms"] is not None:
        lines.append(f"no longer holds; superseded by {memory['superseded_by'] or 'a memory that is gone'}")
    for one in memory["about"]:
        lines.append(f"about {one.get('symbol') or one['path']}: {one['state']}")
    return "\n".join(lines)


def cut_memories(body: dict[str, Any], max_tokens: int | None) -> dict[str, Any]:
    texts = [memory_text(rank, one) for rank, one in enumerate(body["results"], 1)]
    kept = within_budget(texts, max_tokens)
    if kept == len(texts):
        return body
    notes = [*body["notes"], cut_note(kept, texts, max_tokens)]
    return {**body, "results": body["results"][:kept], "notes": notes}


def ranked_texts(body: Mapping[str, Any]) -> list[str]:
    """Code and memory in their one order, which keeps that of each list."""
    code, memory = iter(views("mcb", {"results": body["code"]})), iter(body["memory"])
    return [
        result_text(rank, next(code)) if one["kind"] == "code" else memory_text(rank, next(memory))
        for rank, one in enumerate(body["hybrid_rank"], 1)
    ]


def search_all_text(body: Mapping[str, Any]) -> str:
    counts = f"{len(body['code'])} of code, {len(body['memory'])} remembered [{body['status']}]"
    return "\n\n".join([counts, *ranked_texts(body), *_notes(body)])


def cut_all(body: dict[str, Any], max_tokens: int | None) -> dict[str, Any]:
    """As many as fit of both together, from the front of their one order."""
    texts = ranked_texts(body)
    kept = within_budget(texts, max_tokens)
    if kept == len(texts):
        return body
    ranked = body["hybrid_rank"][:kept]
    counts = Counter(one["kind"] for one in ranked)
    lists = {kind: body[kind][: counts[kind]] for kind in ("code", "memory")}
    notes = [*body["notes"], cut_note(kept, texts, max_tokens)]
    return {**body, **lists, "hybrid_rank": ranked, "notes": notes}


def reindex_text(body: Mapping[str, Any]) -> str:
    done = (
        f"{body['indexed_files']} indexed, {body['skipped_files']} skipped, {body['removed_files']} removed"
    )
    lines = [f"{done}; {body['pending']} chunks still to be embedded by {body['embedding_model']}"]
    lines += [f"{one['path']}: {one['reason']}" for one in body["problems"][:PROBLEMS_SHOWN]]
    if len(body["problems"]) > PROBLEMS_SHOWN:
        lines.append(f"and {len(body['problems']) - PROBLEMS_SHOWN} more problems")
    return "\n".join(lines)


def _embedded(body: Mapping[str, Any]) -> str:
    return f"{body['embedded']} embedded by {body['embedder']}" if body["embedder"] else "text only"


def status_text(body: Mapping[str, Any]) -> str:
    lag, cache = body["lag"], body["cache"]
    unfilled = [] if body["roots"] else [f"nothing is indexed in {body['index']}: call `reindex`"]
    lines = [
        *unfilled,
        f"{body['files']} files, {body['chunks']} chunks, {_embedded(body)}",
        *(f"root {root['name']}: {root['location']}" for root in body["roots"]),
        f"on disk since: {lag['added']} new, {lag['changed']} changed, {lag['removed']} gone",
        *([f"{lag['refused']} files cannot be indexed"] if lag["refused"] else []),
        f"cache: {cache['entries']} searches kept, {cache['hits']} hits, {cache['misses']} misses",
    ]
    if body["tuned"]:
        lines.append("tuned: " + ", ".join(f"{name} {value:g}" for name, value in body["tuned"].items()))
    return "\n".join(lines)


def _notes(body: Mapping[str, Any]) -> list[str]:
    return [f"note: {note['message']} [{note['code']}]" for note in body["notes"]]


def within_budget(texts: Iterable[str], max_tokens: int | None) -> int:
    """How many of `texts` fit, from the front."""
    if max_tokens is None:
        return sum(1 for _ in texts)
    fitting, spent = 0, 0
    for text in texts:
        spent += tokens(text)
        if spent > max_tokens:
            break
        fitting += 1
    return fitting


def cut(contract: str, body: dict[str, Any], max_tokens: int | None) -> dict[str, Any]:
    """The body with as many whole results as fit, counts made true, and a note if any went."""
    texts = result_texts(contract, body)
    kept = within_budget(texts, max_tokens)
    if kept == len(texts):
        return body
    holder = body["retrieval_calls"][0] if "retrieval_calls" in body else body
    short = {**holder, "results": holder["results"][:kept]}
    short.update({name: kept for name in ("count", "result_count") if name in holder})
    notes = [*body["notes"], cut_note(kept, texts, max_tokens)]
    if "retrieval_calls" in body:
        return {**body, "retrieval_calls": [short], "notes": notes}
    return {**short, "notes": notes}


def cut_note(kept: int, texts: Sequence[str], max_tokens: int | None) -> dict[str, str]:
    message = (
        f"{kept} of {len(texts)} fit into {max_tokens} tokens; "
        f"all of them need about {sum(map(tokens, texts))}, the next one {tokens(texts[kept])}"
    )
    return {"code": "results_cut", "message": message}


def links(index: "Index", contract: str, body: Mapping[str, Any]) -> list[ResourceLink]:
    """One link to each file among the first results; none into a knowledge base, which nobody can `read`."""
    if of_base(body):
        return []
    found: dict[str, ResourceLink] = {}
    for view in (placed(index, view) for view in views(contract, body)[:LINKS_MAX]):
        path = f"{view.root}/{view.path}" if view.root else view.path
        found.setdefault(path, file_link(path, view.path))
    return list(found.values())


def file_link(path: str, name: str) -> ResourceLink:
    return ResourceLink(type="resource_link", uri=FILE_URI + quote(path, safe=""), name=name)
