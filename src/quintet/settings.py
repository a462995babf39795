"""The settings: argument > environment (`QUINTET_*`) > quintet.toml > tuned (`tuned_numbers.py`) > default.

quintet.toml lies beside the index folder and is untrusted, so no setting is a command, an address or a path.
"""

import json
import os
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, cast

from quintet.errors import UsageError
from quintet.model.documents import Json


@dataclass(frozen=True, slots=True)
class Settings:
    """Every number and name that a user can set, with its default."""

    include: tuple[str, ...] = ()  # globs; empty means everything that is not excluded
    exclude: tuple[str, ...] = ()  # globs, on top of ignore files and the built-in exclusions
    max_file_bytes: int = 4_000_000
    max_document_bytes: int = 64_000_000  # the same, for PDF, office files and EPUB
    max_pages: int = 5000  # of a PDF
    parse_seconds: int = 60  # for one PDF, office file or EPUB
    parse_bytes: int = 2_000_000_000  # of memory for it
    text_seconds: int = 20  # for one file of any other format, to parse and again to cut into chunks
    processes: int = 0  # that read and parse files; 0: one per processor, if there is much to read
    readers: int = 0  # processes that search for a server; 0: one per core, 1: in the server itself
    call_seconds: float = 30.0  # for one call of a server, waiting included
    key_calls: int = 64  # of one API key: calls that run or wait
    key_jobs: int = 64  # jobs and changes that are not finished
    key_bytes: int = 800_000_000  # of these changes
    key_seconds: int = 1800  # that its jobs may work within an hour
    chunk_chars: int = 1600  # about 400 tokens of English, which fits small encoders
    batch_files: int = 2048
    batch_bytes: int = 8_000_000
    embed_batch: int = 64
    writer_timeout: float = 10.0
    max_terms: int = 64
    max_query_chars: int = 200_000
    cache_entries: int = 1000  # searches whose legs are cached for five minutes; 0 turns the cache off
    fresh_seconds: float = 5.0  # spec 002: how far the index may lag behind a file
    acceptable_seconds: float = 30.0
    git_timeout: float = 2.0  # seconds; with 0 git is never asked
    text_index: str = "fts5"  # or tantivy, unless the contract promises the scores of FTS5
    model_seconds: float = 10.0  # that the first searches of a server wait for its embedding model
    log_level: str = "warning"  # of the servers
    log_format: str = "text"  # or json: one object a line
    contracts: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)


LARGEST_FILE = 1_000_000
CLEARED = ([""], ("",))  # as globs of an argument: none, not even those of the last run

NUMBERS = {
    "max_file_bytes": (1, 2**31),
    "max_document_bytes": (1, 2**31),
    "max_pages": (1, 1_000_000),
    "parse_seconds": (1, 86_400),
    "parse_bytes": (2**28, 2**40),
    "text_seconds": (1, 86_400),
    "processes": (0, 16),
    "readers": (0, 64),
    "call_seconds": (1, 3600),
    "key_calls": (1, 100_000),
    "key_jobs": (1, 100_000),
    "key_bytes": (1, 2**40),
    "key_seconds": (1, 1_000_000),
    "chunk_chars": (200, 100_000),
    "batch_files": (1, 100_000),
    "batch_bytes": (1, 2**31),
    "embed_batch": (1, 100_000),
    "writer_timeout": (0, 86_400),
    "max_terms": (1, 10_000),
    "max_query_chars": (1, 10_000_000),
    "cache_entries": (0, 1_000_000),
    "fresh_seconds": (0, 31_536_000),
    "acceptable_seconds": (0, 31_536_000),
    "git_timeout": (0, 60),
    "model_seconds": (0, 3600),
}
CHOICES = {
    "text_index": ("fts5", "tantivy"),
    "log_level": ("debug", "info", "warning", "error"),
    "log_format": ("text", "json"),
}
FRACTIONAL = (
    "call_seconds",
    "writer_timeout",
    "fresh_seconds",
    "acceptable_seconds",
    "git_timeout",
    "model_seconds",
)


