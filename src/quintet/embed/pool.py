"""Embed texts in several processes."""

import json
import sys
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from quintet.model.vector import Int16
from quintet.processes.child import ChildProcess

if TYPE_CHECKING:
    from quintet.embed.local import LocalEmbedder


class EmbeddingPool:
    """Processes that are started at once and used until `close`."""

    def __init__(self, embedder: "LocalEmbedder", count: int) -> None:
        self._embedder = embedder
        self._lock = Lock()  # one call at a time
        command = (sys.executable, "-P", "-m", "quintet.embed.worker", embedder.name)
        self._processes = [ChildProcess(command) for _ in range(count)]

    def embed(self, texts: Sequence[str]) -> Int16:
        """Deal the texts to the processes, longest first, so that all finish at about the same time. This
        process does the share of one that died."""
        with self._lock:
            try:
                return self._embed(texts)
            except BaseException:  # an unread answer would be taken for the answer to the next call
                self.kill()
                raise

    def _embed(self, texts: Sequence[str]) -> Int16:
        self._embedder.check_stopped()
        order = sorted(range(len(texts)), key=lambda at: (-len(texts[at]), at))
        count = len(self._processes)
        shares = [(process, order[start::count]) for start, process in enumerate(self._processes)]
        vectors = np.empty((len(texts), self._embedder.dimensions), np.int16)
        for process, rows in shares:
            process.send(json.dumps([texts[row] for row in rows]).encode())
        for process, rows in shares:
            answer = process.receive()
            if answer is None:
                self._embedder.check_stopped()
                vectors[rows] = self._embedder.embed_here([texts[row] for row in rows])
            else:
                vectors[rows] = np.frombuffer(answer, "<i2").reshape(len(rows), -1)
        return vectors

    def kill(self) -> None:
        for process in self._processes:
            process.kill()

    def close(self) -> None:
        for process in self._processes:
            process.close_input()
        for process in self._processes:
            process.wait()
