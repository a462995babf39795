"""The context for a model: passages with `[n]` markers and their references, within a token budget."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from quintet.knowledge.references import FileUrl, with_references
from quintet.knowledge.results import ContextBody, ContextSource
from quintet.model.documents import Json, digest
from quintet.model.tokens import checked_budget, tokens

RESULTS = 20  # passages to retrieve
MAX_RESULTS = 100  # that are compared with each other; the rest is left out
SHINGLE = 3  # words
DUPLICATE_SHARE = 0.8  # of the shingles of a passage: in a better passage, they make it a duplicate
WORD = re.compile(r"\w+")

Result = Mapping[str, Any]


def context_params(params: Mapping[str, object]) -> dict[str, object]:
    """The parameters of the retrieval: hybrid and twenty results, unless `params` say otherwise."""
    mode = {} if "search_method" in params else {"mode": "hybrid"}
    limit = {} if "top_k" in params else {"limit": RESULTS}
    return {**mode, **limit, **params}


def context(body: Mapping[str, Json], budget: int, file_url: FileUrl | None = None) -> ContextBody:
    """Pack the results of a retrieval, best first, while they and their references fit.

    The text is ordered by document and place in the document. `digest` covers query, budget and text.
    """
    budget = checked_budget(budget)
    calls: Any = body["retrieval_calls"]
    results: list[Result] = [result for call in calls for result in call["results"]]
    distinct = list(_distinct(results[:MAX_RESULTS]))
    duplicates = min(len(results), MAX_RESULTS) - len(distinct)
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
    """The results that say something new compared with every better one."""
    kept: list[frozenset[tuple[str, ...]]] = []
    for result in results:
        shingles = _shingles(result["text"])
        if not any(_repeats(shingles, better) for better in kept):
            kept.append(shingles)
            yield result


def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = WORD.findall(text.lower()) or [text]
    last = max(len(words) - SHINGLE, 0)
    return frozenset(tuple(words[at : at + SHINGLE]) for at in range(last + 1))


def _repeats(new: frozenset[tuple[str, ...]], better: frozenset[tuple[str, ...]]) -> bool:
    """Whether nearly all of `new` is in `better`. The reverse does not count: `new` may say more."""
    return len(new & better) >= DUPLICATE_SHARE * len(new)


def _cited(chosen: Sequence[Result], call: Mapping[str, Any], file_url: FileUrl | None) -> dict[str, Any]:
    """The chosen results with their references, ordered by reference and place in the document."""
    results: list[Json] = [dict(result) for result in chosen]
    cited = with_references({"retrieval_calls": [{**call, "results": results}]}, file_url)
    references: Any = cited["references"]
    place = {reference["id"]: number for number, reference in enumerate(references)}

    def position(result: Result) -> tuple[int, int, str]:
        return place[result["reference_id"]], result["metadata"]["chunk_index"], result["id"]

    ordered = sorted(_results(cited), key=position)
    return {**cited, "retrieval_calls": [{**call, "results": ordered}]}


def _results(cited: Mapping[str, Any]) -> list[Any]:
    return list(cited["retrieval_calls"][0]["results"])


def _text(cited: Mapping[str, Any]) -> str:
    labels = {reference["id"]: reference["citation_label"] for reference in cited["references"]}
    passages = [
        f"{labels[result['reference_id']]}{_page(result)} {result['text'].strip()}\n"
        for result in _results(cited)
    ]
    listed = "".join(_line(reference) for reference in cited["references"])
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
