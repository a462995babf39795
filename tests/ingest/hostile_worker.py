"""The examining process, doing what a file's name says before it looks at it. Run as a script by tests."""

import os
import sys
from pathlib import Path
from unittest import mock

from quintet.ingest.examine import Examiner, Outcome, Task
from quintet.ingest.worker import main

examine = Examiner.examine


def acting(self: Examiner, task: Task) -> Outcome:
    where = Path(task.file.where)
    match where.stem:
        case "exit":
            os._exit(3)
        case "raise":
            raise ZeroDivisionError("by nothing")
        case "wait":  # until another process opens the other end
            where.with_name("fifo").read_bytes()
        case "wake":
            where.with_name("fifo").write_bytes(b"go on")
        case "chatter":
            os.write(1, b"hello")
    return examine(self, task)


if __name__ == "__main__":
    Path(sys.argv[1], f"{os.getpid()}.pid").touch()
    with mock.patch.object(Examiner, "examine", acting):
        main()
