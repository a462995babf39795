"""What a model is given to answer from: passages with `[n]` markers and their references, in a budget."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from quintet.knowledge.references import FileUrl, with_references
from quintet.knowledge.results import ContextBody, ContextSource
from quintet.model.documents import Json, digest
from quintet.model.tokens import checked_budget, tokens

RESULTS = 20  # passages that are looked for
MOST_RESULTS = 100  # that are compared with one another; the rest is left out
SHINGLE = 3  # words
NEAR = 0.8  # share of a passage's shingles in a better one from which it says nothing new
WORD = re.compile(r"\w+")

Result = Mapping[str, Any]


def context_params(params: Mapping[str, object]) -> dict[str, object]:
    """The parameters of the retrieval: hybrid and twenty results, unless `params` say otherwise."""
    mode = {} if "search_method" in params else {"mode": "hybrid"}
    limit = {} if "top_k" in params else {"limit": RESULTS}
    return {**mode, **limit, **params}


def context(body: Mapping[str, Json], budget: int, file_url: FileUrl | None = None) -> ContextBody:
    """Pack the results of a retrieval, best first, while they and their references fit.

    They stand by document and place in it. `digest` is one number over all that is in the text.
    """
    budget = checked_budget(budget)
    calls: Any = body["retrieval_calls"]
    results: list[Result] = [result for call in calls for result in call["results"]]
    distinct = list(_distinct(results[:MOST_RESULTS]))
    duplicates = min(len(results), MOST_RESULTS) - len(distinct)
    chosen: list[Result] = []
    for result in distinct:
        if tokens(_text(_cited([*chosen, result], calls[0], None))) <= budget:
            chosen.append(result)
    cited = _cited(chosen, calls[0], file_url)
    text = _text(cited)
    return {
        "index": calls[0]["index"],
        "query": calls[0]["query"],
        "budget": budget,
        "tokens": tokens(text),
        "text": text,
        "references": cited["references"],
        "sources": [_source(result) for result in _results(cited)],
        "duplicates": duplicates,
        "left_out": len(results) - duplicates - len(chosen),
        "digest": digest(str(calls[0]["query"]), str(budget), text),
    }


def _distinct(results: Sequence[Result]) -> Iterator[Result]:
    """Each result that says something which no better one said."""
    seen: list[frozenset[tuple[str, ...]]] = []
    for result in results:
        shingles = _shingles(result["text"])
        if not any(_told(shingles, other) for other in seen):
            seen.append(shingles)
            yield result


def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = WORD.findall(text.lower()) or [text]
    last = max(len(words) - SHINGLE, 0)
    return frozenset(tuple(words[at : at + SHINGLE]) for at in range(last + 1))


def _told(new: frozenset[tuple[str, ...]], before: frozenset[tuple[str, ...]]) -> bool:
    """Nearly all of the new is there in what came before it; the other way round it may say more."""
    return len(new & before) >= NEAR * len(new)


def _cited(chosen: Sequence[Result], call: Mapping[str, Any], file_url: FileUrl | None) -> dict[str, Any]:
    """Numbered by best result, then in the order of numbers and of places in the document."""
    results: list[Json] = [dict(one) for one in chosen]
    cited = with_references({"retrieval_calls": [{**call, "results": results}]}, file_url)
    references: Any = cited["references"]
    place = {one["id"]: number for number, one in enumerate(references)}

    def position(one: Result) -> tuple[int, int, str]:
        return place[one["reference_id"]], one["metadata"]["chunk_index"], one["id"]

    ordered = sorted(_results(cited), key=position)
    return {**cited, "retrieval_calls": [{**call, "results": ordered}]}


def _results(cited: Mapping[str, Any]) -> list[Any]:
    return list(cited["retrieval_calls"][0]["results"])


def _text(cited: Mapping[str, Any]) -> str:
    label = {one["id"]: one["citation_label"] for one in cited["references"]}
    passages = [
        f"{label[one['reference_id']]}{_page(one)} {one['text'].strip()}\n" for one in _results(cited)
    ]
    listed = "".join(_line(one) for one in cited["references"])
    return "\n".join([*passages, f"References\n{listed}"]) if passages else ""


def _page(result: Result) -> str:
    page = result["metadata"].get("page_number")
    return "" if page is None else f" (p. {page})"


def _line(reference: Mapping[str, Any]) -> str:
    pages = ", ".join(map(str, reference["pages"]))
    parts = [reference["title"], f"p. {pages}" if pages else "", reference["uri"] or ""]
    return f"{reference['citation_label']} {', '.join(part for part in parts if part)}\n"


def _source(result: Result) -> ContextSource:
    number = str(result["reference_id"]).removeprefix("ref-")
    return {
        "id": result["id"],
        "reference_id": result["reference_id"],
        "marker": f"[{number}]",
        "document_id": result["metadata"]["document_id"],
        "chunk_index": result["metadata"]["chunk_index"],
        "relevance_score": result["relevance_score"],
    }
