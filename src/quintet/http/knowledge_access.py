"""Which knowledge bases a client may see. What it may not see is, to it, not there."""

from dataclasses import dataclass
from typing import Any

from quintet.contracts.knowledge import CONTRACT, DEFAULT_INDEX, INDEX_PREFIX
from quintet.errors import AccessError
from quintet.http.jobs import Job, Jobs
from quintet.knowledge import KnowledgeBase, KnowledgeBases
from quintet.knowledge.base import unknown
from quintet.serving.keys import Key
from quintet.serving.shared_index import SharedIndex


@dataclass(frozen=True, slots=True)
class Reach:
    """How far one request reaches: everywhere, or to the bases of its key."""

    shared: SharedIndex
    key: Key | None

    @property
    def bases(self) -> KnowledgeBases:
        return self.shared.index.knowledge

    def named(self, name: str) -> KnowledgeBase:
        """By slug or index name. The words are the same whether it is not there or not the client's."""
        self._check(name)
        return self.bases.get(name)

    def all(self) -> list[Any]:
        mine = self.key.bases if self.key is not None else ()
        return [*self.bases.list(mine or None)]

    def check_everywhere(self, what: str) -> None:
        """For what touches more than one base, or the folders of this machine."""
        if self.key is not None and self.key.bases:
            raise AccessError(f"the key {self.key.name!r} may not {what}; this needs a key without --kb")

    def check_search(self, contract: str, index: object = DEFAULT_INDEX) -> None:
        """Folders are nobody's base, so a key for bases searches only those, by the contract they have."""
        if contract != CONTRACT.name:
            self.check_everywhere(f"search by contract {contract}")
        self._check(index if isinstance(index, str) else "")

    def job(self, jobs: Jobs, job_id: str) -> Job:
        job = jobs.get(job_id)
        if self.key is not None and self.key.bases and (job.base is None or not self.key.reaches(job.base)):
            return jobs.get("")  # in the very words of an id that was never given
        return job

    def _check(self, name: str) -> None:
        """Decided by the key alone, so that not even the time it takes tells what there is."""
        if self.key is not None and not self.key.reaches(name.removeprefix(INDEX_PREFIX)):
            raise unknown(name)
