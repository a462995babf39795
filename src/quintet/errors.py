"""Every error raised on purpose. A message says what was wrong, the value, what is allowed, what to do.

QuintetError              HTTP  exit
├── UsageError             400     2   the request cannot be understood; asking again changed will help
├── AccessError        401/403     7   who asks may not
├── NotFound               404     3   nothing has that name
├── Conflict               409     4   the index is in a state that forbids it
├── LimitError         413/429     8   too large or too many
├── MissingExtra           501     5   an optional part is not installed
└── StoreError             503     6   the disk or the database failed
"""

from collections.abc import Mapping
from typing import ClassVar


class QuintetError(Exception):
    """The root of the tree. `code` is stable and meant for programs, `message` for people."""

    exit_code: ClassVar[int] = 1
    http_status: ClassVar[int] = 500
    default_code: ClassVar[str] = "error"

    def __init__(
        self, message: str, *, code: str | None = None, details: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.details = dict(details or {})


class UsageError(QuintetError):
    exit_code = 2
    http_status = 400
    default_code = "invalid_parameter"


class AccessError(QuintetError):
    exit_code = 7
    http_status = 403
    default_code = "forbidden"


class NotFound(QuintetError):  # noqa: N818  (a name people say)
    exit_code = 3
    http_status = 404
    default_code = "not_indexed"


class Conflict(QuintetError):  # noqa: N818
    exit_code = 4
    http_status = 409
    default_code = "index_mismatch"


class LimitError(QuintetError):
    exit_code = 8
    http_status = 413
    default_code = "too_large"


class MissingExtra(QuintetError):  # noqa: N818
    exit_code = 5
    http_status = 501
    default_code = "missing_extra"


class StoreError(QuintetError):
    exit_code = 6
    http_status = 503
    default_code = "store_failed"
