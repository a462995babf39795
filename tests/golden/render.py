"""Bodies of fixed requests over `tests/corpus`, as the text that golden files hold.

Write them anew with `QUINTET_GOLDEN=write python -m pytest tests/golden`, and read the difference.
"""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import quintet

CORPUS = Path(__file__).parent.parent / "corpus"
GOLDEN = Path(__file__).parent
FIRST_NS = 1_700_000_000_000_000_000
QUERIES = ("deep berth at low water", "waiting list", "fog bell", "assignBerth", "干潮", '"tide table" ebb')

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "quintet-lexical": ("quintet", {"mode": "lexical", "limit": 4}),
    "quintet-semantic": ("quintet", {"mode": "semantic", "limit": 3}),
    "quintet-hybrid": ("quintet", {"limit": 5}),
    "rifflux-lexical": ("rifflux", {"mode": "lexical", "top_k": 4}),
    "rifflux-semantic": ("rifflux", {"mode": "semantic", "top_k": 3}),
    "rifflux-hybrid": ("rifflux", {"top_k": 5}),
    "harness-keyword": ("harness", {"mode": "keyword", "final_limit": 4}),
    "harness-semantic": ("harness", {"mode": "semantic", "final_limit": 3}),
    "harness-hybrid": ("harness", {"final_limit": 5}),
    "mcb": ("mcb", {"k": 5}),
    "knowledge-keyword": ("knowledge", {"search_method": "keyword", "top_k": 4}),
    "knowledge-semantic": ("knowledge", {"top_k": 3}),
    "knowledge-hybrid": ("knowledge", {"search_method": "hybrid", "query_preprocessing": "normalize"}),
    "cfs-lexical": ("cfs", {"mode": "lexical", "top_k": 4}),
    "cfs-semantic": ("cfs", {"mode": "semantic", "top_k": 3}),
    "cfs-hybrid": ("cfs", {"top_k": 5}),
}


def corpus_index(place: Path) -> quintet.Index:
    """The corpus under the name `corpus`, its files a second apart in the order of their paths."""
    shelf = place / "corpus"
    shutil.copytree(CORPUS, shelf)
    files = sorted(file for file in shelf.rglob("*") if file.is_file())
    for number, file in enumerate(files):
        # Bell east and west are equal in all but name: with one time their documents tie.
        when = FIRST_NS if file.name.startswith("bell") else FIRST_NS + number * 1_000_000_000
        os.utime(file, ns=(when, when))
    index = quintet.open(place / "index", embedder="hashing")
    index.sync([shelf])
    return index


def rendered(index: quintet.Index, case: str) -> str:
    """Every query of a case as one JSON text."""
    contract, params = CASES[case]
    bodies = {query: index.search(query, contract, **params).body for query in QUERIES}
    return json.dumps(_rounded(bodies), sort_keys=True, indent=1, ensure_ascii=False) + "\n"


def _rounded(value: Any) -> Any:
    """Floats to 12 digits: BM25 takes a logarithm, whose last bit may differ from one libm to another."""
    if isinstance(value, float):
        return float(f"{value:.12g}")
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, list) else value
