"""The process that runs one read of the index after another until its input ends. `readers.py` starts it."""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import quintet
from quintet.errors import QuintetError
from quintet.processes.channel import receive, send
from quintet.processes.worker import open_answers, receive_in_background
from quintet.serving.listening import log_to_stderr
from quintet.serving.readers import VERSION
from quintet.serving.reply import Read, pack
from quintet.serving.shared_index import SharedIndex


def main() -> None:
    answers = open_answers()
    configuration = receive(sys.stdin.buffer)
    if configuration is None:
        return
    messages = receive_in_background()
    try:
        shared = _opened(**json.loads(configuration))
    except QuintetError as error:
        send(answers, error.message.encode())
        return
    log_to_stderr(shared.index.settings)
    send(answers, VERSION)
    while True:
        send(answers, _answer(shared, json.loads(messages.get())))
        if sys.platform == "win32":  # it deletes no knowledge base that another process has open
            shared.index.knowledge.close()


def _opened(folder: str, base: str, settings: dict[str, Any], loaded: bool) -> SharedIndex:
    """The index as the parent opened it, with its model `loaded` or not."""
    shared = SharedIndex(quintet.open(folder, create=False, **settings), base=Path(base))
    if loaded:
        shared.load_model()
    return shared


def _answer(shared: SharedIndex, request: dict[str, Any]) -> bytes:
    try:
        read: Read = getattr(import_module(request["module"]), request["name"])
        return pack(read(shared, **request["arguments"]), shared.index.cache.figures())
    except Exception as error:
        return pack(error, shared.index.cache.figures())


if __name__ == "__main__":
    main()
