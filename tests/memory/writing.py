"""Remembers one text after another and says the id of each that was acknowledged. Run as a script.

With a moment above 0 it kills its own process when SQLite executes that many statements after the first.
"""

import os
import signal
import sys
from itertools import count
from pathlib import Path

import apsw

import quintet


def main(folder: Path, name: str, texts: int, moment: int) -> None:
    statements = count(1)

    def counted(*_: object) -> bool:
        if next(statements) == moment:
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    def watched(connection: apsw.Connection) -> None:
        connection.exec_trace = counted

    if moment:
        apsw.connection_hooks.append(watched)
    with quintet.open(folder, "hashing", writer_timeout=60) as index:
        for number in range(texts):
            kept = index.memory.remember(f"{name} has number{number} and more", tags=[name])
            print(kept.id, number, flush=True)
    print("statements", next(statements), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
