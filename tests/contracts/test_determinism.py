"""The same content gives the same bytes: whatever the history of the index, and in any process."""

import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import quintet
from contracts.fixed import MODIFIED_MS, results, write
from quintet.contracts import CONTRACTS

WORDS = (
    "berth",
    "tide",
    "ebb",
    "fog bell",
    "干潮の港",
    "assignBerth",
    "# Depth\n\nrule",
    "\n\n# Moon\n\nphase",
)
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
NAMES = ("a.md", "b.txt", "c/d.md", "c/e.txt", "f.md", "g.txt")
SHELVES = st.dictionaries(st.sampled_from(NAMES), TEXTS, min_size=1, max_size=len(NAMES))
QUERIES = ("berth tide", "干潮", "assign berth", '"fog bell" rule')

AGAIN = """
import json, sys, quintet
from contracts.test_determinism import answers
with quintet.open(sys.argv[1], create=False) as index:
    sys.stdout.buffer.write(json.dumps(answers(index)).encode())
"""


def answers(index: quintet.Index) -> list[Any]:
    """Every contract's hybrid answer to every query."""
    found = []
    for contract in CONTRACTS:
        mode = {"search_method": "hybrid"} if contract == "knowledge" else {}
        found += [index.search(query, contract, **mode).wire() for query in QUERIES]
    return found


def _fresh(place: Path, files: dict[str, str]) -> tuple[list[Any], str]:
    with quintet.open(place / "index", embedder="hashing") as index:
        index.sync([write(place / "shelf", files)])
        return answers(index), index.status().state_root


@pytest.mark.requirement("004-P1-DETERMINISM", "001-V4")
@settings(max_examples=15, deadline=None)
@given(SHELVES, SHELVES, st.randoms(use_true_random=False))
def test_the_history_of_an_index_does_not_show(
    files: dict[str, str], before: dict[str, str], dice: random.Random
) -> None:
    """One index is made at once; one held other text, grew file by file in any order, and was rebuilt."""
    with tempfile.TemporaryDirectory() as folder:
        expected = _fresh(Path(folder) / "once", files)
        place = Path(folder) / "grown"
        with quintet.open(place / "index", embedder="hashing", batch_files=1) as index:
            older = dict.fromkeys(before, MODIFIED_MS - 1)
            shelf = write(place / "shelf", before, older)
            index.sync([shelf])
            for name in before.keys() - files.keys():
                (shelf / name).unlink()
            order = sorted(files)
            dice.shuffle(order)
            for name in order:
                write(shelf, {name: files[name]})
                index.sync([shelf / name])
            index.sync([shelf])
            assert (answers(index), index.status().state_root) == expected
            index.sync([shelf], force=True)
            assert (answers(index), index.status().state_root) == expected


@settings(max_examples=15, deadline=None)
@given(SHELVES, st.integers(1, 4))
def test_a_cut_or_a_filter_only_leaves_out(files: dict[str, str], top_k: int) -> None:
    """In a mode of one signal a shorter list is the beginning of the longer, a filtered one a part of it."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        with quintet.open(place / "index", embedder="hashing") as index:
            index.sync([write(place / "shelf", files)])
            for query, mode in itertools.product(QUERIES, ("lexical", "semantic")):
                asked = {"contract": "rifflux", "mode": mode}
                everything = results(index.search(query, top_k=1000, **asked))
                assert results(index.search(query, top_k=top_k, **asked)) == everything[:top_k]
                inside = results(index.search(query, top_k=1000, filters={"path": "c/**"}, **asked))
                assert inside == [item for item in everything if item["path"].startswith("c/")]


@pytest.mark.requirement("004-P1-DETERMINISM")
@pytest.mark.parametrize("seed", ("0", "4242"))
def test_another_process_gives_the_same_bytes(tmp_path: Path, seed: str) -> None:
    files = {name: " ".join(WORDS[at:]) for at, name in enumerate(NAMES)}
    expected, _ = _fresh(tmp_path, files)
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-c", AGAIN, str(tmp_path / "index")]
    done = subprocess.run(command, env=environment, capture_output=True, check=True)
    assert done.stdout == json.dumps(expected).encode()
    assert sum(len(json.dumps(one)) > 200 for one in expected) >= 20
