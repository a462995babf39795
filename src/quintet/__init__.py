"""Quintet: a local hybrid retrieval engine that serves five published contracts.

>>> import quintet, tempfile
>>> with quintet.open(tempfile.mkdtemp(), embedder=None) as index:
...     index.search("cache ttl", contract="rifflux").status
'never_indexed'
"""

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
from quintet.index import Index, open, rifflux
from quintet.ingest.run import Report
from quintet.search.search import Response

__version__ = "0.1.0"

__all__ = [
    "AccessError",
    "Conflict",
    "Index",
    "LimitError",
    "MissingExtra",
    "NotFound",
    "QuintetError",
    "Report",
    "Response",
    "StoreError",
    "UsageError",
    "__version__",
    "open",
    "rifflux",
]
