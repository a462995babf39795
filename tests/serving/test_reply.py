"""A reply crosses from a reader process to the server as it was."""

import pytest

from quintet import errors
from quintet.errors import QuintetError, UsageError
from quintet.http.responses import RequestError
from quintet.query.cache import CacheFigures
from quintet.serving.reply import Reply, pack, unpack

FIGURES = CacheFigures(1, 2, 3, 4, 5, 6)
KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, QuintetError)]


@pytest.mark.parametrize("content", [b"", b"\n", b'{"a": 1}\n', "Čaj\n茶\n".encode(), bytes(range(256))])
def test_the_content_arrives_byte_for_byte(content: bytes) -> None:
    reply = Reply(content, 0.1, {"text": 0.25, "vector": 1 / 3})  # type: ignore[dict-item]
    assert unpack(pack(reply, FIGURES)) == (reply, FIGURES)


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_keeps_its_kind_and_its_fields(kind: type[QuintetError]) -> None:
    sent = kind("half a pair: \ud83d", code="bad_query", details={"parameter": "Čaj", "limit": 3})
    error, figures = unpack(pack(sent, FIGURES))
    assert type(error) is kind and figures == FIGURES
    assert (error.message, error.code, error.details) == (sent.message, sent.code, sent.details)


def test_an_error_of_a_door_arrives_as_the_kind_that_every_process_knows() -> None:
    error, _ = unpack(pack(RequestError(415, "unsupported_media_type", "no"), FIGURES))
    assert type(error) is UsageError and error.code == "unsupported_media_type"


def test_a_fault_keeps_the_name_of_its_type_and_says_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QUINTET_DEBUG", raising=False)
    fault, _ = unpack(pack(ZeroDivisionError("words of a document"), FIGURES))
    assert (type(fault).__name__, str(fault)) == ("ZeroDivisionError", "")
    monkeypatch.setenv("QUINTET_DEBUG", "1")
    fault, _ = unpack(pack(ZeroDivisionError("words of a document"), FIGURES))
    assert "words of a document" in str(fault)
