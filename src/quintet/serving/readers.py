"""Reader processes: searches of a server run in them, so that they use all cores.

Only this server's own functions run there, with arguments that were checked and authorised here.
"""

import json
import logging
import math
import sys
import time
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from threading import Event, Lock, Thread
from typing import Any

from quintet.errors import LimitError
from quintet.processes.channel import code_version
from quintet.processes.child import ChildProcess, NotStarted, can_start_processes, cores, describe_exit
from quintet.query.cache import CacheFigures
from quintet.serving.reply import Read, Reply, unpack

COMMAND = (sys.executable, "-P", "-m", "quintet.serving.reader")
VERSION = code_version(__file__).encode()  # a reader must run the same code
ATTEMPTS = 2  # a read whose reader died is repeated once
WATCH_SECONDS = 0.5  # how often the time of running reads is looked at

log = logging.getLogger(__name__)


class ReaderDied(Exception):  # noqa: N818
    """No reader lived to answer: the read itself may have killed them, or the server is closing."""


def reader_count(setting: int) -> int:
    """How many readers to use; 0 if searches run in the server's own process.

    >>> reader_count(1), reader_count(3)
    (0, 3)
    """
    count = (setting or cores()) if can_start_processes() else 1
    return count if count > 1 else 0


class Readers:
    """Up to `count` processes. The first starts at once; a further one starts when all others are busy.

    The first answers at once and loads its model when a search needs it. Later ones join with their model
    loaded, so that answers do not go back to text alone. `configuration` says how to open the index.
    """

    def __init__(
        self,
        count: int,
        configuration: Mapping[str, Any],
        command: Sequence[str] = COMMAND,
        *,
        seconds: float = math.inf,
    ) -> None:
        """A read that takes longer than `seconds` is ended together with its reader."""
        self.deaths = 0
        self._seconds = seconds
        self._ended = Event()
        self.most = count
        self._configuration = configuration
        self._command = command
        self._guard = Lock()
        self._readers: list[_Reader] = []
        self._idle: list[_Reader] = []
        self._waiting: deque[Future[_Reader | None]] = deque()  # first come, first served
        self._buried = CacheFigures()
        self._starting: Thread | None = None
        self._closed = False
        with self._guard:
            self._start(loaded=False)
        if seconds < math.inf:
            Thread(target=self._watch, name="quintet-watchdog", daemon=True).start()

    @property
    def count(self) -> int:
        """The processes that run now."""
        return len(self._readers)

    def run(self, read: Read, arguments: Mapping[str, Any]) -> Reply | None:
        """The answer of `read` in any reader; None if the caller has to run it: no reader can be started, or
        the arguments are no JSON."""
        request = {"module": read.__module__, "name": read.__qualname__, "arguments": arguments}
        try:
            message = json.dumps(request).encode()
        except (ValueError, RecursionError):  # a number of 5,000 digits, or 1,000 levels
            return None
        for attempt in range(ATTEMPTS):
            reader = self._take()
            if reader is None and not attempt:
                return None
            if reader is None:  # what killed a reader must not run in the server itself
                break
            outcome = self._ask(reader, message)
            if isinstance(outcome, Exception):
                raise outcome
            if outcome is not None:
                return outcome
        raise ReaderDied

    def cache_figures(self) -> CacheFigures:
        """The sum over all readers, with what those that died had counted."""
        with self._guard:
            return sum((reader.cache for reader in self._readers), self._buried)

    def close(self) -> None:
        """End all readers, whatever they are doing."""
        self._ended.set()
        with self._guard:
            self._closed = True
            starting = self._starting
        if starting is not None:
            starting.join()
        readers = tuple(self._readers)
        for reader in readers:
            reader.process.close_input()
        for reader in readers:
            reader.process.wait()

    def _take(self) -> "_Reader | None":
        """An idle reader, the one used last first: its caches are warm. None if there will never be one."""
        with self._guard:
            if self._closed:
                raise ReaderDied
            while self._idle:
                reader = self._idle.pop()
                if reader.process.is_alive:
                    return reader
                self._bury(reader)
            place: Future[_Reader | None] = Future()
            self._waiting.append(place)
            self._grow()
        return place.result()

    def _watch(self) -> None:
        while not self._ended.wait(WATCH_SECONDS):
            with self._guard:
                for reader in self._readers:
                    if time.monotonic() > reader.deadline:
                        reader.overran = True
                        reader.process.kill()

    def _ask(self, reader: "_Reader", message: bytes) -> Reply | Exception | None:
        """None if the reader died of itself."""
        with self._guard:
            reader.deadline = time.monotonic() + self._seconds
        try:
            outcome = reader.ask(message)
            return self._too_long() if outcome is None and reader.overran else outcome
        except BaseException:  # an unread answer would be taken for the answer to the next question
            reader.process.end()
            raise
        finally:
            with self._guard:
                reader.deadline = math.inf
                if reader.process.is_alive and not reader.overran:
                    self._offer(reader)
                else:
                    self._bury(reader)
                    self._grow()

    def _too_long(self) -> LimitError:
        message = f"no answer within {self._seconds:g} s; ask for less, or try again"
        return LimitError(message, code="timed_out")

    def _offer(self, reader: "_Reader") -> None:
        if self._waiting:
            self._waiting.popleft().set_result(reader)
        else:
            self._idle.append(reader)

    def _bury(self, reader: "_Reader") -> None:
        self._readers.remove(reader)
        self._buried = replace(self._buried + reader.cache, entries=0, bytes=0)
        if not self._closed:
            self.deaths += 1
            log.warning("a reader process died: %s", describe_exit(reader.process.wait()))

    def _grow(self) -> None:
        """Start one more for those who wait; if none runs and none can be started, they wait no more."""
        if not self._waiting or self._starting is not None:
            return
        if len(self._readers) < self.most and not self._closed:
            self._start(loaded=True)
        elif not self._readers:
            while self._waiting:
                place = self._waiting.popleft()
                if self._closed:
                    place.set_exception(ReaderDied())
                else:
                    place.set_result(None)

    def _start(self, loaded: bool) -> None:
        """In the background, since it takes about a second."""
        self._starting = Thread(target=self._add, args=[loaded], name="quintet-reader", daemon=True)
        self._starting.start()

    def _add(self, loaded: bool) -> None:
        configuration = json.dumps({**self._configuration, "loaded": loaded}).encode()
        reader = None
        try:
            reader = _Reader(self._command, configuration)
        except NotStarted as error:
            log.warning("searches use %d reader processes: another one %s", self.count, error)
        with self._guard:
            self._starting = None
            if reader is None:
                self.most = self.count
            else:
                self._readers.append(reader)
                self._offer(reader)
            self._grow()


class _Reader:
    """One process that is ready for questions. Only one thread at a time may ask."""

    def __init__(self, command: Sequence[str], configuration: bytes) -> None:
        self.cache = CacheFigures()
        self.deadline = math.inf  # of the read that runs
        self.overran = False
        self.process = ChildProcess(command, logs=True)
        self.process.send(configuration)
        greeting = self.process.receive_greeting()
        if greeting != VERSION:
            self.process.close_input()
            told = (greeting or b"").decode("utf-8", "replace")
            raise NotStarted(f"did not start ({describe_exit(self.process.wait())}): {told}")

    def ask(self, message: bytes) -> Reply | Exception | None:
        """The answer or the error of a read; None if the process died."""
        self.process.send(message)
        answer = self.process.receive()
        if answer is None:
            self.process.wait()
            return None
        outcome, self.cache = unpack(answer)
        return outcome
