"""The process that examines one group of files after another until its input ends. `pool.py` starts it."""

import pickle
import sys
import traceback
from collections.abc import Sequence

from quintet.indexing.examine import Examiner, Task, identity
from quintet.processes.channel import receive, send
from quintet.processes.garbage import collect_garbage_rarely
from quintet.processes.worker import open_answers, receive_in_background


def main() -> None:
    answers = open_answers()
    send(answers, identity())
    configuration = receive(sys.stdin.buffer)
    if configuration is None:
        return
    examiner = Examiner(*pickle.loads(configuration))
    messages = receive_in_background(at_end=examiner.close)
    with collect_garbage_rarely():
        while True:
            send(answers, _examine(examiner, pickle.loads(messages.get())))


def _examine(examiner: Examiner, tasks: Sequence[Task]) -> bytes:
    """A result for each task; or a traceback, if a bug of ours and not a file is the cause."""
    try:
        return _pack([examiner.examine(task) for task in tasks])
    except Exception:
        return _pack(traceback.format_exc())


def _pack(answer: object) -> bytes:
    return pickle.dumps(answer, pickle.HIGHEST_PROTOCOL)


if __name__ == "__main__":
    main()
