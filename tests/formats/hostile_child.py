"""The parsing process with a parser that does what the file's name says. Run as a script by the tests."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from quintet.formats.blocks import Block, ParsedFile
from quintet.formats.sandbox.child import main


def hang(data: bytes) -> None:
    while True:
        pass


def hang_and_tell(data: bytes) -> None:
    Path(data.decode()).write_text(str(os.getpid()))
    hang(data)


def refuse(data: bytes) -> None:
    raise ValueError("no such thing")


ACTIONS: dict[str, Callable[[bytes], object]] = {
    "hang": hang,
    "cpu": hang_and_tell,
    "sleep": lambda _: signal.pause(),
    "crash": lambda _: ctypes.string_at(0),
    "exit": lambda _: os._exit(3),
    "leave": lambda _: os._exit(0),
    "hog": lambda _: bytearray(2**40),
    "raise": refuse,
    "chatter": lambda _: os.write(1, b"pdfium says hello\n"),
}


def read(path: str, data: bytes, pages: int) -> ParsedFile:
    if path in ACTIONS:
        ACTIONS[path](data)
    text = "x" * 200_000 if path == "flood" else f"{path} of process {os.getpid()}"
    block = Block(text, 1, 1, ("a", "b"), page=7)
    return ParsedFile("title", "application/pdf", None, (block,), {"page_count": 9})


if __name__ == "__main__":
    main(int(sys.argv[1]), read)
