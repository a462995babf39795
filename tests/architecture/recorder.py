"""Which files of ours are entered while recording. As a script: `quintet serve`, and each line on standard
input that is not empty starts a recording; an empty one ends it and prints the files."""

import json
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import quintet

PACKAGE = str(Path(quintet.__file__).parent)


class Recorder:
    def __init__(self) -> None:
        self.files: set[str] = set()
        self.recording = False

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        if self.recording and event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            self.files.add(frame.f_code.co_filename[len(PACKAGE) + 1 :])

    def obey(self) -> None:
        for line in sys.stdin:
            self.recording = bool(line.strip())
            print(json.dumps(sorted(self.files)), flush=True)


def main() -> None:
    from quintet.cli.main import main as quintet_main

    recorder = Recorder()
    threading.Thread(target=recorder.obey, daemon=True).start()
    threading.setprofile(recorder)  # for threads that start from here on
    sys.setprofile(recorder)
    sys.argv = ["quintet", "serve", "--port", "0"]
    quintet_main()


if __name__ == "__main__":
    main()
