"""The vectors of memories. A write or recall makes the missing ones if they are few."""

from quintet.collection import Collection
from quintet.errors import QuintetError
from quintet.indexing.run import IndexRun
from quintet.model.results import Note

AT_ONCE = 256  # vectors that are made in passing; more are left to `quintet memory embed`


def catch_up(memories: Collection) -> list[Note]:
    """Make the vectors that are missing, if they are few and nobody else is writing."""
    embedder = memories.embedder
    if embedder is None:
        return []
    with memories.snapshot() as snapshot:
        counts, stored = snapshot.catalog.counts(), snapshot.catalog.embedder
    if not counts.chunks or (counts.embedded == counts.chunks and stored == embedder.identity):
        return []
    try:
        with memories.run(timeout=0) as run:
            return embed_few(memories, run)
    except QuintetError as error:
        return [_postponed(error.message)]


def embed_few(memories: Collection, run: IndexRun) -> list[Note]:
    """Make the vectors that are missing, if they are few. A note says why they were not made: the next recall
    tries again."""
    missing = memories.count_missing_vectors(run)
    if missing > AT_ONCE:
        return [_postponed(f"{missing} are missing; run 'quintet memory embed'")]
    try:
        memories.embed(run)
    except QuintetError as error:
        return [_postponed(error.message)]
    return []


def _postponed(why: str) -> Note:
    return {"code": "embedding_postponed", "message": f"vectors of memories were not made: {why}"}
