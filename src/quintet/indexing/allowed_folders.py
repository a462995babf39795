"""Every path that a client sends must lie in an allowed folder."""

from collections.abc import Iterable
from pathlib import Path

from quintet.errors import AccessError, UsageError


def resolve_allowed(path: str, allowed: Iterable[Path], base: Path) -> Path:
    """`path` as a real location in one of the `allowed` folders, which are resolved. Links are resolved
    before the check. What lies outside is refused in the same words whether it exists or not."""
    try:
        location = (base / path).resolve()
    except (OSError, RuntimeError):  # links in a circle, which may lie outside
        location = None
    except ValueError:
        raise _missing(path) from None
    if location is None or not any(location.is_relative_to(folder) for folder in allowed):
        raise AccessError(
            f"{path!r} lies outside the folders that clients of this server may read; "
            "name one inside, or start the server with --allow"
        )
    try:
        return location.resolve(strict=True)
    except (OSError, RuntimeError):
        raise _missing(path) from None


def _missing(path: str) -> UsageError:
    return UsageError(f"there is no file or folder {path!r}; give one that exists", code="invalid_path")
