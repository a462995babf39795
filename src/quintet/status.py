"""What `quintet status` shows of an index."""

from collections.abc import Mapping
from dataclasses import dataclass

from quintet.indexing.drift import Drift, measure_drift
from quintet.model.schema import Count
from quintet.ports.reading import Approximation, Root, Snapshot
from quintet.query.cache import CacheFigures
from quintet.settings import Settings


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """`text_only` are the chunks of generated code, which get no vector. `lag` counts the files on disk that
    differ from what is indexed; `tuned` are the numbers in use."""

    files: Count
    chunks: Count
    embedded: Count
    text_only: Count
    embedder: str | None
    roots: list[Root]
    generation: Count
    state_root: str
    lag: Drift
    cache: CacheFigures
    hnsw: Approximation | None
    tuned: Mapping[str, float]


def index_status(
    snapshot: Snapshot, settings: Settings, cache: CacheFigures, tuned: Mapping[str, float]
) -> IndexStatus:
    catalog = snapshot.catalog
    counts, roots = catalog.counts(), catalog.roots()
    known = {root.name: catalog.known(root.name) for root in roots}
    return IndexStatus(
        counts.documents,
        counts.chunks,
        counts.embedded,
        counts.text_only,
        catalog.embedder or catalog.choices.embedder or None,
        roots,
        catalog.generation,
        snapshot.tree.root,
        measure_drift(roots, known, catalog.refused(), settings),
        cache,
        snapshot.vectors.approximation,
        tuned,
    )
