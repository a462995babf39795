"""Puts many documents and says how far it is. Run as a script, to be killed.

With a moment above 0 it kills its own process when SQLite executes that many statements.
"""

import os
import signal
import sys
from itertools import count
from pathlib import Path

import apsw

import quintet
from quintet.knowledge import Upload

DOCUMENTS = 96


def upload(number: int) -> Upload:
    parts = "".join(
        f"# Part {part}\n\nnumber{number} part{part}\n\n{'filler ' * 300}\n\n" for part in range(3)
    )
    return Upload(parts.encode(), f"{number}.md", id=f"d{number}")


def main(folder: Path, moment: int) -> None:
    statements = count(1)

    def counted(*_: object) -> bool:
        if next(statements) == moment:
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    def watched(connection: apsw.Connection) -> None:
        connection.exec_trace = counted

    if moment:
        apsw.connection_hooks.append(watched)
    with quintet.open(folder, "hashing") as index:
        base = index.knowledge.get("docs")
        base.put_many(
            [upload(number) for number in range(DOCUMENTS)], lambda done, _: print(done, flush=True)
        )
    print("statements", next(statements), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
