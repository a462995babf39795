"""What a model is given to answer from: passages with `[n]` markers and their references, in a budget."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from quintet.contracts.references import FileUrl, with_references
from quintet.contracts.tokens import checked_budget, tokens
from quintet.model import Json, digest

RESULTS = 20  # passages that are looked for
SHINGLE = 3  # words
NEAR = 0.8  # share of shingles two passages have in common from which the second says nothing new
WORD = re.compile(r"\w+")

Result = Mapping[str, Any]


def context(body: Mapping[str, Json], budget: int, file_url: FileUrl | None = None) -> dict[str, Json]:
    """Pack the results of a retrieval, best first, while they and their references fit.

    They stand by document and place in it. `digest` is one number over all that is in the text.
    """
    budget = checked_budget(budget)
    calls: Any = body["retrieval_calls"]
    results: list[Result] = [result for call in calls for result in call["results"]]
    distinct = list(_distinct(results))
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
        "sources": [_source(one) for one in _results(cited)],
        "duplicates": len(results) - len(distinct),
        "left_out": len(distinct) - len(chosen),
        "digest": digest(str(calls[0]["query"]), str(budget), text),
    }


def _distinct(results: Sequence[Result]) -> Iterator[Result]:
    """Each result that says something which no better one said."""
    seen: list[frozenset[tuple[str, ...]]] = []
    for result in results:
        shingles = _shingles(result["text"])
        if not any(_alike(shingles, other) for other in seen):
            seen.append(shingles)
            yield result


def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = WORD.findall(text.lower()) or [text]
    last = max(len(words) - SHINGLE, 0)
    return frozenset(tuple(words[at : at + SHINGLE]) for at in range(last + 1))


def _alike(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> bool:
    """Both nearly the same, or the one nearly all there in the other."""
    return len(one & other) >= NEAR * min(len(one), len(other))


def _cited(chosen: Sequence[Result], call: Mapping[str, Any], file_url: FileUrl | None) -> dict[str, Json]:
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
    passages = [f"{label[one['reference_id']]} {one['text'].strip()}\n" for one in _results(cited)]
    listed = "".join(_line(one) for one in cited["references"])
    return "\n".join([*passages, f"References\n{listed}"]) if passages else ""


def _line(reference: Mapping[str, Any]) -> str:
    pages = ", ".join(map(str, reference["pages"]))
    parts = [reference["title"], f"p. {pages}" if pages else "", reference["uri"] or ""]
    return f"{reference['citation_label']} {', '.join(part for part in parts if part)}\n"


def _source(result: Result) -> dict[str, Json]:
    number = str(result["reference_id"]).removeprefix("ref-")
    return {
        "id": result["id"],
        "reference_id": result["reference_id"],
        "marker": f"[{number}]",
        "document_id": result["metadata"]["document_id"],
        "chunk_index": result["metadata"]["chunk_index"],
        "relevance_score": result["relevance_score"],
    }
