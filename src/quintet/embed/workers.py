"""Processes that embed. Each is `python -m quintet.embed.worker`, fed through its standard input.

Not `multiprocessing`: that runs the caller's main module again, which a plain script does not expect.
"""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from threading import Lock
from typing import IO, TYPE_CHECKING, cast

import numpy as np

from quintet.vector import Int16

if TYPE_CHECKING:
    from quintet.embed.local import LocalEmbedder

HEADER = 8  # bytes of a message's length, big-endian


class Workers:
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
                send(cast(IO[bytes], process.stdin), json.dumps([texts[at] for at in hand]).encode())
        for process, hand in dealt:
            answer = receive(cast(IO[bytes], process.stdout))
            if answer is None:
                vectors[hand] = self._embedder.embed_here([texts[at] for at in hand])
            else:
                vectors[hand] = np.frombuffer(answer, "<i2").reshape(len(hand), -1)
        return vectors

    def close(self) -> None:
        for process in self._processes:
            with contextlib.suppress(OSError):
                cast(IO[bytes], process.stdin).close()
        for process in self._processes:
            process.wait()
            cast(IO[bytes], process.stdout).close()


def send(stream: IO[bytes], message: bytes) -> None:
    stream.write(len(message).to_bytes(HEADER, "big") + message)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes | None:
    """The next message; None where the other side is gone."""
    header = stream.read(HEADER)
    if len(header) < HEADER:
        return None
    length = int.from_bytes(header, "big")
    message = stream.read(length)
    return message if len(message) == length else None
