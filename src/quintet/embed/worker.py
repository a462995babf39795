"""One embedding process: a list of texts in, their vectors out, until its input ends."""

import json
import sys

import numpy as np

from quintet.embed.models import local_embedder
from quintet.processes.channel import begun, receive, send


def main(name: str) -> None:
    answers = begun()
    embedder = local_embedder(name, processes=1)
    while (message := receive(sys.stdin.buffer)) is not None:
        vectors = embedder.embed_here(json.loads(message))
        send(answers, np.ascontiguousarray(vectors, "<i2").tobytes())


if __name__ == "__main__":
    main(sys.argv[1])
