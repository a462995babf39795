"""The process that examines one group of files after another, until its input ends. See `workers.py`."""

import gc
import os
import pickle
import sys
import traceback
from collections.abc import Sequence
from queue import SimpleQueue
from threading import Thread

from quintet.indexing.examine import Examiner, Task, identity
from quintet.processes.channel import COLLECTED, begun, receive, send


def main() -> None:
    gc.set_threshold(COLLECTED)
    answers = begun()
    send(answers, identity())
    about = receive(sys.stdin.buffer)
    if about is None:
        return
    examiner = Examiner(*pickle.loads(about))
    messages: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_listen, args=(messages, examiner), daemon=True).start()
    while True:
        send(answers, _examined(examiner, pickle.loads(messages.get())))


def _listen(messages: "SimpleQueue[bytes]", examiner: Examiner) -> None:
    """Until the input ends. Then nobody waits for what is being done, here or in the process below."""
    while (message := receive(sys.stdin.buffer)) is not None:
        messages.put(message)
    examiner.close()
    os._exit(0)


def _examined(examiner: Examiner, tasks: Sequence[Task]) -> bytes:
    """An outcome for each; or what went wrong with us, rather than with a file."""
    try:
        return _packed([examiner.examine(task) for task in tasks])
    except Exception:
        return _packed(traceback.format_exc())


def _packed(answer: object) -> bytes:
    return pickle.dumps(answer, pickle.HIGHEST_PROTOCOL)


if __name__ == "__main__":
    main()
