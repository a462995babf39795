"""`hostile_reader.py HOW`: a reader process that starts badly or dies of what it is asked."""

import os
import sys

from quintet.processes.channel import receive, send
from quintet.processes.worker import open_answers
from quintet.serving.readers import VERSION


def main(how: str) -> None:
    answers = open_answers()
    receive(sys.stdin.buffer)
    if how == "leaves":
        raise SystemExit(3)
    send(answers, b"another version" if how == "differs" else VERSION)
    receive(sys.stdin.buffer)
    if how == "hangs":
        receive(sys.stdin.buffer)  # which never comes
    os._exit(9)


if __name__ == "__main__":
    main(sys.argv[1])
