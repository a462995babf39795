"""Which files of ours are entered while recording. As a script: `quintet serve`, and each line on standard
input that is not empty starts a recording; an empty one ends it and prints the files. Its reader processes
run this script too, and write the files of their last answer to READER_FILES in the current folder."""

import json
import sys
import threading
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import quintet

READER_FILES = "reader-files.json"
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


def record(recorder: Recorder) -> None:
    threading.setprofile(recorder)  # for threads that start from here on
    sys.setprofile(recorder)


def serve() -> None:
    from quintet.cli.main import main as quintet_main
    from quintet.serving import readers, shared_index

    command = (sys.executable, __file__, "reader")
    shared_index.Readers = partial(readers.Readers, command=command)  # type: ignore[assignment,misc]
    recorder = Recorder()
    threading.Thread(target=recorder.obey, daemon=True).start()
    record(recorder)
    sys.argv = ["quintet", "serve", "--port", "0"]
    quintet_main()


def read() -> None:
    from quintet.serving import reader

    recorder, answer = Recorder(), reader._answer

    def recorded(shared: Any, request: dict[str, Any]) -> bytes:
        answered = answer(shared, request)
        Path(READER_FILES).write_text(json.dumps(sorted(recorder.files)), "utf-8")
        recorder.files.clear()
        return answered

    reader._answer = recorded
    recorder.recording = True
    record(recorder)
    reader.main()


if __name__ == "__main__":
    read() if sys.argv[1:] else serve()
