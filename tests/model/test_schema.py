"""A schema is read off the type of a result."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest

from quintet.model.schema import Count, Lines, keywords, schema_of


class Place(TypedDict):
    """Where
    it stands."""

    path: str
    lines: NotRequired[Lines]


class Scored(TypedDict):
    score: float


@dataclass(frozen=True)
class Total:
    count: Count = 0


PLACE = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "lines": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
    },
    "required": ["path"],
    "additionalProperties": False,
    "title": "Place",
    "description": "Where it stands.",
}


def test_an_object_is_closed_and_described_by_its_docstring() -> None:
    assert schema_of(Place) == PLACE


def test_an_open_object_says_nothing_of_other_fields() -> None:
    assert "additionalProperties" not in schema_of(Place, closed=False)


def test_several_types_make_one_object() -> None:
    schema = schema_of(Place, Scored, Total)
    assert list(schema["properties"]) == ["path", "lines", "score", "count"]
    assert schema["required"] == ["path", "score", "count"]
    assert (schema["title"], schema["description"]) == ("Place", "Where it stands.")


def test_a_dataclass_without_a_docstring_has_no_description() -> None:
    count = {"type": "integer", "minimum": 0}
    assert schema_of(Total) == {
        "type": "object",
        "properties": {"count": count},
        "required": ["count"],
        "additionalProperties": False,
        "title": "Total",
    }


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        (bool, {"type": "boolean"}),
        (Any, {}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Literal[1], {"type": "integer", "const": 1}),
        (Count | None, {"type": ["integer", "null"], "minimum": 0}),
        (Literal["a", "b"] | None, {"anyOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "null"}]}),
        (Place | None, {"anyOf": [PLACE, {"type": "null"}]}),
        (tuple[str, ...], {"type": "array", "items": {"type": "string"}}),
        (dict[str, Any], {"type": "object"}),
        (dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
        (Annotated[str, keywords(minLength=1)], {"type": "string", "minLength": 1}),
        (Annotated[Any, Place], PLACE),
    ],
)
def test_a_type_and_its_schema(kind: Any, schema: dict[str, Any]) -> None:
    assert schema_of(kind) == schema


def test_an_unknown_type_is_an_error_rather_than_an_open_schema() -> None:
    with pytest.raises(TypeError, match="object"):
        schema_of(object)
