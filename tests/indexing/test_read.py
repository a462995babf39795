"""Reading a file once, and saying why when it cannot be read."""

import os
import socket
from hashlib import sha256
from pathlib import Path

import pytest

from quintet.formats.decoding import UnreadableFile
from quintet.indexing.read import read_file


def _reason(location: Path, max_bytes: int = 100_000) -> str:
    with pytest.raises(UnreadableFile) as raised:
        _ = read_file(location, max_bytes).text
    return raised.value.reason


def test_newlines_become_line_feeds_but_the_hash_is_of_the_raw_bytes(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"one\r\ntwo\rthree\n")
    content = read_file(file, 100)
    assert content.text == "one\ntwo\nthree\n"
    assert content.sha256 == sha256(b"one\r\ntwo\rthree\n").hexdigest()


def test_size_and_time_are_those_of_the_file_that_was_read(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"four")
    os.utime(file, ns=(5, 1_234_567_890_123_456_789))
    content = read_file(str(file), 4)
    assert (content.size, content.modified_ns) == (4, 1_234_567_890_123_456_789)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_is_obeyed_and_dropped(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes("naïve €\n".encode(encoding))
    assert read_file(file, 100).text == "naïve €\n"


@pytest.mark.parametrize(("mark", "encoding"), [(b"\xfe\xff", "utf-16-be"), (b"\0\0\xfe\xff", "utf-32-be")])
def test_big_endian_text_is_read_too(tmp_path: Path, mark: bytes, encoding: str) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(mark + "ab".encode(encoding))
    assert read_file(file, 100).text == "ab"


def test_an_empty_file_is_empty_text(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    assert read_file(tmp_path / "a", 1).text == ""


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"MZ\0\0", "binary"),
        (b"\xef\xbb\xbfab\0", "binary"),
        (b"abc\xff", "not valid UTF-8 at byte 3"),
        (b"\xef\xbb\xbfab\xff", "not valid UTF-8 at byte 5"),
        (b"\xff\xfea\0\x00\xd8", "not valid UTF-16 at byte 4"),
    ],
)
def test_what_is_not_text_is_refused_with_its_reason(tmp_path: Path, data: bytes, reason: str) -> None:
    (tmp_path / "a").write_bytes(data)
    assert _reason(tmp_path / "a") == reason


def test_a_file_at_the_cap_is_read_and_one_above_it_is_not(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("12345")
    assert read_file(tmp_path / "a", 5).text == "12345"
    assert _reason(tmp_path / "a", 4) == "grew beyond the size cap"


def test_a_missing_file_is_unreadable_in_the_words_of_the_system(tmp_path: Path) -> None:
    assert _reason(tmp_path / "gone") == "cannot be read: No such file or directory"


def test_a_file_that_became_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s")
    (tmp_path / "a").symlink_to(tmp_path / "secret")
    assert _reason(tmp_path / "a") == "a symbolic link, or behind one"


def test_a_file_that_became_a_fifo_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a")
    assert _reason(tmp_path / "a") == "not a regular file"


def test_a_folder_a_socket_and_a_device_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's name must be short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("s")
        assert _reason(tmp_path / "s").startswith("cannot be read: ")
    assert _reason(tmp_path) == "not a regular file"
    assert _reason(Path("/dev/null")) == "not a regular file"
