"""Binary formats are parsed in a process of their own: it may hang, crash or eat memory, and only the
file it was reading is lost. One process serves many files and is replaced after a failure.

What comes back is JSON of bounded size, never a pickle.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType

from quintet.formats.blocks import Block, ParsedFile
from quintet.formats.decoding import UnreadableFile
from quintet.processes.channel import (
    HEADER,
    START_SECONDS,
    TooLarge,
    end,
    ended,
    in_words,
    input_of,
    killed_after,
    output_of,
    receive,
    send,
)
from quintet.settings import Settings

# -P: the current folder may be a stranger's, and must not be where modules are looked for.
COMMAND = (sys.executable, "-P", "-m", "quintet.formats.sandbox.child")


EXHAUSTED = b'"needs more memory to read than parse_bytes allows"'


@dataclass(frozen=True, slots=True)
class ParseLimits:
    """What reading one file may cost."""

    seconds: float
    memory: int
    pages: int
    answer: int = 64_000_000

    @classmethod
    def of(cls, settings: Settings) -> "ParseLimits":
        return cls(settings.parse_seconds, settings.parse_bytes, settings.max_pages)


class Sandbox:
    """Use as a context manager. The process starts with the first file; `command` is for tests."""

    def __init__(self, limits: ParseLimits, command: Sequence[str] = COMMAND) -> None:
        self._limits = limits
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self._out_of_time = False

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """The process that would get the next file, if it is there already."""
        return self._process.pid if self._process else None

    def parse(self, path: str, data: bytes) -> ParsedFile:
        """The blocks of a file, or `UnreadableFile` with the reason why there are none."""
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._process = self._started()
        try:
            answer = self._asked(self._process, path, data)
        except TooLarge as error:
            self.close()
            raise UnreadableFile(f"holds more text than {self._limits.answer} bytes") from error
        except BaseException:
            self.close()  # an answer left unread would be taken for the next file's
            raise
        if answer is None:
            raise UnreadableFile(self._autopsy())
        if self._out_of_time or answer == EXHAUSTED:  # the last answer of this process
            self.close()
        return _parsed(answer)

    def _started(self) -> "subprocess.Popen[bytes]":
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # threads reserve address space
        process = subprocess.Popen(
            [*self._command, str(self._limits.memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        with killed_after(START_SECONDS, process):
            ready = receive(output_of(process), HEADER)
        if ready is None:
            self._process = process
            self.close()
            raise UnreadableFile(f"cannot be read, since this does not start: {' '.join(COMMAND)}")
        return process

    def _asked(self, process: "subprocess.Popen[bytes]", path: str, data: bytes) -> bytes | None:
        question = {"path": path, "pages": self._limits.pages, "seconds": self._limits.seconds}
        struck = None
        try:
            with killed_after(self._limits.seconds, process) as struck:
                with contextlib.suppress(OSError):  # it is gone: so is its answer
                    send(input_of(process), json.dumps(question).encode())
                    send(input_of(process), data)
                return receive(output_of(process), self._limits.answer)
        finally:
            self._out_of_time = struck is not None and struck.is_set()

    def _autopsy(self) -> str:
        """Why there was no answer."""
        process, self._process = self._process, None
        code = 0 if process is None else ended(process)
        if self._out_of_time or (code < 0 and code == -getattr(signal, "SIGXCPU", 0)):
            return f"takes longer than {self._limits.seconds:g} seconds to read; raise parse_seconds"
        return (
            f"made its parser crash ({in_words(code)}): it is damaged, hostile, or needs more memory than "
            f"{self._limits.memory} bytes (parse_bytes)"
        )

    def close(self) -> int:
        """End the process, if there is one; how it ended."""
        process, self._process = self._process, None
        return 0 if process is None else end(process)


def pack(parsed: ParsedFile) -> bytes:
    """`parsed` for the pipe."""
    return json.dumps([parsed.title, parsed.mime_type, list(parsed.blocks), parsed.metadata]).encode()


def pack_refusal(reason: str) -> bytes:
    return json.dumps(reason).encode()


def _parsed(answer: bytes) -> ParsedFile:
    match json.loads(answer):
        case str(reason):
            raise UnreadableFile(reason)
        case [str(title), str(mime_type), list(blocks), dict(metadata)]:
            return ParsedFile(title, mime_type, None, tuple(map(_block, blocks)), metadata)
        case _:
            raise UnreadableFile("gave an answer that is not understood")


def _block(fields: list[object]) -> Block:
    block = Block._make(fields)
    return block._replace(heading_path=tuple(block.heading_path))
