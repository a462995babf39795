"""Clients that generators make of the served document: they import, read well, and make real calls."""

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from http_serving import Running, indexed, serving

from quintet.contracts import CONTRACTS

PACKAGE, MODELS = "generated_quintet_client", "generated_quintet_models"
# Maps from text, which have no name in the document.
UNNAMED = {"HnswStatusRecall", "IndexStatusTuned", "MemoryResultSignals", "QuintetResultSignals"}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(indexed(tmp_path_factory.mktemp("served"))) as running:
        yield running


@pytest.fixture(scope="module")
def api(served: Running) -> dict[str, Any]:
    with served.client() as client:
        document: dict[str, Any] = client.get("/openapi.json").json()
    return document


@pytest.fixture(scope="module")
def generated(api: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder on the path with the client of openapi-python-client and the models of datamodel-codegen."""
    folder = tmp_path_factory.mktemp("generated")
    (folder / "openapi.json").write_text(json.dumps(api), "utf-8")
    (folder / "config.yml").write_text("post_hooks: []\n", "utf-8")  # which would format the code
    client = ["-m", "openapi_python_client", "generate", "--path", "openapi.json", "--meta", "none"]
    generate(folder, *client, "--config", "config.yml", "--output-path", PACKAGE, "--fail-on-warning")
    models = ["-m", "datamodel_code_generator", "--input", "openapi.json", "--input-file-type", "openapi"]
    kind = ["--output-model-type", "pydantic_v2.BaseModel", "--formatters", "builtin"]
    generate(folder, *models, "--output", f"{MODELS}.py", *kind)
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))


def generate(folder: Path, *words: str) -> None:
    run = subprocess.run(
        [sys.executable, *words], cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.fixture(scope="module")
def package(generated: Path) -> ModuleType:
    return importlib.import_module(PACKAGE)


@pytest.fixture(scope="module")
def models(package: ModuleType) -> ModuleType:
    return importlib.import_module(f"{PACKAGE}.models")


@pytest.fixture(scope="module")
def client(package: ModuleType, served: Running) -> Iterator[Any]:
    with package.Client(base_url=served.url, httpx_args={"trust_env": False}) as client:
        yield client


def call(tag: str, operation: str) -> Any:
    return importlib.import_module(f"{PACKAGE}.api.{tag}.{operation}").sync


def test_every_operation_is_a_module_below_its_tag(api: dict[str, Any], package: ModuleType) -> None:
    for item in api["paths"].values():
        for method, operation in item.items():
            if method != "parameters":
                tag = operation["tags"][0].replace(" ", "_")
                assert callable(call(tag, operation["operationId"]))


def test_the_classes_have_the_names_of_the_document(api: dict[str, Any], models: ModuleType) -> None:
    assert set(models.__all__) - set(api["components"]["schemas"]) == UNNAMED


def test_a_search_by_the_client(client: Any, models: ModuleType) -> None:
    request = models.QuintetSearchRequest(query="cache", limit=2, mode=models.SearchMode.HYBRID)
    assert request.to_dict() == {"query": "cache", "limit": 2, "mode": "hybrid"}
    found = call("search", "search_quintet")(client=client, body=request)
    assert isinstance(found, models.QuintetSearchResponse)
    assert len(found.results) == 2
    assert "cache" in found.results[0].content
    assert found.results[0].signals["lexical"].contribution > 0


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_search_by_any_contract_gives_the_response_of_that_contract(
    client: Any, models: ModuleType, contract: str
) -> None:
    request = getattr(models, f"SearchBy{contract.title()}")(query="cache", contract=contract)
    found = call("search", "search")(client=client, body=request)
    assert type(found) is getattr(models, f"{contract.title()}SearchResponse")


def test_filters_of_all_kinds(client: Any, models: ModuleType) -> None:
    within = models.FilterConditions(path="docs/**")
    within["meta.draft"] = True
    none = models.FilterNot(not_=models.FilterOr(or_=[within, "path:docs/**"]))
    request = models.QuintetSearchRequest(query="cache", filters=none)
    found = call("search", "search_quintet")(client=client, body=request)
    assert [result.path for result in found.results] == ["src/store.py", "notes with space.md"]


def test_upload_change_and_delete_in_a_knowledge_base(
    client: Any, package: ModuleType, models: ModuleType
) -> None:
    base = call("knowledge_bases", "create_base")(
        client=client, body=models.NewKnowledgeBase(slug="handbook", title="Handbook")
    )
    assert isinstance(base, models.KnowledgeBase)
    document = models.NewDocument(id="canteen", text="The canteen opens at noon.")
    put = call("documents", "put_documents")
    taken = put("handbook", client=client, body=document, wait=60)
    assert [outcome.outcome for outcome in taken.documents] == [models.OutcomeKind.CREATED]
    types = importlib.import_module(f"{PACKAGE}.types")
    file = types.File(
        payload=b"# Parking\n\nBehind the house.\n", file_name="parking.md", mime_type="text/markdown"
    )
    taken = put("handbook", client=client, body=models.DocumentForm(file=[file]), wait=60)
    assert taken.documents[0].name == "parking.md"
    source = call("documents", "get_source_file")("handbook", taken.documents[0].id, client=client)
    assert source.payload.read() == b"# Parking\n\nBehind the house.\n"
    change = models.DocumentChange(title="Lunch")
    call("documents", "change_document")("handbook", "canteen", client=client, body=change, wait=60)
    assert call("documents", "get_document")("handbook", "canteen", client=client).title == "Lunch"
    inner = models.Retrieval(query="noon", index="kb_handbook", search_method=models.SearchMethod.KEYWORD)
    found = call("search", "retrieve")(
        client=client, body=models.RetrievalRequest(retrieval=inner, references=True)
    )
    assert found.retrieval_calls[0].results[0].text == "The canteen opens at noon."
    assert found.references[0].title == "Lunch"
    gone = call("documents", "delete_document")("handbook", "canteen", client=client, wait=60)
    assert isinstance(gone, models.Deleted)


def test_a_job_and_its_events(client: Any, models: ModuleType) -> None:
    job = call("jobs", "reindex")(client=client, body=models.ReindexRequest())
    assert isinstance(job, models.Job)
    events = call("jobs", "follow_job")(job.id, client=client)
    assert "event: end" in events
    ended = call("jobs", "get_job")(job.id, client=client)
    assert ended.state is models.JobState.DONE
    assert isinstance(ended.result, models.ReindexResult)


def test_an_error_is_an_object_with_a_code(client: Any, models: ModuleType) -> None:
    missing = call("knowledge_bases", "get_base")("nowhere", client=client)
    assert isinstance(missing, models.ErrorResponse)
    assert (missing.error.code, "nowhere" in missing.error.message) == ("unknown_index", True)
    blank = call("search", "search_quintet")(client=client, body=models.QuintetSearchRequest(query=" "))
    assert blank.error.code == "bad_query"


def test_the_models_of_datamodel_codegen_read_and_write_what_the_server_does(
    generated: Path, api: dict[str, Any], served: Running
) -> None:
    models = importlib.import_module(MODELS)
    names = {name for name, value in vars(models).items() if getattr(value, "__module__", "") == MODELS}
    assert {name for name in names if name.isidentifier()} == set(api["components"]["schemas"])
    request = models.QuintetSearchRequest(query="cache", limit=2, filters={"path": "docs/**"})
    body = request.model_dump(mode="json", exclude_unset=True, by_alias=True)
    with served.client() as client:
        found = models.QuintetSearchResponse.model_validate(client.post("/v1/search", json=body).json())
        status = models.IndexStatus.model_validate(client.get("/v1/status").json())
        error = models.ErrorResponse.model_validate(client.post("/v1/search", json={"query": ""}).json())
    assert [result.path for result in found.results] == ["docs/cache.md", "docs/keys.md"]
    assert (status.files, error.error.code) == (5, "bad_query")
    with pytest.raises(ValueError, match="query"):
        models.QuintetSearchRequest(query=" ")
