"""Results as text for people and models: short, and what files say apart from what Quintet says.

Passages and memories stand between fences; paths, headings and names stand on one line, quoted where needed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quintet.model.fence import fence_for, fenced, name, one_line, quoted
from quintet.ports.reading import Root
from quintet.serving.views import View, confidence_text, printed_path

PROBLEMS_SHOWN = 20
EMPTY = {
    "never_indexed": "nothing was indexed yet: call `reindex`, then ask again",
    "empty_index": "the index is empty: call `reindex` with what it should hold",
}

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Places:
    """How the files of an index are called, so that every tool finds them, and where they are on disk."""

    roots: Sequence[Root]

    def path(self, root: str | None, path: str) -> str:
        return printed_path(root, path, len(self.roots) > 1) if root else path

    def text(self, root: str | None, path: str, lines: Sequence[int] | None, page: int | None = None) -> str:
        within = "" if lines is None else f":{lines[0]}-{lines[1]}"
        return name(self.path(root, path) + within) + ("" if page is None else f" (page {page})")

    def legend(self, used: Iterable[str | None]) -> list[str]:
        """Where the paths of these roots begin."""
        wanted = set(used)
        roots = [root for root in self.roots if root.name in wanted]
        if len(self.roots) == 1:
            return [f"paths begin in {name(root.location)}" for root in roots]
        return ["\n".join(f"{name(root.name)}/ is {name(root.location)}" for root in roots)] if roots else []


def search_text(body: Body, views: Sequence[View], results: Sequence[str], places: Places) -> str:
    """The number of results and the confidence, the results, where their files are, the notes."""
    count = f"{len(results)} result{'' if len(results) == 1 else 's'} [{body['status']}]"
    head = ", ".join(filter(None, [count, confidence_text(body)]))
    receipt = [f"receipt {body['receipt']['digest']}"] if "receipt" in body else []
    is_retrieval = "retrieval_calls" in body  # perhaps of a knowledge base, which `reindex` does not fill
    advice = [] if is_retrieval or body["status"] not in EMPTY else [EMPTY[body["status"]]]
    legend = places.legend(view.root for view in views[: len(results)])
    return "\n\n".join([head, *advice, *results, *legend, *_notes(body), *receipt])


def result_texts(views: Sequence[View], places: Places) -> list[str]:
    fence = fence_for(text for view in views for text in (view.path, view.heading, view.content))
    return [result_text(rank, view, places, fence) for rank, view in enumerate(views, 1)]


def result_text(rank: int, view: View, places: Places, fence: str) -> str:
    where = places.text(view.root, view.path, view.lines, view.page)
    head = f"{rank}. {where}{_heading(view.heading)} (score {view.score:.4g}, id {name(view.reference)})"
    return f"{head}\n{fenced(view.content, fence)}"


def _heading(heading: str) -> str:
    return f" · {quoted(heading)}" if heading else ""


def passages_text(body: Body, texts: Sequence[str], places: Places) -> str:
    legend = places.legend(passage["root"] for passage in body["passages"])
    shown = texts[: len(body["passages"])] or [f"no passage at {quoted(body['reference'])}"]
    return "\n\n".join([*shown, *legend, *_notes(body)])


def passage_texts(passages: Sequence[Mapping[str, Any]], places: Places) -> list[str]:
    foreign = ("path", "heading_path", "content")
    fence = fence_for(passage[field] for passage in passages for field in foreign)
    return [
        f"{places.text(passage['root'], passage['path'], passage['lines'], passage['page'])}"
        f"{_heading(passage['heading_path'])} (id {passage['chunk_id']})\n{fenced(passage['content'], fence)}"
        for passage in passages
    ]


def related_text(body: Body, texts: Sequence[str], places: Places) -> str:
    """The start of the walk, then one line for each neighbour."""
    start, lines = body["start"], list(texts[: len(body["neighbours"])])
    legend = places.legend(node["root"] for node in (start, *body["neighbours"]))
    if not lines and not body["more"]:
        guesses = "" if body["possible"] else "; `possible` follows guesses too"
        lines = [f"nothing within {body['depth']} by {body['strategy']}{guesses}"]
    more = ["there are more; raise `limit`"] if body["more"] and not body["notes"] else []
    return "\n".join([_node_text(start, places), *lines, *more, *legend, *_notes(body)])


def neighbour_text(neighbour: Mapping[str, Any], places: Places) -> str:
    """Distance, name and place, and the last step of the path with its source line and its confidence."""
    step = neighbour["steps"][-1]
    at = name(f"{places.path(step['root'], step['path'])}:{step['line']}")
    edge = f"{name(step['from'])} {step['relation']} {name(step['to'])} at {at}"
    return f"{neighbour['distance']}. {_node_text(neighbour, places)}: {edge} ({neighbour['confidence']})"


def _node_text(node: Mapping[str, Any], places: Places) -> str:
    return f"{name(node['name'])} ({node['kind']}, {places.text(node['root'], node['path'], node['lines'])})"


def remembered_text(body: Body) -> str:
    action = f"seen {body['seen']} times" if body["merged"] else "remembered"
    near = [
        f"near: {memory['id']} ({memory['by']} {memory['similarity']:.2f}): {quoted(memory['text'])}"
        for memory in body["near"]
    ]
    return "\n".join([f"{body['id']} {action}", *near, *_notes(body)])


def memories_text(body: Body, texts: Sequence[str]) -> str:
    memories = texts[: len(body["results"])]
    head = f"{len(memories)} memor{'y' if len(memories) == 1 else 'ies'} [{body['status']}]"
    return "\n\n".join([head, *memories, *_notes(body)])


def memory_texts(memories: Sequence[Mapping[str, Any]], places: Places) -> list[str]:
    fence = fence_for(memory["text"] for memory in memories)
    return [memory_text(rank, memory, places, fence) for rank, memory in enumerate(memories, 1)]


def memory_text(rank: int, memory: Mapping[str, Any], places: Places, fence: str) -> str:
    """Kind, id and text; whether the memory is still valid; whether its subjects changed."""
    head = f"{rank}. {memory['kind']} (score {memory['score']:.4g}, id {memory['id']})"
    lines = [head, fenced(memory["text"], fence, "memory")]
    if memory["valid"]["until_ms"] is not None:
        lines.append(f"no longer valid; superseded by {memory['superseded_by'] or 'a memory that is gone'}")
    for subject in memory["about"]:
        about = subject.get("symbol") or places.path(subject.get("root"), subject["path"])
        lines.append(f"about {name(about)}: {subject['state']}")
    return "\n".join(lines)


def search_all_text(body: Body, views: Sequence[View], texts: Sequence[str], places: Places) -> str:
    counts = f"{len(body['code'])} of code, {len(body['memory'])} remembered [{body['status']}]"
    legend = places.legend(view.root for view in views[: len(body["code"])])
    return "\n\n".join([counts, *texts[: len(body["hybrid_rank"])], *legend, *_notes(body)])


def ranked_texts(body: Body, views: Sequence[View], places: Places) -> list[str]:
    """Code and memory in the order of `hybrid_rank`, which keeps the order of each list."""
    code, memory = iter(views), iter(body["memory"])
    fence = fence_for([*(view.content for view in views), *(memo["text"] for memo in body["memory"])])
    return [
        result_text(rank, next(code), places, fence)
        if item["kind"] == "code"
        else memory_text(rank, next(memory), places, fence)
        for rank, item in enumerate(body["hybrid_rank"], 1)
    ]


def reindex_text(body: Body) -> str:
    counts = (
        f"{body['indexed_files']} indexed, {body['skipped_files']} skipped, {body['removed_files']} removed"
    )
    lines = [f"{counts}; {body['pending']} chunks still to be embedded by {body['embedding_model']}"]
    lines += [f"roots: {', '.join(map(name, body['roots']))}"]
    lines += [
        f"{name(problem['path'])}: {one_line(problem['reason'])}"
        for problem in body["problems"][:PROBLEMS_SHOWN]
    ]
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
        *(f"root {name(root['name'])}: {name(root['location'])}" for root in body["roots"]),
        f"changes on disk: {lag['added']} new, {lag['changed']} changed, {lag['removed']} gone",
        *([f"{lag['refused']} files cannot be indexed"] if lag["refused"] else []),
        f"cache: {cache['entries']} searches cached, {cache['hits']} hits, {cache['misses']} misses",
    ]
    if body["tuned"]:
        lines.append("tuned: " + ", ".join(f"{key} {value:g}" for key, value in body["tuned"].items()))
    return "\n".join(lines)


def _notes(body: Body) -> list[str]:
    return [f"note: {one_line(note['message'])} [{note['code']}]" for note in body["notes"]]
