"""Filters as objects, as trees and as text: one meaning, checked the same."""

from typing import Any

import pytest

from quintet.contracts import CONTRACTS, read
from quintet.errors import UsageError
from quintet.filters.fields import FILTER, MAX_CONDITIONS, milliseconds
from quintet.model.filters import AnyOf, Condition, Filter, Not

TAGGED = AnyOf((Condition("tag", "a"), Not(Condition("lang", "c"))))


@pytest.mark.parametrize(
    ("given", "meaning"),
    [
        ({}, Filter()),
        ({"path": "docs/**"}, Filter((Condition("path", "docs/**"),))),
        ("path:docs/**", Filter((Condition("path", "docs/**"),))),
        ("lang:c tag:a", Filter((Condition("lang", "c"), Condition("tag", "a")))),
        ({"tag": "a", "lang": "c"}, Filter((Condition("lang", "c"), Condition("tag", "a")))),
        ({"and": [{"lang": "c"}, "tag:a"]}, Filter((Condition("lang", "c"), Condition("tag", "a")))),
        ({"or": [{"tag": "a"}, {"not": {"lang": "c"}}]}, Filter((TAGGED,))),
        ("tag:a OR -lang:c", Filter((TAGGED,))),
        ({"not": {"not": "tag:a"}}, Filter((Not(Not(Condition("tag", "a"))),))),
        ({"meta.prio": 3}, Filter((Condition("meta.prio", 3),))),
        ("meta.prio<3", Filter((Condition("meta.prio", 3, "<"),))),
        (
            {"meta.prio": {">=": 1, "<": 2.5}},
            Filter((Condition("meta.prio", 2.5, "<"), Condition("meta.prio", 1, ">="))),
        ),
        ("meta.day>2026-01-31", Filter((Condition("meta.day", "2026-01-31", ">"),))),
        ({"meta.draft": True}, Filter((Condition("meta.draft", True),))),
        ({"meta.with space": 1.5}, Filter((Condition("meta.with space", 1.5),))),
        ("meta.prio:3", Filter((Condition("meta.prio", "3"),))),
        ({"meta.team": ""}, Filter((Condition("meta.team", ""),))),
        ('meta.team:"" title:""', Filter((Condition("meta.team", ""), Condition("title", "")))),
        ("after:1970-01-02", Filter((Condition("after", 86_400_000),))),
        ({"after": "1970-01-02T00:00:00Z"}, Filter((Condition("after", 86_400_000),))),
        ({"before": 5}, Filter((Condition("before", 5),))),
    ],
)
def test_objects_trees_and_text_say_the_same(given: Any, meaning: Filter) -> None:
    assert FILTER.accept(given) == meaning
    assert hash(meaning) == hash(FILTER.accept(given))


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ([], "it must be an object"),
        (None, "it must be an object"),
        (3, "it must be an object"),
        ({"and": []}, "filter and is []; it must be a list of filters"),
        ({"or": {"tag": "a"}}, "it must be a list of filters"),
        ({"and": [{}]}, "it must be an object"),
        ({"not": []}, "it must be an object"),
        ({"and": ["tag:a"], "path": "x"}, "'and' must be the only key"),
        ({"and": [["tag:a"]]}, "it must be an object"),
        ({"meta.": "x"}, "unknown filter 'meta.'"),
        ({"meta.x": None}, "it must be text, a number, true or false"),
        ({"meta.x": float("nan")}, "it must be text, a number, true or false"),
        ({"meta.x": 2**63}, "a whole number must fit into 64 bits"),
        ({"meta.x": -(10**400)}, "a whole number must fit into 64 bits"),
        ({"tag": 3}, "filter tag is 3; it must be text"),
        *(({name: ""}, "is ''; it must be text that is not empty") for name in ("path", "lang", "contains")),
        ("after:2026", "a bare year is neither"),
        ("meta.prio<high", "filter meta.prio is compared with 'high'; < needs a number, or a date such as"),
        ("lang<3", "filter lang has no order, so < cannot compare it; write lang:VALUE"),
        ("after<2026-01-01", "filter after has no order"),
        ({"meta.prio": {"<": [3]}}, "filter meta.prio is compared with [3]"),
        ({"meta.prio": {"below": 3}}, "the comparisons are: <, <=, >, >="),
        ({"lang": {"<": 3}}, "filter lang has no order"),
        ("after:2026-13-01", "it must be"),
        ("after:2026-01-01junk", "it must be"),
        ("path:" + "{a,b}" * 9, "more than 256 alternatives"),
    ],
)
def test_what_a_filter_cannot_be_is_refused(given: Any, why: str) -> None:
    with pytest.raises(UsageError) as caught:
        FILTER.accept(given)
    assert caught.value.code == "invalid_filter"
    assert why in caught.value.message


def test_a_tree_is_bounded_in_depth_and_in_conditions() -> None:
    deep: Any = "tag:a"
    for _ in range(40):
        deep = {"not": deep}
    with pytest.raises(UsageError, match="more than 32 levels deep"):
        FILTER.accept(deep)
    FILTER.accept("tag:a " * MAX_CONDITIONS)
    for many in ("tag:a " * 101, {"or": ["tag:a"] * 101}, {"and": ["tag:a " * 60, "tag:b " * 60]}):
        with pytest.raises(UsageError, match="at most 100 are allowed"):
            FILTER.accept(many)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("-1", -1),
        ("1700000000000", 1_700_000_000_000),
        ("2023-11-14", 1_699_920_000_000),
        ("2023-11-14T22:13:20", 1_700_000_000_000),
        ("2023-11-14T22:13:20.5Z", 1_700_000_000_500),
        ("2023-11-15T00:13:20+02:00", 1_700_000_000_000),
        ("0001-01-01T00:00+14:00", -62_135_647_200_000),
        ("2023", None),
        ("20231114", 20_231_114),
        ("2023-11", None),
        ("yesterday", None),
        ("", None),
        ("1" * 21, None),
        ("١٢٣٤٥", None),
    ],
)
def test_a_time_is_unix_milliseconds_or_a_date_in_utc(text: str, expected: int | None) -> None:
    assert milliseconds(text) == expected


@pytest.mark.parametrize(
    "given",
    [
        {"and": [{"title": "x"}]},
        {"not": {"title": "x"}},
        {"path": ["x"]},
        {"chunk_index": {"<": 2}},
        ["title:x"],
    ],
)
def test_an_object_of_filters_under_spec_003_takes_nothing_but_exact_matches(given: Any) -> None:
    with pytest.raises(UsageError) as caught:
        read("knowledge", CONTRACTS["knowledge"].parameters, {"filters": given}, {})
    assert caught.value.code == "invalid_filter"


def test_conditions_that_may_read_every_text_are_few() -> None:
    eight = {"or": [{"icontains": f"word {number}"} for number in range(8)]}
    assert FILTER.accept(eight)
    with pytest.raises(UsageError, match="9 conditions on contains and icontains; at most 8"):
        FILTER.accept({"or": [eight, {"contains": "one more"}]})
