"""The house ranking over a knowledge base, and ranges over its metadata."""

from typing import Any

import pytest

import quintet
from knowledge.answers import ids
from quintet.errors import Conflict, NotFound, UsageError
from quintet.knowledge import KnowledgeBase
from quintet.ranking.fuse import total

PROPERTIES = {"price": "number", "size": "int", "since": "text", "sale": "boolean", "lang": "text"}
SHOES: dict[str, dict[str, Any]] = {
    "red": {"price": 19.5, "size": 40, "since": "2026-01-31", "sale": True, "lang": "en"},
    "blue": {"price": 25, "size": 38, "since": "2025-06-01T12:00+02:00", "sale": False},
    "old": {"price": 5, "since": "last year", "stock": [1, 9]},
    "bare": {"stock": 7, "note": "12"},
}


@pytest.fixture
def shop(index: quintet.Index) -> KnowledgeBase:
    properties = [{"name": name, "type": kind} for name, kind in PROPERTIES.items()]
    base = index.knowledge.create("shop", properties=properties)
    for name, metadata in SHOES.items():
        base.put(f"{name} running shoes", id=name, title=f"Shoes {name}", metadata=metadata)
    return base


def house_ids(response: quintet.Response) -> list[str]:
    return [result["metadata"]["document_id"] for result in response.body["results"]]


RANGES: list[tuple[Any, set[str]]] = [
    ("price<20", {"red", "old"}),
    ("price < 20", {"red", "old"}),
    ("price>=19.5 price<=25", {"red", "blue"}),
    ("price<1e2 -price<6", {"red", "blue"}),
    ("-price<20", {"blue", "bare"}),
    ("size>38", {"red"}),
    ("size:38", {"blue"}),
    ("sale:true", {"red"}),
    ("since>2026-01-01", {"red"}),
    ("since>=2026-01-31 since<=2026-01-31", {"red"}),
    ("since<2025-06-01T10:00:01Z", {"blue"}),
    ("since<2025-06-01T10:00Z", set()),
    ("lang:en", {"red"}),
    ("meta.stock>8", {"old"}),
    ("meta.stock>6", {"old", "bare"}),
    ("meta.note<20", set()),
    ("chunk_index<1 document_id:red", {"red"}),
    ("page_number>0", set()),
    ('title:"Shoes red" OR (price>20 sale:false)', {"red", "blue"}),
    ("path:re* OR path:uploads/b*", {"red", "blue", "bare"}),
]


@pytest.mark.parametrize(("filters", "expected"), RANGES)
def test_the_filter_language_holds_in_a_base_under_both_contracts(
    shop: KnowledgeBase, filters: str, expected: set[str]
) -> None:
    assert set(house_ids(shop.search("running shoes", "quintet", filters=filters))) == expected
    for mode in ("keyword", "semantic", "hybrid"):
        assert set(ids(shop.search("running shoes", mode=mode, filters=filters))) == expected


def test_an_object_of_the_house_ranking_holds_ranges_too(shop: KnowledgeBase) -> None:
    for filters, expected in (
        ({"price": {">=": 10, "<": 25}}, {"red"}),
        ({"price": {">": 10}, "sale": False}, {"blue"}),
        ({"or": [{"price": {"<": 6}}, "size>38", {"not": {"price": {"<": 100}}}]}, {"red", "old", "bare"}),
        ({"since": {">": "2026-01-01"}}, {"red"}),
    ):
        assert set(house_ids(shop.search("running shoes", "quintet", filters=filters))) == expected, filters


@pytest.mark.parametrize(
    ("filters", "said"),
    [
        ("price<cheap", "filter price is compared with 'cheap'; < needs a number"),
        ("price:cheap", "filter price is 'cheap'; it must be a number"),
        ("size>=large", "filter size is compared with 'large'; >= needs a number"),
        ("since<5", "filter since is compared with '5'; < needs a date such as 2026-01-31"),
        ("since>2026-02-31", "< needs a date"),
        ("sale<1", "filter sale has no order, so < cannot compare it; write sale:VALUE"),
        ("title<2026-01-01", "as in chunk_index, lang, meta.NAME, page_number, price, since, size"),
        ("prize<5", "unknown filter 'prize'; did you mean 'price'?"),
        ("price<", "price has no value; write it after <"),
        ("price < 99999999999999999999", "it must fit into 64 bits"),
        ("price<1e999", "needs a number"),
    ],
)
def test_a_comparison_that_means_nothing_is_refused_in_one_sentence(
    shop: KnowledgeBase, filters: str, said: str
) -> None:
    for contract in ("quintet", "knowledge"):
        with pytest.raises(UsageError) as refused:
            shop.search("shoes", contract, filters=filters)
        assert refused.value.code == "invalid_filter"
        assert said.replace("< needs", "> needs" if ">" in filters else "< needs") in refused.value.message


