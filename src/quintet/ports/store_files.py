"""The names of a store's files, for code that looks for a store without opening it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoreFiles:
    """The names of a store's parts in its folder. `derived` is the folder of what is made from the database.

    `precious`: nothing can rebuild this store, so every commit waits for the disk.
    `may_be_missing`: no file means an empty store; the first write creates it.
    """

    database: str
    lock: str
    derived: str = "."
    precious: bool = False
    may_be_missing: bool = False


INDEX_FILE = "index.db"
INDEX_FILES = StoreFiles(INDEX_FILE, "writer.lock")
MEMORY_FILES = StoreFiles("memory.db", "memory.lock", "memory", precious=True, may_be_missing=True)
KNOWLEDGE_FILES = StoreFiles(INDEX_FILE, "writer.lock", precious=True)
