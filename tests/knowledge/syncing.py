"""Syncs a source and kills its own process when SQLite executes a chosen statement. Run as a script.

A moment of 0 never comes; the number of statements is printed at the end.
"""

import os
import signal
import sys
from itertools import count
from pathlib import Path

import apsw

import quintet


def main(folder: Path, moment: int) -> None:
    statements = count(1)

    def counted(*_: object) -> bool:
        if next(statements) == moment:
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    def watched(connection: apsw.Connection) -> None:
        connection.exec_trace = counted

    with quintet.open(folder, "hashing") as index:
        apsw.connection_hooks.append(watched)
        index.knowledge.get("docs").sync_source("papers")
    print(next(statements))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
