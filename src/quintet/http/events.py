"""A job's progress as server-sent events."""

import asyncio
from collections.abc import AsyncIterator

from starlette.responses import StreamingResponse

from quintet.errors import LimitError
from quintet.http.jobs import ENDED, Job
from quintet.http.reads import to_json

BEAT_SECONDS = 15.0  # at least this often something is sent, so that no proxy closes the connection


class Streams:
    """The clients that follow jobs, at most `most`. `close` ends all their streams."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: set[asyncio.Event] = set()
        self._closing = False

    def follow(self, job: Job) -> StreamingResponse:
        if len(self._open) >= self._most:
            raise LimitError(
                f"{self._most} clients follow jobs already; poll the job instead", code="too_many"
            )
        return StreamingResponse(self._events(job), media_type="text/event-stream")

    def close(self) -> None:
        self._closing = True
        for changed in self._open:
            changed.set()

    async def _events(self, job: Job) -> AsyncIterator[bytes]:
        """`progress` with the latest state after a change, and `end` when the job has ended."""
        changed, loop = asyncio.Event(), asyncio.get_running_loop()
        self._open.add(changed)
        try:
            with job.watched(lambda: _ring(loop, changed)):
                while not self._closing:
                    changed.clear()
                    fields = job.view()
                    ended = fields["state"] in ENDED
                    yield _event("end" if ended else "progress", fields)
                    if ended:
                        return
                    while not await _set_within(changed, BEAT_SECONDS):
                        yield b": still here\n\n"
        finally:
            self._open.discard(changed)


def _ring(loop: asyncio.AbstractEventLoop, changed: asyncio.Event) -> None:
    loop.call_soon_threadsafe(changed.set)


def _event(name: str, value: object) -> bytes:
    return f"event: {name}\ndata: ".encode() + to_json(value) + b"\n"


async def _set_within(changed: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            return await changed.wait()
    except TimeoutError:
        return False
