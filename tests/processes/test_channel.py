"""Messages arrive whole, or not at all."""

from io import BytesIO
from pathlib import Path

import pytest

from quintet.processes.channel import HEADER, TooLarge, code_version, receive, send


def stream(*messages: bytes) -> BytesIO:
    pipe = BytesIO()
    for message in messages:
        send(pipe, message)
    pipe.seek(0)
    return pipe


def test_messages_come_in_order_and_then_none() -> None:
    pipe = stream(b"first", b"", b"x" * 100_000)
    assert [receive(pipe) for _ in range(4)] == [b"first", b"", b"x" * 100_000, None]


@pytest.mark.parametrize("length", [HEADER - 1, HEADER, HEADER + 4])
def test_a_message_that_was_cut_off_is_none(length: int) -> None:
    assert receive(BytesIO(stream(b"hello").getvalue()[:length])) is None


def test_a_message_over_the_limit_is_not_read() -> None:
    pipe = stream(b"hello")
    with pytest.raises(TooLarge):
        receive(pipe, 4)
    assert pipe.tell() == HEADER


def test_a_source_file_that_is_replaced_is_another_version(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text("one")
    before = code_version(str(file))
    assert code_version(str(file)) == before
    file.touch()
    assert code_version(str(file)) != before
    assert code_version("archive.zip/module.py") == "archive.zip/module.py"
