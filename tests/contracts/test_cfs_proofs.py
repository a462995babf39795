"""Spec 004 taken at its word: white space of any kind, and ties within one document."""

import pytest

from contracts.conftest import Library
from contracts.fixed import paths, results


@pytest.mark.requirement("004-S3-SPLIT")
@pytest.mark.parametrize("space", (" ", "   ", "\t", "\n", "\r\n", "\u00a0", "\u3000", "\u2028"))
def test_any_white_space_splits_a_query(library: Library, space: str) -> None:
    index = library({"a.txt": "cache size", "b.txt": "a session", "c.txt": "nothing of the kind"})
    found = index.search(f"size{space}session", "cfs", mode="lexical")
    assert sorted(paths(found)) == ["a.txt", "b.txt"]


@pytest.mark.requirement("004-S6-SEQUENCE")
@pytest.mark.parametrize("mode", ("lexical", "semantic", "hybrid"))
def test_equal_chunks_of_a_document_stand_as_they_stand_in_it(library: Library, mode: str) -> None:
    """Their ids are digests: by id they would stand in one order of 40,320."""
    index = library({"a.md": "# A\n\nword\n\n" * 8}, {"word": (1.0, 0.0), "A\n# A\n\nword": (1.0, 0.0)})
    found = results(index.search("word", "cfs", mode=mode))
    assert len({item["score"] for item in found}) == (8 if mode == "hybrid" else 1)
    assert [item["chunk"]["sequence"] for item in found] == list(range(8))
    ids = [item["chunk"]["id"] for item in found]
    assert ids != sorted(ids)
