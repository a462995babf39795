"""The memory of this process and of all that it started, together: looked at ten times a second."""

import os
import threading
from pathlib import Path
from types import TracebackType

PROCESSES = Path("/proc")
EVERY = 0.1  # seconds


class Family:
    """A context manager; `peak_mb` is the most that was seen. Linux only: zero elsewhere.

    What processes share counts once for each of them, so it is rather too much than too little.
    """

    def __init__(self) -> None:
        self.peak_mb = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> "Family":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(EVERY):
            self.peak_mb = max(self.peak_mb, _resident_mb(os.getpid()))


def _resident_mb(root: int) -> float:
    """Of a process with all below it."""
    parents, pages = {}, {}
    for folder in PROCESSES.glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
        except OSError:  # it has just ended
            continue
        parents[int(folder.name)], pages[int(folder.name)] = int(fields[1]), int(fields[21])
    family = {root}
    for pid in sorted(parents):  # a child may have a smaller number than its parent, but hardly ever has
        if parents[pid] in family:
            family.add(pid)
    return sum(pages.get(pid, 0) for pid in family) * os.sysconf("SC_PAGE_SIZE") / 1e6
