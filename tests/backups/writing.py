"""Writes notes, memories and uploads, one after the other, until its standard input ends. Run as a script.

Prints the number of each round when it is done.
"""

import sys
from itertools import count
from pathlib import Path
from threading import Event, Thread

import quintet


def main(project: Path) -> None:
    stopped = Event()
    Thread(target=lambda: (sys.stdin.read(), stopped.set()), daemon=True).start()
    with quintet.open(project / ".quintet", "hashing") as index:
        base = index.knowledge.get("shelf")
        for number in count():
            (project / "docs" / f"round{number:04d}.md").write_text(f"# Round {number}\n\nwritten\n", "utf-8")
            index.sync()
            index.memory.remember(f"round {number} is over")
            base.put(f"version {number} of the text", id="changing")
            print(number, flush=True)
            if stopped.is_set():
                return


if __name__ == "__main__":
    main(Path(sys.argv[1]))
