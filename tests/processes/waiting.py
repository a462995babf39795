"""Looking for processes, and waiting for those that are not our children."""

import os
import select
from contextlib import suppress
from pathlib import Path


def gone(pid: int) -> bool:
    """Waits for the end of this process."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], 60)[0])
    finally:
        os.close(handle)


def children(pid: int) -> list[int]:
    """The processes that this one has started, and those that they have."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # the thread or process has ended
            for child in (task / "children").read_text("ascii").split():
                found += [int(child), *children(int(child))]
    return found


def embedding_processes(pid: int) -> list[int]:
    """Those of them that embed."""
    return [child for child in children(pid) if b"quintet.embed.worker" in _command(child)]


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""
