"""Knowledge bases: each has its own store below the index folder, searched by the same engine.

index.knowledge                       KnowledgeBases
  create(slug, title=None, properties=())   KnowledgeBase; Conflict `knowledge_base_exists`
  list()                              the description of each base, by slug
  get(name)                           KnowledgeBase by slug or `kb_<slug>`; NotFound `unknown_index`
  archive(name), unarchive(name), delete(name)

KnowledgeBase                         `slug`, `index_name`
  describe()                          counts, state (ready, syncing, error), schema, sources
  search(query, contract="knowledge", **params)
                                      Response of contract knowledge or quintet; Conflict
                                      `knowledge_base_not_ready`
  put(text=None, *, content=None, title=None, uri=None, metadata=None, id=None, mime="text/plain")
  put_file(data, name=None, *, mime=None, title=None, uri=None, metadata=None, id=None)
                                      `data` is bytes, or the path of a file; both give an Outcome
  put_many(uploads, progress=None, *, step=None)
                                      list[Outcome], one per Upload; a refused upload does not raise
  documents(after=None, limit=100)    a page of documents; `after` is the last id of the page before
  get(id), update(id, *, title, uri, metadata), delete(id)
  source_file(id)                     SourceFile(location, name, mime_type, size, digest)
  add_source(directory, name=None, *, allowed=None), sources(), remove_source(id)
  sync_source(id, *, progress=None)   SyncRun; `progress` is called with the run at each step
  runs(source_id=None, limit=20)      list[SyncRun], latest first

index.search(query, "knowledge", index="kb_<slug>", ...) and index.context(query, budget, index=...)
search that base.
"""

from quintet.knowledge.base import KnowledgeBase
from quintet.knowledge.bases import KnowledgeBases
from quintet.knowledge.documents import Outcome, Upload
from quintet.knowledge.files import SourceFile
from quintet.knowledge.runs import SyncRun

__all__ = ["KnowledgeBase", "KnowledgeBases", "Outcome", "SourceFile", "SyncRun", "Upload"]
