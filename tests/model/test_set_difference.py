"""A sketch tells the difference of two sets while it is small, and never tells a wrong one."""

import random
from hashlib import sha256

import pytest

from quintet.model import set_difference


def _documents(count: int, seed: int) -> dict[str, bytes]:
    return {
        sha256(f"{seed} {n}".encode()).hexdigest()[:32]: sha256(f"leaf {n}".encode()).digest()
        for n in range(count)
    }


def _sketch(documents: dict[str, bytes]) -> bytes:
    return set_difference.toggle(set_difference.empty(), documents.items())


@pytest.mark.parametrize("changes", [0, 1, 2, 7, 20])
def test_a_few_changed_documents_are_told_among_thousands(changes: int) -> None:
    before = _documents(2_000, seed=changes)
    after = dict(before)
    chosen = random.Random(changes).sample(sorted(before), changes)
    for document_id in chosen:
        after[document_id] = sha256(b"other").digest()
    assert set_difference.changed_ids(_sketch(before), _sketch(after)) == sorted(chosen)


def test_added_and_removed_documents_are_told_too() -> None:
    before = _documents(50, seed=1)
    after = dict(before)
    gone = sorted(before)[3]
    del after[gone]
    (new,) = _documents(1, seed=2)
    after[new] = b"\1" * 32
    assert set_difference.changed_ids(_sketch(before), _sketch(after)) == sorted([gone, new])


def test_too_many_changes_are_admitted_not_guessed() -> None:
    told = 0
    for seed in range(20):
        changed = set_difference.changed_ids(_sketch(_documents(45, seed)), set_difference.empty())
        assert changed is None or changed == sorted(_documents(45, seed))
        told += changed is None
        assert set_difference.changed_ids(_sketch(_documents(500, seed)), set_difference.empty()) is None
    assert told < 20


def test_adding_twice_is_taking_out_again() -> None:
    documents = _documents(10, seed=3)
    assert set_difference.toggle(_sketch(documents), documents.items()) == set_difference.empty()
    assert _sketch(documents) != set_difference.empty()


def test_the_order_of_adding_does_not_show() -> None:
    documents = _documents(100, seed=4)
    assert _sketch(documents) == _sketch(dict(reversed(list(documents.items()))))
