"""The process that embeds one list of texts after another until its input ends. `pool.py` starts it."""

import json
import sys

import numpy as np

from quintet.embed.folder import open_folder
from quintet.embed.known_folders import is_folder_identity
from quintet.embed.models import local_embedder
from quintet.processes.channel import receive, send
from quintet.processes.worker import open_answers


def main(name: str, identity: str) -> None:
    answers = open_answers()
    if is_folder_identity(identity):
        embedder = open_folder(name).embedder(identity, processes=1)
    else:
        embedder = local_embedder(name, processes=1)
    while (message := receive(sys.stdin.buffer)) is not None:
        vectors = embedder.embed_here(json.loads(message))
        send(answers, np.ascontiguousarray(vectors, "<i2").tobytes())


if __name__ == "__main__":
    main(*sys.argv[1:])