def load_settings(folder: Path, environment: Mapping[str, str], **arguments: object) -> Settings:
    """The settings of an index; `folder` is where its quintet.toml would be."""
    file = folder / "quintet.toml"
    explicit = {name: value for name, value in arguments.items() if value not in (None, *CLEARED)}
    values: dict[str, Any] = {}
    for origin, table in (
        (f" in {file}", _from_file(file)),
        (" in the environment", _from_environment(environment)),
        ("", explicit),
    ):
        values |= {name: _check(name, value, origin) for name, value in table.items()}
    settings = Settings(**values)
    if settings.acceptable_seconds < settings.fresh_seconds:
        raise UsageError(
            f"setting acceptable_seconds is {settings.acceptable_seconds:g}; "
            f"it must not be less than fresh_seconds, {settings.fresh_seconds:g}"
        )
    return settings


def _from_file(path: Path) -> dict[str, object]:
    try:
        table = tomllib.loads(regular_text(path))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, RecursionError) as error:
        reason = str(error)[:200] or type(error).__name__
        raise UsageError(f"{path} cannot be read: {reason}; correct or remove it") from error
    contracts = dict(_tables(table.pop("contracts", {})))
    if "retrieval" in table:  # spec 001 prints its numbers under this name
        printed = _tables({"harness": table.pop("retrieval")})
        contracts["harness"] = {**printed["harness"], **contracts.get("harness", {})}
    return {**table, "contracts": contracts} if contracts else table


def regular_text(path: Path) -> str:
    """The text of a regular file. Reading a pipe or a device could take for ever."""
    with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:  # noqa: PTH123
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("it is not a regular file")
        data = file.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        raise ValueError(f"it is larger than {LARGEST_FILE} bytes")
    return data.decode("utf-8")


def _from_environment(environment: Mapping[str, str]) -> dict[str, object]:
    values: dict[str, object] = {}
    for name in (f.name for f in fields(Settings) if f.name != "contracts"):
        text = environment.get(f"QUINTET_{name.upper()}")
        if text is not None:
            values[name] = text.split(",") if name in ("include", "exclude") else _number(text)
    return values


def _number(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _check(name: str, value: object, origin: str) -> object:
    """`origin` tells the reader of an error where the value comes from."""
    if name in ("include", "exclude"):
        return _globs(name, value, origin)
    if name == "contracts":
        return _tables(value)
    if name in CHOICES:
        return _choice(name, value, origin)
    if name not in NUMBERS:
        known = ", ".join(f.name for f in fields(Settings))
        raise UsageError(f"unknown setting {name!r}{origin}; the settings are: {known}")
    low, high = NUMBERS[name]
    whole = name not in FRACTIONAL
    right_type = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
    if not right_type or not low <= cast(float, value) <= high:
        kind = "whole number" if whole else "number"
        allowed = f"it must be a {kind} from {low} to {high}"
        raise UsageError(f"setting {name}{origin} is {_shown(value)}; {allowed}")
    return value


def _choice(name: str, value: object, origin: str) -> object:
    if value not in CHOICES[name]:
        allowed = f"it must be one of: {', '.join(CHOICES[name])}"
        raise UsageError(f"setting {name}{origin} is {_shown(value)}; {allowed}")
    return value


def _globs(name: str, value: object, origin: str) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        allowed = "it must be a list of globs such as 'docs/**'"
        raise UsageError(f"setting {name}{origin} is {_shown(value)}; {allowed}")
    return tuple(value)


def _tables(value: object) -> Mapping[str, Mapping[str, Json]]:
    if not isinstance(value, Mapping) or not all(isinstance(table, Mapping) for table in value.values()):
        raise UsageError(
            f"setting contracts is {_shown(value)}; write [contracts.NAME] tables of name = value"
        )
    return value


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # Python converts no whole number of more than 4300 digits
        return "a number too long to show"
    return text if len(text) <= 80 else text[:77] + "..."


def is_debugging() -> bool:
    """Whether the log of an internal error has its traceback, which may quote the contents of files."""
    return os.environ.get("QUINTET_DEBUG") == "1"
