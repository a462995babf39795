"""One embedding process: a list of texts in, their vectors out, until its input ends."""

import json
import signal
import sys

import numpy as np

from quintet.embed.models import local_embedder
from quintet.embed.workers import receive, send


def main(name: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends us by closing our input
    embedder = local_embedder(name, processes=1)
    while (message := receive(sys.stdin.buffer)) is not None:
        vectors = embedder.embed_here(json.loads(message))
        send(sys.stdout.buffer, np.ascontiguousarray(vectors, "<i2").tobytes())


if __name__ == "__main__":
    main(sys.argv[1])
