"""One machine of many: indexes a folder as told, and prints the state root and the digests of receipts.

Run as a script by `test_everywhere.py`. `end` says how the run ends before its time, if it does.
"""

import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import quintet
from quintet.embed.models import local_embedder

CONTRACTS = ("quintet", "rifflux", "harness", "mcb", "knowledge", "cfs")
QUERIES = ("harbour tide", "who reads the gauge? lang:python", "İstanbul ıslak “wind”")


def main(
    folder: str,
    source: str,
    parts: Sequence[Sequence[str]] = ((),),
    processes: int = 0,
    end: Sequence[Any] = ("whole", 0),
    settings: dict[str, Any] | None = None,
) -> None:
    """`parts` are indexed one after the other, each by its names below `source`; none means all of it.

    `processes` embed with the canonical model; with 0 of them words are hashed.
    """
    embedder = local_embedder("granite", processes=processes) if processes else "hashing"
    with quintet.open(Path(folder), embedder, **(settings or {})) as index:
        for part in parts:
            index.sync([f"notes={Path(source)}"], progress=_ending(*end))
            for name in part:
                index.forget(f"notes/{name}")
        index.sync()
        receipts = [index.receipts.search(query, contract)[1] for contract in CONTRACTS for query in QUERIES]
        root = index.status().state_root
    print(json.dumps({"state_root": root, "receipts": receipts}))


def _ending(how: str, moment: int) -> Any:
    calls = iter(range(1, 1_000_000))

    def progress(stage: str, done: int, total: int) -> None:
        if how != "whole" and next(calls) == moment:
            if how == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            raise KeyboardInterrupt

    return progress


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]))
