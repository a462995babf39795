"""The process that examines one group of files after another, until its input ends. See `workers.py`."""

import gc
import pickle
import signal
import sys
import traceback
from collections.abc import Sequence

from quintet.ingest.examine import Examiner, Outcome, Task
from quintet.ingest.pipes import own_output, receive, send

COLLECTED = 50_000  # new objects between two looks for garbage: trees of a file are no cycles


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends us by closing our input
    gc.set_threshold(COLLECTED)
    answers = own_output()
    send(answers, b"ready")
    settings = receive(sys.stdin.buffer)
    if settings is None:
        return
    with Examiner(*pickle.loads(settings)) as examiner:
        while (message := receive(sys.stdin.buffer)) is not None:
            send(answers, pickle.dumps(_examined(examiner, pickle.loads(message)), pickle.HIGHEST_PROTOCOL))


def _examined(examiner: Examiner, tasks: Sequence[Task]) -> list[Outcome] | str:
    """An outcome for each; or what went wrong with us, rather than with a file."""
    try:
        return [examiner.examine(task) for task in tasks]
    except Exception:
        return traceback.format_exc()


if __name__ == "__main__":
    main()
