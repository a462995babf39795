"""Embed texts in several processes."""

import json
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from queue import SimpleQueue
from typing import TYPE_CHECKING

import numpy as np

from quintet.model.vector import Int16
from quintet.processes.child import ChildProcess

if TYPE_CHECKING:
    from quintet.embed.local import LocalEmbedder

GROUP_TEXTS = 16  # texts a process gets at once: a fraction of a second, so that all finish together
GROUPS_AHEAD = 2  # groups per process that are requested before their turn


class EmbeddingPool:
    """Processes that are started at once and used until `close`. Safe to share between threads."""

    def __init__(self, embedder: "LocalEmbedder", count: int) -> None:
        self._embedder = embedder
        self.closed = False  # its processes are gone, and nobody waits for vectors
        command = (sys.executable, "-P", "-m", "quintet.embed.worker", embedder.name, embedder.identity)
        self._processes = [ChildProcess(command) for _ in range(count)]
        self._idle: SimpleQueue[ChildProcess] = SimpleQueue()
        for process in self._processes:
            self._idle.put(process)
        self._threads = ThreadPoolExecutor(count, "quintet-embed")  # each waits for one process

    def embed(self, batches: Iterable[Sequence[str]]) -> Iterator[Int16]:
        """The vectors of each batch, in order. The processes work ahead while the caller uses a batch."""
        requested: deque[_Batch] = deque()
        try:
            for texts in batches:
                requested.append(_Batch(self, texts))
                while sum(batch.unfinished for batch in requested) > GROUPS_AHEAD * len(self._processes):
                    yield requested[0].vectors()
                    requested.popleft()
            while requested:
                yield requested[0].vectors()
                requested.popleft()
        except (Exception, GeneratorExit):
            raise
        except BaseException:  # a signal: nobody waits for the texts that are being embedded
            self.kill()
            raise
        finally:  # an abandoned call leaves no work behind
            for batch in requested:
                batch.cancel()

    def start(self, texts: list[str]) -> "Future[Int16]":
        return self._threads.submit(self._embed_in_some_process, texts)

    def _embed_in_some_process(self, texts: list[str]) -> Int16:
        """This process embeds the texts of one that died."""
        self._embedder.check_stopped()
        process = self._idle.get()
        try:
            process.send(json.dumps(texts).encode())
            answer = process.receive()
        except BaseException:  # an unread answer would be taken for the answer to the next call
            process.kill()
            raise
        finally:
            self._idle.put(process)
        if answer is None:
            self._embedder.check_stopped()
            if self.closed:
                return np.empty((0, self._embedder.dimensions), np.int16)
            return self._embedder.embed_here(texts)
        return np.frombuffer(answer, "<i2").reshape(len(texts), -1)

    def kill(self) -> None:
        self.closed = True
        for process in self._processes:
            process.kill()

    def close(self) -> None:
        self.closed = True
        for process in self._processes:
            process.close_input()
        self._threads.shutdown(cancel_futures=True)
        for process in self._processes:
            process.wait()


class _Batch:
    """The texts of one answer, in groups of similar length, the longest first."""

    def __init__(self, pool: EmbeddingPool, texts: Sequence[str]) -> None:
        order = sorted(range(len(texts)), key=lambda at: (-len(texts[at]), at))
        self._groups = [order[start : start + GROUP_TEXTS] for start in range(0, len(order), GROUP_TEXTS)]
        self._answers = [pool.start([texts[row] for row in rows]) for rows in self._groups]
        self._shape = len(texts), pool._embedder.dimensions

    @property
    def unfinished(self) -> int:
        return sum(not answer.done() for answer in self._answers)

    def vectors(self) -> Int16:
        vectors = np.empty(self._shape, np.int16)
        for rows, answer in zip(self._groups, self._answers, strict=True):
            vectors[rows] = answer.result()
        return vectors

    def cancel(self) -> None:
        wait([answer for answer in self._answers if not answer.cancel()])
