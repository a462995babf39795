"""What the OpenAPI document cannot say. Schemathesis loads this module; every other failure counts.

JSON Schema knows neither the grammar of a language nor the state of a server. Each entry names the failure
and the code of the error; its function says when the server is right, and why.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import schemathesis

REJECTED, ACCEPTED, STILL_THERE = "RejectedPositiveData", "AcceptedNegativeData", "UseAfterFree"

OF_FORMS = ("can be given with one file only", "metadata must be a JSON object", "uri is ")


@dataclass(frozen=True)
class Exemption:
    """`failure` is the name of a class of Schemathesis; `code` is that of the error, if there is one."""

    failure: str
    code: str | None
    applies: Callable[[str, Any, str], bool]  # given the path, the body, and both messages


def asks_in_fts5(path: str, body: Any, answer: str) -> bool:
    """The query language of FTS5 has a grammar of its own."""
    return any(part.get("syntax") == "fts5" for part in parts(body))


def filters_in_text(path: str, body: Any, answer: str) -> bool:
    """The filter language has a grammar of its own."""
    return "of the filter)" in answer


def filters_by_odd_value(path: str, body: Any, answer: str) -> bool:
    """A pattern does not know the calendar; a number beyond 64 bits cannot be stored."""
    return "it must be a whole number of Unix milliseconds" in answer or "fit into 64 bits" in answer


def names_a_path(path: str, body: Any, answer: str) -> bool:
    """Only the disk says which folders there are."""
    return path in ("/v1/reindex", "/v1/map", "/v1/knowledge-bases/{kb}/sources")


def is_no_written_receipt(path: str, body: Any, answer: str) -> bool:
    """The digest of a receipt must match its claim."""
    return path == "/v1/verify" and "its digest does not match its claim" in answer


def stands_beside_a_claim(path: str, body: Any, answer: str) -> bool:
    """A receipt with the right digest gets a verdict, whatever else it holds."""
    return path == "/v1/verify" and "in path" not in answer and "in query" not in answer


def filters_by_property(path: str, body: Any, answer: str) -> bool:
    """Each knowledge base has properties of its own."""
    return "unknown filter" in answer


def takes_too_few_candidates(path: str, body: Any, answer: str) -> bool:
    """A schema cannot compare two numbers."""
    return "must not be smaller than final_limit" in answer


def has_parameters_of_a_contract(path: str, body: Any, answer: str) -> bool:
    """The contract decides which parameters there are."""
    return path == "/v1/why" and bool(body.get("params"))


def sends_a_form(path: str, body: Any, answer: str) -> bool:
    """Schemathesis cannot read a condition beside a file: an id of one file only, metadata that is JSON."""
    return path.endswith("/documents") and any(words in answer for words in OF_FORMS)


def gives_a_vector(path: str, body: Any, answer: str) -> bool:
    """The index decides how long a vector is."""
    return "dimensions; this index has" in answer


def sends_a_document(path: str, body: Any, answer: str) -> bool:
    """The parser of the format decides whether there is a text."""
    return "/documents" in path


def repeats_a_property(path: str, body: Any, answer: str) -> bool:
    """A schema cannot say that names differ."""
    return "is given twice; name each property once" in answer


def sends_several_documents(path: str, body: Any, answer: str) -> bool:
    """Each document has an outcome of its own; one that is refused does not keep out the others."""
    return path.endswith("/documents") and "in body - documents" in answer


def sends_files(path: str, body: Any, answer: str) -> bool:
    """In a form everything is text, also what was meant as null."""
    return path.endswith("/documents") and isinstance(body, dict) and "file" in body and "in body" in answer


def cancels_a_job(path: str, body: Any, answer: str) -> bool:
    """DELETE cancels a job, which can still be read."""
    return path.startswith("/v1/jobs/{id}")


EXEMPTIONS = (
    Exemption(REJECTED, "bad_query", asks_in_fts5),
    Exemption(REJECTED, "invalid_filter", filters_in_text),
    Exemption(REJECTED, "invalid_filter", filters_by_odd_value),
    Exemption(REJECTED, "invalid_path", names_a_path),
    Exemption(REJECTED, "invalid_parameter", is_no_written_receipt),
    Exemption(ACCEPTED, None, stands_beside_a_claim),
    Exemption(REJECTED, "invalid_filter", filters_by_property),
    Exemption(REJECTED, "invalid_parameter", takes_too_few_candidates),
    Exemption(REJECTED, "invalid_parameter", has_parameters_of_a_contract),
    Exemption(REJECTED, "invalid_filter", has_parameters_of_a_contract),
    Exemption(REJECTED, "invalid_parameter", sends_a_form),
    Exemption(REJECTED, "invalid_parameter", gives_a_vector),
    Exemption(REJECTED, "unreadable_document", sends_a_document),
    Exemption(REJECTED, "documents_refused", sends_a_document),
    Exemption(REJECTED, "invalid_parameter", repeats_a_property),
    Exemption(ACCEPTED, None, sends_several_documents),
    Exemption(ACCEPTED, None, sends_files),
    Exemption(STILL_THERE, None, cancels_a_job),
)


def parts(body: Any) -> list[dict[str, Any]]:
    """The body and the objects in it that hold parameters."""
    if not isinstance(body, dict):
        return []
    inner = [body.get(name) for name in ("retrieval", "params", "code")]
    return [part for part in (body, *inner) if isinstance(part, dict)]


def code_in(answer: str) -> str | None:
    try:
        return str(json.loads(answer)["error"]["code"])
    except (ValueError, KeyError, TypeError):
        return None


@schemathesis.hook
def filter_failure(context: Any, failure: Any, case: Any, response: Any) -> bool:
    kind, answer = type(failure).__name__, f"{failure.message}\n{response.text}"
    return not any(
        exemption.failure == kind
        and exemption.code == code_in(response.text)
        and exemption.applies(case.operation.path, case.body, answer)
        for exemption in EXEMPTIONS
    )
