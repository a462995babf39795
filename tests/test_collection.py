"""One store with its embedder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from quintet.collection import Collection
from quintet.contracts import contract_named
from quintet.errors import Conflict
from quintet.indexing.records import sync_records
from quintet.ports.reading import Embedder
from quintet.query.search import Response
from quintet.settings import Settings
from quintet.storage.sqlite.store import SqliteStore
from quintet.testing import FixedEmbedder

DOCUMENTS = [("a", "A", "apples and pears"), ("b", "B", "plums and pears")]
RIFFLUX = contract_named("rifflux")
FIRST, SECOND = FixedEmbedder({}, 2, "first"), FixedEmbedder({}, 3, "second")


class Owner:
    """Has the embedder that the collection asks for."""

    embedder: Embedder | None = FIRST


@pytest.fixture
def owner() -> Owner:
    return Owner()


@pytest.fixture
def collection(tmp_path: Path, owner: Owner) -> Iterator[Collection]:
    """Two documents with vectors; a default of the settings allows a single result."""
    store = SqliteStore(tmp_path)
    store.create()
    collection = Collection(store, lambda: owner.embedder, Settings(contracts={"rifflux": {"top_k": 1}}))
    with collection.run() as run:
        sync_records(run, "corpus", DOCUMENTS)
        assert collection.embed(run) == len(DOCUMENTS)
    yield collection
    collection.close()


def codes(response: Response) -> list[str]:
    return [note["code"] for note in response.notes]


def test_a_search_uses_the_embedder_that_made_the_vectors(collection: Collection) -> None:
    response = collection.search("pears", RIFFLUX, {})
    assert (response.status, collection.stored_embedder()) == ("ok", "first")


def test_vectors_of_another_embedder_are_not_compared(collection: Collection, owner: Owner) -> None:
    owner.embedder = SECOND
    response = collection.search("pears", RIFFLUX, {})
    assert (response.status, codes(response)) == ("degraded", ["embedder_missing"])
    assert len(response.body["results"]) == 1


def test_a_new_embedder_makes_all_vectors_again(collection: Collection, owner: Owner) -> None:
    owner.embedder = SECOND
    with collection.run() as run:
        assert collection.count_missing_vectors(run) == len(DOCUMENTS)
        assert collection.embed(run) == len(DOCUMENTS)
        assert collection.count_missing_vectors(run) == 0
    assert collection.stored_embedder() == "second"


def test_without_an_embedder_no_vector_is_missing(collection: Collection, owner: Owner) -> None:
    owner.embedder = None
    with collection.run() as run:
        assert (collection.count_missing_vectors(run), collection.embed(run)) == (0, 0)
    assert collection.stored_embedder() == "first"


def test_a_replay_leaves_the_defaults_of_the_settings_out(collection: Collection) -> None:
    with collection.snapshot() as snapshot:
        searched = collection.search_in(snapshot, "pears", RIFFLUX, {})
        replayed = collection.replay_in(snapshot, "pears", RIFFLUX, {})
    assert (len(searched.body["results"]), len(replayed.body["results"])) == (1, 2)


def test_trials_rank_as_searches_do(collection: Collection) -> None:
    requests = [{"top_k": 2, "mode": mode} for mode in ("lexical", "hybrid")]
    trials = collection.trials("pears", requests, RIFFLUX)
    searches = [collection.search("pears", RIFFLUX, request) for request in requests]
    assert trials.rankings == [[item["chunk_id"] for item in one.body["results"]] for one in searches]


def test_only_one_run_writes_at_a_time(collection: Collection) -> None:
    with (
        collection.run(),
        pytest.raises(Conflict, match="another process is writing"),
        collection.run(timeout=0),
    ):
        pass
