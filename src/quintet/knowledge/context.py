"""The context for a model: passages with `[n]` markers and their references, within a token budget.

Passages stand between fences and titles in quotation marks, so that no document can forge either.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from quintet.knowledge.references import FileUrl, with_references
from quintet.knowledge.results import ContextBody, ContextSource
from quintet.model.documents import Json, digest
from quintet.model.fence import fence_for, fenced, name, quoted
from quintet.model.results import Note
from quintet.model.tokens import checked_budget, tokens

RESULTS = 20  # passages to retrieve
MAX_RESULTS = 100  # that are compared with each other; the rest is left out
SHINGLE = 3  # words
CUT = "cut"  # marks a result of which only the beginning is part of the context
SENTENCE_END = re.compile(r"(?<=[.!?])(?=\s)|(?<=[。！？])|(?=\n)")
WORD_END = re.compile(r"(?<=\S)(?=\s)|(?<=[\u2e80-\ud7ff])")  # CJK has no spaces
DUPLICATE_SHARE = 0.8  # of the shingles of a passage: in a better passage, they make it a duplicate
WORD = re.compile(r"\w+")

Result = Mapping[str, Any]


def context_params(params: Mapping[str, object]) -> dict[str, object]:
    """The parameters of the retrieval: hybrid and twenty results, unless `params` say otherwise."""
    mode = {} if "search_method" in params else {"mode": "hybrid"}
    limit = {} if "top_k" in params else {"limit": RESULTS}
    return {**mode, **limit, **params}


def context(
    body: Mapping[str, Json], budget: int, file_url: FileUrl | None = None
) -> tuple[ContextBody, list[Note]]:
    """Pack the results of a retrieval, best first, until one does not fit with its reference. That one is cut
    at the end of a sentence, and nothing worse takes its place. A note says what did not fit.

    The text is ordered by document and place in the document. `digest` covers query, budget and text.
    """
    budget = checked_budget(budget)
    calls: Any = body["retrieval_calls"]
    results: list[Result] = [result for call in calls for result in call["results"]]
    distinct = list(_distinct(results[:MAX_RESULTS]))
    duplicates = min(len(results), MAX_RESULTS) - len(distinct)
    fence = fence_for(str(result["text"]) for result in distinct)

    def size(chosen: Sequence[Result]) -> int:
        return tokens(_text(_cited(chosen, calls[0], None), fence))

    chosen = _packed(distinct, lambda some: size(some) <= budget)
    cited = _cited(chosen, calls[0], file_url)
    text = _text(cited, fence)
    packed: ContextBody = {
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
    is_whole = len(chosen) == len(distinct) and not any(map(_is_cut, chosen))
    return packed, [] if is_whole else [_cut_note(chosen, len(distinct), budget, size(distinct))]


def _packed(distinct: Sequence[Result], fits: Callable[[Sequence[Result]], bool]) -> list[Result]:
    """The best results that fit, the last of them perhaps cut. The very best may be cut within a sentence."""
    chosen: list[Result] = []
    for result in distinct:
        if fits([*chosen, result]):
            chosen.append(result)
            continue
        text = str(result["text"]).strip()
        for ends in (SENTENCE_END, WORD_END)[: 1 if chosen else 2]:
            places = [match.start() for match in ends.finditer(text)]
            cuts = [{**result, "text": text[:place], CUT: True} for place in places]
            count = bisect_left(cuts, True, key=lambda cut: not fits([*chosen, cut]))
            if count:
                return [*chosen, cuts[count - 1]]
        break
    return chosen


def _is_cut(result: Result) -> bool:
    return CUT in result


def _cut_note(chosen: Sequence[Result], count: int, budget: int, needed: int) -> Note:
    cut = ", the last of them cut" if any(map(_is_cut, chosen)) else ""
    message = (
        f"{len(chosen)} of {count} passages fit into {budget} tokens{cut}; "
        f"raise the budget: all of them need about {needed}"
    )
    return {"code": "context_cut", "message": message}


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


def _text(cited: Mapping[str, Any], fence: str) -> str:
    labels = {reference["id"]: reference["citation_label"] for reference in cited["references"]}
    passages = [
        f"{labels[result['reference_id']]}{_remarks(result)}\n{fenced(result['text'].strip(), fence)}\n"
        for result in _results(cited)
    ]
    listed = "".join(_line(reference) for reference in cited["references"])
    return "\n".join([*passages, f"References\n{listed}"]) if passages else ""


def _remarks(result: Result) -> str:
    page = result["metadata"].get("page_number")
    remarks = [*([] if page is None else [f"p. {page}"]), *(["cut"] if _is_cut(result) else [])]
    return f" ({', '.join(remarks)})" if remarks else ""


def _line(reference: Mapping[str, Any]) -> str:
    pages = ", ".join(map(str, reference["pages"]))
    parts = [quoted(reference["title"]), f"p. {pages}" if pages else "", name(reference["uri"] or "")]
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
        "cut": _is_cut(result),
    }
