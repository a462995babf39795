"""A backup or a restoration that kills its own process at a chosen moment. Run as a script.

Moments are counted: what Python does with files and folders, and the statements of SQLite. A moment of 0
never comes; the total is printed at the end. `restore-in-steps` acts like a system that cannot swap two
folders.
"""

import os
import signal
import sys
from itertools import count

import apsw

from quintet.backups import staging
from quintet.backups.backup import backup
from quintet.backups.restore import restore

COUNTED = ("open", "os.", "shutil.", "ctypes.")


def main(action: str, moment: int, one: str, other: str) -> None:
    moments = count(1)
    seen = 0

    def step(*_: object) -> bool:
        nonlocal seen
        seen = next(moments)
        if seen == moment:
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    def watched(connection: apsw.Connection) -> None:
        connection.exec_trace = step

    if action == "restore-in-steps":
        staging._exchange = lambda *_: False
    apsw.connection_hooks.append(watched)
    sys.addaudithook(lambda event, _: event.startswith(COUNTED) and step())
    if action == "backup":
        backup(one, other)
    else:
        restore(one, other, replace=True)
    print(seen)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4])
