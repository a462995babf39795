"""Answers within a budget of tokens: whole results, from the first on, and a note about the others."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from quintet.model.results import Note
from quintet.model.tokens import tokens

Body = Mapping[str, Any]


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


def cut_results(body: dict[str, Any], texts: Sequence[str], max_tokens: int | None) -> dict[str, Any]:
    """The body with as many whole results as fit, the right counts, and a note if any are left out."""
    count, notes = within_budget(texts, max_tokens)
    if not notes:
        return body
    holder = body["retrieval_calls"][0] if "retrieval_calls" in body else body
    counts = {name: count for name in ("count", "result_count") if name in holder}
    short = {**holder, "results": holder["results"][:count], **counts}
    notes = [*body["notes"], *notes]
    if "retrieval_calls" in body:
        return {**body, "retrieval_calls": [short], "notes": notes}
    return {**short, "notes": notes}


def cut_memories(body: dict[str, Any], texts: Sequence[str], max_tokens: int | None) -> dict[str, Any]:
    count, notes = within_budget(texts, max_tokens)
    return {**body, "results": body["results"][:count], "notes": [*body["notes"], *notes]}


def cut_neighbours(body: Body, texts: Sequence[str], max_tokens: int | None) -> dict[str, Any]:
    count, notes = within_budget(texts, max_tokens)
    more = body["more"] or bool(notes)
    return {**body, "neighbours": body["neighbours"][:count], "more": more, "notes": notes}


def cut_all(body: dict[str, Any], texts: Sequence[str], max_tokens: int | None) -> dict[str, Any]:
    """As many items of code and memory as fit, from the first of `hybrid_rank` on."""
    count, notes = within_budget(texts, max_tokens)
    ranked = body["hybrid_rank"][:count]
    counts = Counter(item["kind"] for item in ranked)
    lists = {kind: body[kind][: counts[kind]] for kind in ("code", "memory")}
    return {**body, **lists, "hybrid_rank": ranked, "notes": [*body["notes"], *notes]}
