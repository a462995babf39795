"""Parse binary formats in a process of their own. It may hang, crash or run out of memory: only the file that
it was reading is lost. One process serves many files and is replaced after a failure.

The answer is JSON of limited size, never a pickle, because the process reads untrusted files.
"""

import json
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType

from quintet.formats.blocks import Block, ParsedFile
from quintet.formats.decoding import UnreadableFile
from quintet.processes.channel import TooLarge
from quintet.processes.child import ChildProcess, NotStarted, describe_exit
from quintet.settings import Settings

# -P: the current folder is untrusted, and Python must not import modules from it.
COMMAND = (sys.executable, "-P", "-m", "quintet.formats.sandbox.child")
OUT_OF_MEMORY = b'"needs more memory to read than parse_bytes allows"'


@dataclass(frozen=True, slots=True)
class ParseLimits:
    """What parsing one file may cost. `memory` and `answer` are in bytes."""

    seconds: float
    memory: int
    pages: int
    text_seconds: float = 20.0  # for formats that are parsed in this process
    answer: int = 64_000_000

    @classmethod
    def of(cls, settings: Settings) -> "ParseLimits":
        return cls(settings.parse_seconds, settings.parse_bytes, settings.max_pages, settings.text_seconds)


class Sandbox:
    """Use as a context manager. The process starts with the first file; `command` is for tests."""

    def __init__(self, limits: ParseLimits, command: Sequence[str] = COMMAND) -> None:
        self.limits = limits
        self._command = command
        self._process: ChildProcess | None = None
        self._timed_out = False

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """The process that will get the next file, if it is running."""
        return self._process.pid if self._process else None

    def parse(self, path: str, data: bytes) -> ParsedFile:
        """The blocks of a file. Raises `UnreadableFile` with the reason if there are none."""
        if self._process is None or not self._process.is_alive:
            self.close()
            self._process = self._start()
        try:
            answer = self._ask(self._process, path, data)
        except TooLarge as error:
            self.close()
            raise UnreadableFile(f"holds more text than {self.limits.answer} bytes") from error
        except BaseException:
            self.close()  # an unread answer would be taken for the answer to the next file
            raise
        if answer is None:
            raise UnreadableFile(self._explain_death())
        if self._timed_out or answer == OUT_OF_MEMORY:  # the process will not serve another file
            self.close()
        return _unpack(answer)

    def _start(self) -> ChildProcess:
        try:
            process = ChildProcess([*self._command, str(self.limits.memory)])
        except NotStarted as error:
            raise UnreadableFile(str(error)) from error
        if process.receive_greeting() is None:
            process.end()
            raise UnreadableFile(
                f"cannot be read, because its parser does not start: {' '.join(self._command)}"
            )
        return process

    def _ask(self, process: ChildProcess, path: str, data: bytes) -> bytes | None:
        question = {"path": path, "pages": self.limits.pages, "seconds": self.limits.seconds}
        expired = None
        try:
            with process.time_limit(self.limits.seconds) as expired:
                process.send(json.dumps(question).encode())
                process.send(data)
                return process.receive(self.limits.answer)
        finally:
            self._timed_out = expired is not None and expired.is_set()

    def _explain_death(self) -> str:
        """Why there was no answer."""
        process, self._process = self._process, None
        code = 0 if process is None else process.wait()
        if self._timed_out or (code < 0 and code == -getattr(signal, "SIGXCPU", 0)):
            return f"takes longer than {self.limits.seconds:g} seconds to read; raise parse_seconds"
        return (
            f"made its parser crash ({describe_exit(code)}): it is damaged, hostile, or needs more memory "
            f"than {self.limits.memory} bytes (parse_bytes)"
        )

    def close(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        if process is not None:
            process.end()


def pack(parsed: ParsedFile) -> bytes:
    return json.dumps([parsed.title, parsed.mime_type, list(parsed.blocks), parsed.metadata]).encode()


def pack_refusal(reason: str) -> bytes:
    return json.dumps(reason).encode()


def _unpack(answer: bytes) -> ParsedFile:
    match json.loads(answer):
        case str(reason):
            raise UnreadableFile(reason)
        case [str(title), str(mime_type), list(blocks), dict(metadata)]:
            return ParsedFile(title, mime_type, None, tuple(map(_unpack_block, blocks)), metadata)
        case _:
            raise UnreadableFile("made its parser give an invalid answer")


def _unpack_block(fields: list[object]) -> Block:
    block = Block._make(fields)
    return block._replace(heading_path=tuple(block.heading_path))
