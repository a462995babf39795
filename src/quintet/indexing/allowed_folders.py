"""Every path that a client sends must lie in an allowed folder."""

from collections.abc import Iterable
from pathlib import Path

from quintet.errors import AccessError, UsageError


def resolve_allowed(path: str, allowed: Iterable[Path], base: Path) -> Path:
    """`path` as a real location in one of the `allowed` folders. Links are resolved before the check."""
    try:
        location = (base / path).resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        raise UsageError(
            f"there is no file or folder {path!r}; give one that exists", code="invalid_path"
        ) from None
    folders = [folder.resolve() for folder in allowed]
    if not any(location.is_relative_to(folder) for folder in folders):
        shown = ", ".join(str(folder) for folder in folders) or "none"
        raise AccessError(
            f"{path!r} lies outside the folders this server may read ({shown}); start it with --allow"
        )
    return location
