"""Processes that embed. Each is `python -m quintet.embed.worker`, fed through its standard input."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from quintet.model.vector import Int16
from quintet.processes.channel import input_of, output_of, receive, send

if TYPE_CHECKING:
    from quintet.embed.local import LocalEmbedder


class EmbeddingPool:
    """As many processes as were asked for, started at once, reused until closed."""

    def __init__(self, embedder: "LocalEmbedder", count: int) -> None:
        self._embedder = embedder
        self._one_at_a_time = Lock()
        # One BLAS thread each: the processes are the parallelism.
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-P", "-m", "quintet.embed.worker", embedder.name]
        self._processes = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
            for _ in range(count)
        ]

    def embed(self, texts: Sequence[str]) -> Int16:
        """Longest first, dealt in turn, so that all finish together. A process that died is done without."""
        with self._one_at_a_time:
            try:
                return self._embed(texts)
            except BaseException:  # an answer left unread would be taken for the next question's
                for process in self._processes:
                    process.kill()
                raise

    def _embed(self, texts: Sequence[str]) -> Int16:
        order = sorted(range(len(texts)), key=lambda at: (-len(texts[at]), at))
        hands = [order[start :: len(self._processes)] for start in range(len(self._processes))]
        vectors = np.empty((len(texts), self._embedder.dimensions), np.int16)
        dealt = list(zip(self._processes, hands, strict=True))
        for process, hand in dealt:
            with contextlib.suppress(OSError):
                send(input_of(process), json.dumps([texts[at] for at in hand]).encode())
        for process, hand in dealt:
            answer = receive(output_of(process))
            if answer is None:
                vectors[hand] = self._embedder.embed_here([texts[at] for at in hand])
            else:
                vectors[hand] = np.frombuffer(answer, "<i2").reshape(len(hand), -1)
        return vectors

    def close(self) -> None:
        for process in self._processes:
            with contextlib.suppress(OSError):
                input_of(process).close()
        for process in self._processes:
            process.wait()
            output_of(process).close()
