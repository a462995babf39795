"""The worker's side: what a worker process does about its parent, signals and standard output."""

import os
import signal
import sys
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import IO

from quintet.processes.channel import receive

PARENT_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")  # go to the whole process group; the parent decides


def open_answers() -> IO[bytes]:
    """The stream for answers. Anything else that is printed goes nowhere, so that it cannot pass for one.

    The end of its input ends a worker, so it ignores the signals that are meant for its parent: a service
    manager sends them to both, and a parent that stops in order must not find that its parser "crashed".
    """
    for name in PARENT_SIGNALS:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123
        os.dup2(nowhere.fileno(), 1)
    return answers


def receive_in_background(at_end: Callable[[], None] | None = None) -> "SimpleQueue[bytes]":
    """The messages of the parent. When the parent closes the pipe or dies, `at_end` is called and the process
    exits, whatever it is doing: nobody waits for its answer."""
    messages: SimpleQueue[bytes] = SimpleQueue()

    def listen() -> None:
        while (message := receive(sys.stdin.buffer)) is not None:
            messages.put(message)
        if at_end is not None:
            at_end()
        os._exit(0)

    Thread(target=listen, daemon=True).start()
    return messages