@pytest.mark.parametrize(
    "filters",
    [
        {"price": {"lt": 5}},
        {"price": {}},
        {"price": {"<": "5"}},
        {"price": {"<": True}},
        {"price": {"<": None}},
        {"sale": {"<": 1}},
        {"prize": {"<": 1}},
    ],
)
def test_a_range_in_an_object_has_a_known_comparison_and_a_value_of_its_type(
    shop: KnowledgeBase, filters: Any
) -> None:
    with pytest.raises(UsageError) as refused:
        shop.search("shoes", "quintet", filters=filters)
    assert refused.value.code == "invalid_filter"


def test_exact_matches_of_spec_003_stay_as_they_are(shop: KnowledgeBase) -> None:
    assert ids(shop.search("running shoes", mode="keyword", filters={"price": 19.5, "sale": True})) == ["red"]
    for refused in ({"price": {"<": 20}}, {"price": "19.5"}, {"and": []}, {"path": "red"}):
        with pytest.raises(UsageError):
            shop.search("running shoes", mode="keyword", filters=refused)


def test_conditions_inside_a_query_know_the_properties_of_the_base(shop: KnowledgeBase) -> None:
    response = shop.search("running shoes price<20 sale:true", "quintet")
    assert house_ids(response) == ["red"]
    assert response.body["query"] == "running shoes"
    (note,) = [note for note in response.notes if note["code"] == "filters_read"]
    assert "price<20 sale:true" in note["message"]
    kept = shop.search("if prize<20 then i<n", "quintet")
    assert kept.body["query"] == "if prize<20 then i<n"


def test_the_body_is_that_of_the_house_with_the_base_and_the_metadata(
    index: quintet.Index, shop: KnowledgeBase
) -> None:
    response = index.search("red shoes", index="kb_shop", limit=2)
    assert set(response.body) == {"index", "query", "mode", "confidence", "results"}
    assert response.body["index"] == "kb_shop"
    first = response.body["results"][0]
    assert (first["metadata"]["document_id"], first["metadata"]["price"]) == ("red", 19.5)
    assert "_knowledge_base" not in str(response.wire())
    assert response.answer is not None
    assert [item.score for item in response.answer.ranked] == [
        total(item.evidence) for item in response.answer.ranked
    ]
    assert shop.search("red shoes", "quintet", limit=2).wire() == response.wire()


def test_a_base_ranks_as_a_folder_with_the_same_texts_does(
    index: quintet.Index, shop: KnowledgeBase, tmp_path: Any
) -> None:
    """One engine: the same words and vectors get the same scores of both legs."""
    folder = tmp_path / "shoes"
    folder.mkdir()
    for name in SHOES:
        (folder / f"{name}.txt").write_text(f"{name} running shoes", "utf-8")
    index.sync([folder])
    weights = {"path_weight": 0, "role_weight": 0, "heading_weight": 0}
    in_base = index.search("blue shoes", index="kb_shop", **weights).body["results"]
    in_folder = index.search("blue shoes", **weights).body["results"]
    assert [one["content"] for one in in_base] == [one["content"] for one in in_folder]
    assert [one["signals"]["semantic"] for one in in_base] == [
        one["signals"]["semantic"] for one in in_folder
    ]


def test_a_base_that_is_not_ready_or_not_there_is_not_ranked(
    index: quintet.Index, shop: KnowledgeBase
) -> None:
    with pytest.raises(NotFound):
        index.search("shoes", index="kb_none")
    with pytest.raises(UsageError, match="the contracts are: knowledge, quintet"):
        shop.search("shoes", "rifflux")
    index.knowledge.archive("shop")
    with pytest.raises(Conflict):
        index.search("shoes", index="kb_shop")


def test_a_base_has_no_receipts_and_no_explanations_under_the_house_ranking(
    index: quintet.Index, shop: KnowledgeBase, tmp_path: Any
) -> None:
    (tmp_path / "a.md").write_text("shoes", "utf-8")
    index.sync([tmp_path / "a.md"])
    for ask in (
        lambda: index.receipts.search("shoes", index="kb_shop"),
        lambda: index.why("shoes", "a.md", index="kb_shop"),
    ):
        with pytest.raises(NotFound, match="only the index 'default'"):
            ask()
