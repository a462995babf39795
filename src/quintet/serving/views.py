"""Results as people read them: the same view for the results of every contract."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from quintet.contracts.bases import DEFAULT_INDEX
from quintet.contracts.cfs import CfsResult
from quintet.contracts.harness import HarnessResult
from quintet.contracts.knowledge import KnowledgeResult
from quintet.contracts.mcb import McbResult
from quintet.contracts.quintet import HouseResult
from quintet.contracts.rifflux import RiffluxResult
from quintet.errors import NotFound, UsageError
from quintet.ranking.fuse import total
from quintet.ranking.gather import FINDERS

if TYPE_CHECKING:
    from quintet.index import Index
    from quintet.indexing.run import Report
    from quintet.model.documents import Passage
    from quintet.model.results import Ranked
    from quintet.query.search import Response

Item = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Measure:
    """One line of an explanation. `share` is the length of its bar; None means no bar.

    Only contributions have a bar: they share one scale, and a contract's own figures do not.
    """

    name: str
    value: float | None
    share: float | None = None
    remark: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """A result as people read it. `Index.get` finds its passage by `reference`."""

    reference: str
    path: str
    score: float
    content: str
    heading: str = ""
    lines: tuple[int, int] | None = None
    measures: tuple[Measure, ...] = ()
    root: str | None = None
    page: int | None = None

    def where(self, several_roots: bool) -> str:
        path = printed_path(self.root, self.path, several_roots) if self.root else self.path
        return place_text(path, self.lines, self.page)


def printed_path(root: str, path: str, several_roots: bool) -> str:
    """A path as people see it, which every filter and argument accepts. With several roots it begins with the
    name of its root: a path may be in more than one.

    >>> printed_path("docs", "git/merge.html", True)
    'docs/git/merge.html'
    """
    return f"{root}/{path}" if several_roots else path


def place_text(path: str, lines: Sequence[int] | None, page: int | None) -> str:
    """A path with its lines, and the page they are on.

    >>> place_text("manual.pdf", (3, 9), 12)
    'manual.pdf:3-9 (page 12)'
    """
    within = "" if lines is None else f":{lines[0]}-{lines[1]}"
    return path + within + ("" if page is None else f" (page {page})")


def result_views(contract: str, body: Item) -> list[View]:
    """The results of a body, in order."""
    return [VIEWS[contract](item) for item in items_of(body)]


def items_of(body: Item) -> list[Item]:
    """The results of a body as the contract shows them."""
    calls: Sequence[Item] = body.get("retrieval_calls") or [body]
    return [item for call in calls for item in call["results"]]


def is_from_base(body: Item) -> bool:
    """Whether the results come from a knowledge base rather than from the indexed folders."""
    calls = body.get("retrieval_calls") or [body]
    return any(call.get("index", DEFAULT_INDEX) != DEFAULT_INDEX for call in calls)


def confidence_text(body: Item) -> str | None:
    """The confidence of an answer in words, if it is known.

    >>> confidence_text({"confidence": 0.42})
    'confidence 0.42'
    """
    confidence = body.get("confidence")
    return None if confidence is None else f"confidence {confidence:g}"


def views_with_evidence(contract: str, response: "Response") -> list[View]:
    """The results with evidence and places, also where the body of the contract has none."""
    plain, answer = result_views(contract, response.body), response.answer
    if answer is None:
        return plain
    return [
        replace(_at(answer.passages[item.best_chunk], view), measures=(*_evidence(item), *view.measures))
        for view, item in zip(plain, answer.ranked, strict=True)
    ]


def _evidence(item: "Ranked") -> Iterator[Measure]:
    """The contribution of each signal, their sum, and the freshness factor if it is not 1."""
    for signal, evidence in item.evidence.items():
        numbers = f"raw {evidence.raw:.4g}, weight {evidence.weight:.4g}"
        rank = "not listed" if evidence.rank is None else f"rank {evidence.rank}"
        remark = f"{rank}, {numbers}" if signal in FINDERS else numbers
        yield Measure(signal, evidence.contribution, evidence.contribution, remark)
    yield Measure("sum", total(item.evidence))
    if item.freshness_factor != 1.0:
        yield Measure("factor", item.freshness_factor, remark="freshness, times the sum")


def with_place(index: "Index", view: View) -> View:
    """The view with lines, page, heading and root, which some contracts leave out."""
    if view.root is not None:
        return view
    try:
        return _at(index.get(view.reference)[0], view)
    except (NotFound, UsageError, IndexError):  # changed meanwhile, or the same path in two roots
        return view


def _at(passage: "Passage", view: View) -> View:
    chunk = passage.chunk
    return replace(
        view,
        root=passage.document.root,
        page=chunk.page,
        heading=view.heading or chunk.heading_path,
        lines=view.lines or (chunk.first_line, chunk.last_line),
    )


def report_counts(report: "Report") -> dict[str, int]:
    return {name: getattr(report, name) for name in ("indexed", "skipped", "removed", "embedded", "pending")}


def _house(item: HouseResult) -> View:
    first, last = item["lines"]
    return View(
        item["chunk_id"],
        _document_name(item["metadata"]) if "metadata" in item else item["path"],
        item["score"],
        item["content"],
        item["heading_path"],
        (first, last),
        root=item["root"],
        page=item["page"],
    )


def _rifflux(item: RiffluxResult) -> View:
    breakdown: Mapping[str, Any] = item["score_breakdown"]
    score = next(breakdown[name] for name in ("rrf", "bm25", "cosine") if name in breakdown)
    measures = tuple(Measure(name, value) for name, value in breakdown.items())
    return View(
        item["chunk_id"], item["path"], score, item["content"], item["heading_path"], measures=measures
    )


def _harness(item: HarnessResult) -> View:
    score = item["doc_score"]
    measures = (Measure("doc_score", score, remark=f"updated {item['updated_at']}"),)
    return View(item["chunk_id"], item["path"], score, item["snippet"], measures=measures)


def _mcb(item: McbResult) -> View:
    node = item["node"]
    lines = (node["start_line"], node["end_line"])
    measures = [
        Measure("bm25_rank", item["bm25_rank"]),
        Measure("semantic_rank", item["semantic_rank"]),
        Measure("graph_rank", item["graph_rank"]),
    ]
    distance = item["provenance"]["distance_in_graph"]
    if distance is not None:
        measures.append(Measure("distance", distance))
    measures.append(Measure("freshness", item["freshness_penalty"], remark=item["freshness"]))
    fields = item["matched_fields"]
    measures.append(Measure("matched_fields", len(fields), remark=", ".join(fields)))
    return View(
        f"{node['path']}:{lines[0]}-{lines[1]}",
        node["path"],
        item["score"],
        node["content"],
        node["name"],
        lines,
        tuple(measures),
    )


def _knowledge(item: KnowledgeResult) -> View:
    components: Mapping[str, Any] = item.get("relevance_components", {})
    measures = [Measure(name, value) for name, value in components.items()]
    kind = item["relevance_kind"]
    measures.append(Measure("relevance", item["relevance_score"], remark=kind))
    if item["score_kind"] != kind:
        measures.append(Measure("score", item["score"], remark=item["score_kind"]))
    path = _document_name(item["metadata"])
    return View(item["id"], path, item["relevance_score"], item["text"], measures=tuple(measures))


def _document_name(metadata: Mapping[str, Any]) -> str:
    """An upload has no path; a text has no name either."""
    return str(metadata["source_path"] or metadata["source_name"] or metadata["document_id"])


def _cfs(item: CfsResult) -> View:
    chunk, score = item["chunk"], item["score"]
    measures = (Measure("score", score),)
    return View(chunk["id"], item["document"]["path"], score, chunk["text"], measures=measures)


VIEWS: Mapping[str, Callable[[Any], View]] = {
    "quintet": _house,
    "rifflux": _rifflux,
    "harness": _harness,
    "mcb": _mcb,
    "knowledge": _knowledge,
    "cfs": _cfs,
}
