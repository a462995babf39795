"""The examining process, doing what a file's name says before it looks at it. Run as a script by tests."""

import os
import signal
import sys
from pathlib import Path
from unittest import mock

from quintet.formats.sandbox.parent import ParseLimits, Sandbox
from quintet.indexing.examine import Examination, Examiner, Task
from quintet.indexing.worker import main
from quintet.settings import Settings

BELOW = (sys.executable, "-P", str(Path(__file__).parents[1] / "formats" / "hostile_child.py"))
examine = Examiner.examine


def acting(self: Examiner, task: Task) -> Examination:
    where = Path(task.file.full_path)
    match where.stem:
        case "exit":
            os._exit(3)
        case "raise":
            raise ZeroDivisionError("by nothing")
        case "wait":  # until another process opens the other end
            where.with_name("fifo").read_bytes()
        case "told":  # the first time, tell that it was begun, and wait to be killed
            if len(list(where.parent.glob("*.pid"))) == 1:
                where.with_name("fifo").open("wb").close()
                signal.pause()
        case "wake":
            where.with_name("fifo").write_bytes(b"go on")
        case "below":  # a parser that tells who it is, and never ends
            self._sandbox = Sandbox(ParseLimits.of(Settings()), BELOW)
            self._sandbox.parse("cpu", bytes(where.with_name("fifo")))
        case "chatter":
            os.write(1, b"hello")
    return examine(self, task)


if __name__ == "__main__":
    Path(sys.argv[1], f"{os.getpid()}.pid").touch()
    with mock.patch.object(Examiner, "examine", acting):
        main()
