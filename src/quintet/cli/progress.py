"""What a long command says while it works: bars on a terminal, a line now and then anywhere else."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from quintet.cli.terminal import Interrupted, is_terminal, safe, tell

if TYPE_CHECKING:
    from rich.progress import Progress

Listener = Callable[[str, int, int], None]  # stage, done, total; 0 is an unknown total
UNITS = {"text": "files", "graph": "files", "embed": "chunks"}
ANNOUNCED_CHUNKS = 128  # fewer are embedded in a moment
SECONDS_BETWEEN_LINES = 10.0


@contextmanager
def progress() -> Iterator[Listener]:
    """A progress bar for each stage on standard error, if that is a terminal."""
    if is_terminal(sys.stderr):
        with _bars() as bars:
            yield _into(bars.add_task, bars.update)
    else:
        yield lambda stage, done, total: None


@contextmanager
def run_progress(*, silent: bool, reads_files: bool) -> Iterator[Listener]:
    """The same for an index run. In a pipe it writes lines unless it is `silent`. It announces embedding, and
    an interrupt raises `Interrupted` with what the run has done."""
    last = ("", 0, 0)
    seconds = _stop_watch()

    def listen(stage: str, done: int, total: int) -> None:
        nonlocal last
        last = stage, done, total
        if (stage, done) == ("embed", 0) and reads_files and total >= ANNOUNCED_CHUNKS:
            say(announcement(seconds(), total))
        show(stage, done, total)

    try:
        if is_terminal(sys.stderr):
            with _bars() as bars:
                say, show = _saying(bars), _into(bars.add_task, bars.update)
                yield listen
        else:
            say, show = (_nothing, _nothing) if silent else (tell, PlainLines(tell))
            yield listen
    except KeyboardInterrupt:
        raise Interrupted(interrupted(*last)) from None


class PlainLines:
    """One line as soon as the speed of a stage is known, and then one every ten seconds."""

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._say, self._clock = say, clock
        self._stage, self._done = "", 0
        self._start = (0, 0.0)  # done and time after the first step, which includes loading a model
        self._next_line = 0.0

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = self._clock()
        is_first = stage != self._stage or done < self._done or not self._done
        self._stage, self._done = stage, done
        if is_first:
            self._start, self._next_line = (done, now), now
        elif done < total and now >= self._next_line:
            self._next_line = now + SECONDS_BETWEEN_LINES
            self._say(self._line(total, now))

    def _line(self, total: int, now: float) -> str:
        start, since = self._start
        speed = (self._done - start) / max(now - since, 1e-6)
        left = f", about {duration((total - self._done) / speed)} left" if speed else ""
        return f"{self._stage}: {self._done:,} of {total:,} {UNITS[self._stage]}, {speed:.0f}/s{left}"


def announcement(seconds: float, chunks: int) -> str:
    return (
        f"text searchable after {duration(seconds)}; embedding {chunks:,} chunks; "
        "Ctrl-C is safe, the rest goes on next time"
    )


def interrupted(stage: str, done: int, total: int) -> str:
    """One sentence about a run that was interrupted after this report.

    >>> interrupted("text", 512, 2000)
    'interrupted after 512 of 2,000 files; they are kept, and the same command reads the rest'
    """
    if stage == "embed":
        kept = f"{done:,} of {total:,} chunks are embedded" if done else "nothing is embedded yet"
        return f"interrupted; text is searchable, {kept}, and the same command embeds the rest"
    if stage == "text" and done:
        kept = f"interrupted after {done:,} of {total:,} files"
        return f"{kept}; they are kept, and the same command reads the rest"
    return "interrupted; what was committed is kept, and the same command goes on from there"


def duration(seconds: float) -> str:
    """
    >>> duration(2.94), duration(41.7), duration(600)
    ('2.9 s', '42 s', '10 min')
    """
    if seconds >= 120:
        return f"{seconds / 60:.0f} min"
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"


def _stop_watch() -> Callable[[], float]:
    start = time.monotonic()
    return lambda: time.monotonic() - start


def _nothing(*_: object) -> None:
    """Says and shows nothing."""


def _saying(bars: "Progress") -> Callable[[str], None]:
    return lambda line: bars.console.print(Text(safe(line)), soft_wrap=True)


def _bars() -> "Progress":
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, Task, TextColumn, TimeRemainingColumn

    class Speed(TextColumn):
        def render(self, task: Task) -> Text:
            return Text("" if task.speed is None else f"{task.speed:.0f}/s")

    columns = (
        TextColumn("{task.description:<6}"),
        BarColumn(),
        MofNCompleteColumn(),
        Speed(""),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=Console(stderr=True, force_terminal=True), transient=True)


def _into(add: Callable[..., int], update: Callable[..., None]) -> Listener:
    tasks: dict[str, int] = {}

    def report(stage: str, done: int, total: int) -> None:
        if stage not in tasks:
            tasks[stage] = add(safe(stage), total=total or None)
        update(tasks[stage], completed=done, total=total or None)

    return report
