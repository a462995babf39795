"""Processes of our own at the other end of two pipes: messages framed by their length, an end, and the same
code on both sides.

Not `multiprocessing`: that runs the caller's main module again, which a plain script does not expect.
"""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Timer
from typing import IO, cast

HEADER = 8  # bytes of a message's length, big-endian
LARGEST = 2**40  # of a message that is not limited
START_SECONDS = 60.0  # for an interpreter to come up, on a machine that has much else to do
DYING_SECONDS = 5.0  # between the end of a process's output and its own
COLLECTED = 50_000  # new objects between two looks for garbage: rows, texts and trees of a file are no cycles
NOT_FOR_US = ("SIGINT", "SIGTERM", "SIGHUP")  # go to a whole group of processes, of which one decides


class TooLarge(Exception):  # noqa: N818
    """The other side announced more than was allowed."""


def send(stream: IO[bytes], message: bytes) -> None:
    stream.write(len(message).to_bytes(HEADER, "big"))
    stream.write(message)
    stream.flush()


def receive(stream: IO[bytes], most: int = LARGEST) -> bytes | None:
    """The next message; None where the other side is gone."""
    header = stream.read(HEADER)
    if len(header) < HEADER:
        return None
    length = int.from_bytes(header, "big")
    if length > most:
        raise TooLarge
    message = stream.read(length)
    return message if len(message) == length else None


@contextmanager
def killed_after(seconds: float, process: "subprocess.Popen[bytes]") -> Iterator[Event]:
    """What is yielded is set if the time was up."""
    struck = Event()

    def kill() -> None:
        struck.set()
        process.kill()

    timer = Timer(seconds, kill)
    timer.daemon = True
    timer.start()
    try:
        yield struck
    finally:
        timer.cancel()
        timer.join()


def input_of(process: "subprocess.Popen[bytes]") -> IO[bytes]:
    return cast(IO[bytes], process.stdin)


def output_of(process: "subprocess.Popen[bytes]") -> IO[bytes]:
    return cast(IO[bytes], process.stdout)


def end(process: "subprocess.Popen[bytes]") -> int:
    """End a process and close its pipes; its exit code."""
    with suppress(OSError):
        input_of(process).close()
    if process.poll() is None:
        process.kill()
    code = process.wait()
    output_of(process).close()
    return code


def ended(process: "subprocess.Popen[bytes]") -> int:
    """The exit code of one whose output has ended."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(DYING_SECONDS)
    return end(process)


def in_words(code: int) -> str:
    """What an exit code says."""
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def stamp(file: str) -> str:
    """A source file as it is now, to be taken when it is imported: an upgrade may replace it later, and what
    is started then is another program."""
    try:
        return f"{file} {os.stat(file).st_mtime_ns}"  # noqa: PTH116  (what a module is called is a string)
    except OSError:  # it lies in an archive
        return file


def leave_signals() -> None:
    """In such a process: the end of its input ends it, and no signal that is meant for its parent."""
    for name in NOT_FOR_US:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)


def begun() -> IO[bytes]:
    """In such a process: where its answers go. What a library prints must not pass for one of them."""
    leave_signals()
    answers = os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123
        os.dup2(nowhere.fileno(), 1)
    return answers
