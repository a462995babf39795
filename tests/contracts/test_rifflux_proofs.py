"""Spec 000 taken at its word: what is cut and when, what fields say, where anything is written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import quintet
from contracts.conftest import Library
from contracts.fixed import name_at, paths, results, same_place_in_both, write


@pytest.mark.requirement("000-SEM-003")
@pytest.mark.parametrize("top_k", (1, 3, 7))
def test_semantic_candidates_are_sorted_by_cosine_and_only_then_cut(library: Library, top_k: int) -> None:
    """Vectors rank the ladder backwards, and ids are digests: cut in another order, others would be left."""
    index = library(*same_place_in_both(30, 30))
    backwards = [*(name_at(place) for place in range(29, 0, -1)), name_at(30)]  # the last is last in both
    assert paths(index.search("word", "rifflux", mode="semantic", top_k=top_k)) == backwards[:top_k]
    hybrid = results(index.search("word", "rifflux", top_k=30))
    ranks = {item["path"]: item["score_breakdown"]["semantic_rank"] for item in hybrid}
    assert ranks == dict(zip(backwards, range(1, 31), strict=True))
    shallow = results(index.search("word", "rifflux", top_k=top_k))
    seen = {item["path"]: item["score_breakdown"]["semantic_rank"] for item in shallow}
    assert all(rank is None or rank == ranks[path] <= 2 * top_k for path, rank in seen.items())


@pytest.mark.requirement("000-4.1")
@pytest.mark.parametrize(("top_k", "mode"), [(1, "lexical"), (2, "semantic"), (3, "hybrid")])
def test_the_search_service_does_what_it_was_asked_for(library: Library, top_k: int, mode: str) -> None:
    index = library(*same_place_in_both(12, 4))
    found = quintet.rifflux(index).search("word", top_k=top_k, mode=mode)
    assert found == results(index.search("word", "rifflux", top_k=top_k, mode=mode))
    assert len(found) == top_k
    assert found != quintet.rifflux(index).search("word")


@pytest.mark.requirement("000-4.2", "000-REQ-005")
@pytest.mark.parametrize("mode", ("lexical", "semantic", "hybrid"))
def test_every_field_of_a_result_says_what_its_chunk_is(library: Library, mode: str) -> None:
    text = "# Cache\n\nintroduction\n\n## Expiry\n\ncache ttl\n"
    index = library({"deep/er/guide.md": text, "other.txt": "unlike"}, {"ttl": (1.0, 0.0)})
    found = [item for item in results(index.search("ttl", "rifflux", mode=mode)) if "ttl" in item["content"]]
    (chunk,) = [one.chunk for one in index.get("deep/er/guide.md") if "ttl" in one.chunk.content]
    (item,) = found
    item.pop("score_breakdown")
    assert item == {
        "chunk_id": chunk.id,
        "path": "deep/er/guide.md",
        "heading_path": "Cache > Expiry",
        "chunk_index": 1,
        "content": "## Expiry\n\ncache ttl",
    }


WORK = """
import sys, quintet
with quintet.open(sys.argv[1] + "/index", embedder="hashing") as index:
    index.sync([sys.argv[1] + "/shelf"])
    print(len(index.search("ttl", "rifflux").body["results"]))
"""


@pytest.mark.requirement("000-COM-001")
def test_nothing_is_written_into_home_or_working_or_temporary_folders(tmp_path: Path) -> None:
    write(tmp_path / "shelf", {"cache.txt": "cache ttl", "notes.txt": "the ttl of a session"})
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    names = ("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
    done = subprocess.run(
        [sys.executable, "-c", WORK, str(tmp_path)],
        cwd=elsewhere,
        env={**os.environ, **dict.fromkeys(names, str(elsewhere)), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "2\n"
    assert list(elsewhere.rglob("*")) == []
    assert sorted(place.name for place in tmp_path.iterdir()) == ["elsewhere", "index", "shelf"]
