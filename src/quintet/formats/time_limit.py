"""A time limit for parsing text in this process. Binary formats have a process of their own, which is killed.

Parsers of text are plain Python, so an exception can be raised between any two steps of them, in any thread.
"""

import ctypes
import sys
import threading
from collections.abc import Callable
from time import sleep
from typing import TypeVar

from quintet.formats.decoding import UnreadableFile

T = TypeVar("T")

SMALL = 64_000  # characters; even the worst text of that size takes a second


class _TimeUp(BaseException):
    """Nothing in a parser may take this for an error of the file."""


def within(seconds: float, chars: int, work: Callable[[], T]) -> T:
    """The result of `work`. Raises `UnreadableFile` once it has taken `seconds`. Small texts are not watched:
    a thread for each would cost more than they do."""
    if chars <= SMALL:
        return work()
    thread, ending = threading.get_ident(), threading.Lock()
    timer = threading.Timer(seconds, _interrupt, (thread, ending))
    timer.daemon = True
    try:
        try:
            timer.start()
            return work()
        finally:
            timer.cancel()
            while sys.exc_info()[0] is not _TimeUp and not ending.acquire(blocking=False):
                sleep(0.001)  # the timer was faster: its exception arrives here
    except _TimeUp:
        raise UnreadableFile(f"takes longer than {seconds:g} seconds to read; raise text_seconds") from None


def _interrupt(thread: int, ending: threading.Lock) -> None:
    """Raise in another thread. The exception is never taken back: under a tracer, CPython 3.11 would look for
    it for ever."""
    if ending.acquire(blocking=False):
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(_TimeUp))
