"""Many requests of one query at once: the same results as one search each."""

from collections.abc import Iterator, Sequence
from itertools import product

import pytest

import quintet
from evaluation.riddles import word, write_library
from quintet import Index
from quintet.errors import UsageError
from quintet.ports.reading import ChunkVectors
from quintet.storage.vectors.index import SqliteVectorIndex

VALUES = {
    "semantic_weight": (0.0, 0.3, 0.7, 1.0),
    "half_score": (15.0, 60.0),
    "heading_weight": (1.0, 3.0),
    "feedback": (0.0, 0.2, 1.0),
    "limit": (3, 30),
}
REQUESTS = [dict(zip(VALUES, values, strict=True)) for values in product(*VALUES.values())]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("trials")
    write_library(folder / "library")
    with quintet.open(folder / "index", embedder="hashing") as index:
        index.sync([folder / "library"])
        yield index


@pytest.mark.parametrize(
    "query", [f"the {word(7)} of it", "water", f"{word(3)} path:{word(3)}.txt", "nowhere", "? !"]
)
@pytest.mark.parametrize("mode", ["hybrid", "lexical", "semantic"])
def test_each_request_finds_what_a_search_would(index: Index, query: str, mode: str) -> None:
    requests = [{**one, "mode": mode} for one in REQUESTS]
    found = index.tried(query, requests)
    searched = [index.search(query, **one).answer for one in requests]
    assert found.rankings == [[item.best_chunk for item in answer.ranked] for answer in searched if answer]
    assert {chunk_id for ranking in found.rankings for chunk_id in ranking} == found.passages.keys()


def test_what_requests_share_is_fetched_once(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched = []
    of = SqliteVectorIndex.of

    def counted(self: SqliteVectorIndex, chunk_ids: Sequence[str]) -> ChunkVectors:
        fetched.append(len(chunk_ids))
        return of(self, chunk_ids)

    monkeypatch.setattr(SqliteVectorIndex, "of", counted)
    index.tried("water", [{"semantic_weight": 0.5, "feedback": feedback} for feedback in (0.1, 0.2)])
    few = len(fetched)
    index.tried("water", [{"semantic_weight": 0.5, "feedback": at / 10} for at in range(1, 9)])
    assert len(fetched) == 2 * few


def test_a_request_that_is_wrong_is_refused_as_in_a_search(index: Index) -> None:
    with pytest.raises(UsageError, match="semantic_weight is 2; it must be a number from 0 to 1"):
        index.tried("water", [{"semantic_weight": 2}])
