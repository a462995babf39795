"""The OpenAPI document is kept to inside a knowledge base that there is, too."""

import json
from collections.abc import Iterator

import pytest
import schemathesis
from http_serving import Running, indexed, serving
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import CHECKS, load_all_checks

import quintet
from quintet.http.schema.openapi import document

HELD = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
)
EXAMPLES = 4

load_all_checks()
whole = schemathesis.openapi.from_dict(json.loads(json.dumps(document(quintet.__version__))))
schema = whole.include(path_regex=r"knowledge-bases/\{kb\}")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(indexed(tmp_path_factory.mktemp("filled"))) as running:
        yield running


def fill(running: Running) -> None:
    """The base `shelf` with a document and a source, as often as a request may have removed them."""
    base = "/v1/knowledge-bases/shelf"
    with running.client() as client:
        told = client.get(base).json()
        if told.get("documents") and told["sources"] and not told["archived"]:
            return
        client.post("/v1/knowledge-bases", json={"slug": "shelf"})
        client.post(f"{base}/unarchive")
        client.post(f"{base}/documents", files={"file": ("a.txt", "a text")}, data={"id": "doc"})
        client.post(f"{base}/sources", json={"directory": "docs"})


@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_inside_a_base_the_document_is_kept_to(case: schemathesis.Case, filled: Running) -> None:
    fill(filled)
    known = {"kb": "shelf", "doc": "doc", "source": "docs"}
    case.path_parameters = {name: known[name] for name in case.path_parameters}
    case.call_and_validate(base_url=filled.url, checks=CHECKS.get_by_names(HELD))
