"""Quintet: a local hybrid retrieval engine that serves five published contracts.

>>> import quintet, tempfile
>>> with quintet.open(tempfile.mkdtemp(), embedder=None) as index:
...     index.search("cache ttl", contract="rifflux").status
'never_indexed'
"""

from typing import TYPE_CHECKING

from quintet.errors import (
    AccessError,
    Conflict,
    LimitError,
    MissingExtra,
    NotFound,
    QuintetError,
    StoreError,
    UsageError,
)

if TYPE_CHECKING:
    from quintet.backups.backup import backup
    from quintet.backups.restore import restore
    from quintet.contracts.rifflux import rifflux
    from quintet.index import Index, open
    from quintet.indexing.run import Report
    from quintet.knowledge import KnowledgeBase
    from quintet.query.context_snapshot import ContextSnapshot
    from quintet.query.result import Result
    from quintet.query.search import Response
    from quintet.receipts.proof import check_proof

__version__ = "0.1.0"

__all__ = [
    "AccessError",
    "Conflict",
    "ContextSnapshot",
    "Index",
    "KnowledgeBase",
    "LimitError",
    "MissingExtra",
    "NotFound",
    "QuintetError",
    "Report",
    "Response",
    "Result",
    "StoreError",
    "UsageError",
    "__version__",
    "backup",
    "check_proof",
    "open",
    "restore",
    "rifflux",
]


def __getattr__(name: str) -> object:
    """The engine is imported when it is first asked for: `quintet --help` needs none of it."""
    from importlib import import_module

    homes = {
        "Index": "quintet.index",
        "backup": "quintet.backups.backup",
        "restore": "quintet.backups.restore",
        "open": "quintet.index",
        "rifflux": "quintet.contracts.rifflux",
        "KnowledgeBase": "quintet.knowledge",
        "Report": "quintet.indexing.run",
        "Response": "quintet.query.search",
        "ContextSnapshot": "quintet.query.context_snapshot",
        "Result": "quintet.query.result",
        "check_proof": "quintet.receipts.proof",
    }
    if name in homes:
        return getattr(import_module(homes[name]), name)
    raise AttributeError(f"module 'quintet' has no attribute {name!r}")
