"""Access control: routes check the client's key, a key may be limited to some bases, errors show no paths."""

import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from quintet.contracts import HOUSE
from quintet.contracts.bases import DEFAULT_INDEX, INDEX_PREFIX
from quintet.contracts.knowledge import CONTRACT
from quintet.errors import AccessError, QuintetError, StoreError
from quintet.http.authentication import Guard
from quintet.http.jobs import Job, Jobs
from quintet.http.quotas import CALLER
from quintet.knowledge import KnowledgeBase, KnowledgeBases
from quintet.knowledge.base import unknown
from quintet.serving.keys import Key, Scope
from quintet.serving.shared_index import SharedIndex

HIDDEN = "…"


@dataclass(frozen=True, slots=True)
class Access:
    """How far a request reaches: everywhere, or to the knowledge bases of its key.

    A base that the client may not see gets the same answer as one that does not exist.
    """

    shared: SharedIndex
    key: Key | None

    @property
    def bases(self) -> KnowledgeBases:
        return self.shared.index.knowledge

    def base(self, name: str) -> KnowledgeBase:
        """The knowledge base of that slug or index name."""
        self._check(name)
        return self.bases.get(name)

    def list_bases(self) -> list[Any]:
        slugs = self.key.bases if self.key is not None else ()
        return [*self.bases.list(slugs or None)]

    def check_everywhere(self, action: str) -> None:
        """For an action on more than one base, or on the folders of this machine."""
        if self.key is not None and self.key.bases:
            raise AccessError(f"the key {self.key.name!r} may not {action}; this needs a key without --kb")

    def check_search(self, contract: str, index: object = DEFAULT_INDEX) -> None:
        """A key for knowledge bases searches only those, by their own contract or the house ranking."""
        in_base = contract == HOUSE and index != DEFAULT_INDEX
        if contract != CONTRACT.name and not in_base:
            self.check_everywhere(f"search the folders by contract {contract}")
        self._check(index if isinstance(index, str) else "")

    def job(self, jobs: Jobs, job_id: str) -> Job:
        job = jobs.get(job_id)
        if self.key is not None and self.key.bases and (job.base is None or not self.key.reaches(job.base)):
            return jobs.get("")  # the same error as for an unknown id
        return job

    def _check(self, name: str) -> None:
        """The key alone decides, so that not even the response time says which bases exist."""
        if self.key is not None and not self.key.reaches(name.removeprefix(INDEX_PREFIX)):
            raise unknown(name)


Handler = Callable[[Request, Access], Awaitable[Response]]


def guarded_route(
    shared: SharedIndex,
    guard: Guard,
    path: str,
    *,
    for_bases: bool = False,
    **handlers: tuple[Scope, Handler],
) -> Route:
    """A route whose methods each need a key of some scope, on servers that need keys.

    A key for knowledge bases opens only routes `for_bases`. Their errors name no path on the server's disk.
    """

    async def endpoint(request: Request) -> Response:
        scope, handler = handlers["GET" if request.method == "HEAD" else request.method]
        with hide_paths(shared):
            key = await guard.admit(request.headers, scope, in_base=for_bases)
        CALLER.set(key)
        with hide_paths(shared) if for_bases else nullcontext():
            return await handler(request, Access(shared, key))

    return Route(path, endpoint, methods=list(handlers))


@contextmanager
def hide_paths(shared: SharedIndex) -> Iterator[None]:
    """Errors that leave this context name no path on the server's disk."""
    try:
        yield
    except QuintetError as error:
        error.message = without_paths(shared, error.message)
        raise


def without_paths(shared: SharedIndex, text: str) -> str:
    """The text with `…` in place of every folder of the index and every folder that clients may reach."""
    if os.sep not in text:
        return text
    places = (shared.folder, shared.folder.resolve(), shared.base, *_allowed(shared))
    folders = {str(place) for place in places} - {shared.base.anchor}
    folders |= {repr(folder)[1:-1] for folder in folders}  # as errors quote them: backslashes are doubled
    for folder in sorted((folder for folder in folders if folder in text), key=len, reverse=True):
        text = text.replace(folder, HIDDEN)
    return text


def _allowed(shared: SharedIndex) -> tuple[Path, ...]:
    try:
        return tuple(shared.allowed)
    except StoreError:  # the index holds some of them, and may be what is broken
        return ()
