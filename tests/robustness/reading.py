"""A reader that searches while another process writes. Run as a script by `test_concurrency.py`.

Every file is four chunks that name the file and its version. Whatever a writer does, a reader must see
all four of one version, or none.
"""

import json
import random
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import quintet

FILES = 300
CHUNKS = 4


def text_of(number: int, version: int) -> str:
    """A file of four sections, each long enough to be a chunk."""
    parts = (
        f"## Part {part}\n\n" + f"file{number:03d} version{version} part{part} says so. " * 5
        for part in range(CHUNKS)
    )
    return "\n\n".join(parts) + "\n"


def torn(index: quintet.Index, number: int, mode: str) -> str | None:
    """What is wrong with what the index shows of a file; None if it is whole."""
    body = index.search(f"file{number:03d}", "rifflux", top_k=50, mode=mode).body
    shown = [one["content"] for one in body["results"] if f"file{number:03d} " in one["content"]]
    versions = {word for text in shown for word in text.split() if word.startswith("version")}
    if not shown or (len(shown) == CHUNKS and len(versions) == 1):
        return None
    return f"file{number:03d}: {len(shown)} chunks of {sorted(versions)}"


def read_until(stop: Callable[[], bool], index: quintet.Index, seed: int) -> dict[str, object]:
    """Search until told to stop, at least once; how often, and what was wrong."""
    chance = random.Random(seed)
    searches, wrong = 0, []
    while not searches or not stop():
        complaint = torn(index, chance.randrange(FILES), chance.choice(("lexical", "hybrid")))
        wrong += [complaint] if complaint else []
        searches += 1
    return {"searches": searches, "wrong": wrong}


def main(folder: Path, seed: int) -> None:
    told = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), told.set()), daemon=True).start()
    with quintet.open(folder) as index:
        print("ready", flush=True)
        print(json.dumps(read_until(told.is_set, index, seed)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
