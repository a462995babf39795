"""The named schemas of the OpenAPI document. A schema with a title stands there once; others refer to it."""

from collections.abc import Mapping
from typing import Any

from quintet.http.schema.choices import BY_VALUES
from quintet.model.schema import Schema, reference

# The names of types that read otherwise to a client. Of all others the name is that of the type, without
# `Fields`.
NAMES: Mapping[str, str] = {
    "Approximation": "HnswStatus",
    "BaseFields": "KnowledgeBase",
    "Bases": "KnowledgeBaseList",
    "CacheFigures": "CacheStatus",
    "CfsBody": "CfsSearchResponse",
    "Claim": "ReceiptClaim",
    "ContextBody": "ContextResponse",
    "Drift": "IndexLag",
    "ErrorBody": "ErrorResponse",
    "HarnessBody": "HarnessSearchResponse",
    "HouseBody": "QuintetSearchResponse",
    "HouseResult": "QuintetResult",
    "KnowledgeBody": "KnowledgeSearchResponse",
    "ListedBase": "ListedKnowledgeBase",
    "MapBody": "MapResponse",
    "McbBody": "McbSearchResponse",
    "MemoryBody": "RecallResponse",
    "Merged": "RankedItem",
    "NodeFields": "CodeNode",
    "Observed": "ReceiptObservations",
    "Outcome": "DocumentOutcome",
    "Outcomes": "DocumentOutcomes",
    "ReadBody": "ReadResponse",
    "ReindexFields": "ReindexResult",
    "RelatedFields": "RelatedResponse",
    "Remembered": "RememberResponse",
    "RetrievalBody": "RetrievalResponse",
    "RiffluxBody": "RiffluxSearchResponse",
    "Root": "IndexedRoot",
    "Runs": "SyncRunList",
    "SearchAllBody": "SearchAllResponse",
    "Sources": "SourceList",
    "Standing": "SignalStanding",
    "StepFields": "GraphStep",
    "TaggedCall": "CitedRetrievalCall",
    "TaggedResult": "CitedResult",
}
DATA = frozenset({"const", "default", "enum", "example", "examples"})  # keywords that hold no schemas


class Components:
    """Collects the schemas that have titles."""

    def __init__(self) -> None:
        self._schemas: dict[str, Schema] = {}

    @property
    def schemas(self) -> dict[str, Schema]:
        return dict(sorted(self._schemas.items()))

    def collect(self, value: Any) -> Any:
        """The value with a reference in place of every schema that has a title."""
        if isinstance(value, list):
            return [self.collect(item) for item in value]
        if not isinstance(value, dict):
            return value
        inner = {key: item if key in DATA else self.collect(item) for key, item in value.items()}
        title = inner.get("title")
        if isinstance(title, str):
            return self._named(NAMES.get(title, title.removesuffix("Fields")), inner)
        if "enum" in inner and inner.get("type") == "string":
            return self._choice(inner)
        if len(inner.get("allOf", ())) == 1:  # which only adds a description
            (whole,) = inner.pop("allOf")
            return {**whole, **inner}
        return inner

    def _choice(self, schema: Schema) -> Schema:
        values, name, description = BY_VALUES[frozenset(schema.pop("enum"))]
        del schema["type"]
        content = {"type": "string", "enum": list(values), "description": description}
        return {**self._named(name, content), **schema}

    def _named(self, name: str, schema: Schema) -> Schema:
        content = {key: value for key, value in schema.items() if key != "title"}
        if self._schemas.setdefault(name, content) != content:
            raise ValueError(f"two schemas are called {name}; rename one")
        return reference(name)


def described(schema: Schema, text: str) -> Schema:
    """The schema with a description of this use of it."""
    if "title" in schema:
        return {"allOf": [schema], "description": text}
    return {**schema, "description": text}
