"""`child.py NAME=VALUE...`: a server over the folder's index with these limits.

A query or a document that holds `stuck`, and every step of a reindex, wait for a line on standard input; that
they wait is told on standard output.
"""

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

import quintet
from quintet.http.config import Config, Limits
from quintet.http.server import serve
from quintet.indexing.run import Progress
from quintet.query.search import Response
from quintet.serving.results import Reindexed, ReindexTargets
from quintet.serving.shared_index import SharedIndex


def wait(what: str) -> None:
    print(what, flush=True)
    sys.stdin.readline()


class Waiting:
    identity = "waiting-4"
    dimensions = 4

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        if any("stuck" in text for text in texts):
            wait("stuck")
        return np.ones((len(texts), 4))

    def embed_query(self, text: str) -> np.ndarray:
        if "stuck" in text:
            wait("stuck")
        return np.ones(4)


class WaitingIndex(SharedIndex):
    def search(self, query: str, *arguments: Any, **options: Any) -> Response:
        if "broken" in query:
            raise ZeroDivisionError("secret words of a document")
        return super().search(query, *arguments, **options)

    def reindex(
        self,
        targets: ReindexTargets | None = None,
        *,
        force: bool = False,
        progress: Progress | None = None,
    ) -> Reindexed:
        def told(stage: str, done: int, total: int) -> None:
            assert progress is not None
            progress(stage, done, total)
            if stage == "text":
                wait(f"{stage} {done}")

        return super().reindex(targets, force=force, progress=told)


def main() -> None:
    given: dict[str, Any] = {}
    for one in sys.argv[1:]:
        name, _, value = one.partition("=")
        given[name] = float(value) if name.endswith("seconds") and name != "idle_seconds" else int(value)
    shared = WaitingIndex(quintet.open("waiting", Waiting(), batch_files=1))
    shared.index.sync(["docs"])
    serve(shared, Config(port=0, access_log=True, limits=Limits(**given)))
    shared.close()


if __name__ == "__main__":
    main()
