"""From what was typed to arguments of the engine, and where the index lies."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from quintet.cli.filter_options import given_filters, json_or_text
from quintet.errors import NotFound, UsageError

INDEX_FOLDER = ".quintet"
TAKEN = ("query", "contract", "self")  # names that are no parameters of a contract


def whole_number(name: str, least: int, most: int, of: str = "") -> Callable[[str | int], int]:
    """Reads the value of an option, and refuses it in the words in which the engine would."""

    def read(given: str | int) -> int:
        try:
            value = int(given)
        except ValueError:
            refused = repr(as_text(str(given))[:80])
        else:
            if least <= value <= most:
                return value
            refused = str(value)[:80]
        raise UsageError(
            f"{name} is {refused}; it must be a whole number{of} from {least} to {most}",
            details={"parameter": name},
        )

    return read


Db = Annotated[
    Path | None,
    typer.Option(
        "--db",
        metavar="DIR",
        help="The index folder. Without it, the nearest .quintet folder from here upwards.",
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON document to standard output, and nothing else.")
]
Paths = Annotated[list[str] | None, typer.Argument(metavar="PATHS", help="Folders and files, or name=path.")]
Included = Annotated[
    list[str] | None,
    typer.Option("--include", metavar="GLOB", help="Index only what matches, e.g. 'docs/**'. Repeatable."),
]
Excluded = Annotated[
    list[str] | None,
    typer.Option("--exclude", metavar="GLOB", help="Leave out what matches, e.g. '*.min.js'. Repeatable."),
]
EmbedderName = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        metavar="NAME",
        help="What makes the vectors; 'none' for text only. Kept with the index.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Read every file again, changed or not.")]
Wait = Annotated[
    bool, typer.Option("--wait/--no-wait", help="Embed new text now, or leave that to the next run.")
]
Reembed = Annotated[
    bool,
    typer.Option(
        "--reembed", help="Make all vectors anew with the embedder that is named. Looks at no files."
    ),
]
ReceiptFile = Annotated[
    Path | None,
    typer.Option("--receipt", metavar="FILE", help="Write a receipt that 'quintet verify' can replay."),
]
ContractName = Annotated[
    str | None,
    typer.Option(
        "--contract",
        metavar="NAME",
        help="Whose ranking: quintet (default), rifflux, harness, mcb, knowledge or cfs.",
    ),
]
Mode = Annotated[
    str | None,
    typer.Option(
        "--mode", metavar="MODE", help="Which signals: hybrid, semantic, and lexical or keyword by contract."
    ),
]
A_LIMIT = whole_number("limit", 1, 1000)
Limit = Annotated[
    int | None, typer.Option("--limit", metavar="N", parser=A_LIMIT, help="How many results, 1 to 1000.")
]
Budget = Annotated[
    int,
    typer.Option(
        "--budget",
        metavar="TOKENS",
        parser=whole_number("budget", 1, 100_000, " of tokens"),
        help="How long it may be, in tokens of about 4 characters: 1 to 100000.",
    ),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        metavar="NAME=VALUE",
        help="A parameter of the contract, e.g. semantic_weight=0.5. VALUE is JSON, else text. Repeatable.",
    ),
]
Filters = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        metavar="FILTER",
        help="Only where this holds, e.g. 'path:docs/** -tag:draft'. Repeatable; all must hold.",
    ),
]
SyntaxName = Annotated[
    str | None,
    typer.Option(
        "--syntax", metavar="SYNTAX", help="plain words (default), or fts5 for SQLite's own query language."
    ),
]


def index_folder(given: Path | None) -> Path:
    """The index folder to open; there must be one."""
    found = given or nearest(here())
    if found is None:
        raise NotFound(
            "there is no index in this folder or above; make one with 'quintet index', or name one with --db"
        )
    return found


def folder_to_fill(given: Path | None) -> Path:
    """The index folder of a command that makes one where there is none."""
    return given or nearest(here()) or here() / INDEX_FOLDER


def holds_index(folder: Path) -> bool:
    from quintet.storage.sqlite.store import FILE

    return (folder / FILE).is_file()


def here() -> Path:
    try:
        return Path.cwd()
    except OSError as error:
        raise UsageError(
            f"the current folder cannot be read: {error.strerror or error}; change to another",
            code="invalid_path",
        ) from error


def nearest(start: Path) -> Path | None:
    """The `.quintet` folder in `start` or closest above it."""
    return next((at / INDEX_FOLDER for at in (start, *start.parents) if _is_folder(at / INDEX_FOLDER)), None)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a folder above that may not be looked into
        return False


def as_text(argument: str) -> str:
    r"""An argument as text: bytes that are not UTF-8 become U+FFFD.

    >>> as_text("caf\udcc3\udca9 \udcff") == "caf\xe9 \ufffd"
    True
    """
    return os.fsencode(argument).decode("utf-8", "replace")


def refuse_with_reembed(**given: object) -> None:
    """Re-embedding goes by the text in the index; what chooses files would be dropped without a word."""
    refused = [name for name, value in given.items() if value]
    if refused:
        spelt = ["PATHS" if name == "paths" else f"--{name.replace('_', '-')}" for name in refused]
        raise UsageError(
            f"--reembed looks at no files, so {', '.join(spelt)} cannot go with it; "
            "run 'quintet index' with and without --reembed, one after the other",
            details={"parameters": spelt},
        )


def search_parameters(
    params: Sequence[str], filters: Sequence[str], contract: str = "", **offered: object
) -> dict[str, object]:
    """Everything a search is asked beside its query. `offered` are options of their own; None is left out."""
    found = {name: as_text(value) if isinstance(value, str) else value for name, value in offered.items()}
    found = {name: value for name, value in found.items() if value is not None}
    if filters:
        found["filters"] = given_filters([as_text(one) for one in filters], contract)
    return with_named(found, params)


def with_named(
    offered: Mapping[str, object], params: Sequence[str], option: str = "--param"
) -> dict[str, object]:
    """What has options of its own, and each `NAME=VALUE` beside it."""
    found = dict(offered)
    for one in params:
        name, value = _parameter(as_text(one), option)
        if name in found:
            raise UsageError(f"{name} was given twice; give it once", details={"parameter": name})
        found[name] = value
    return found


def _parameter(given: str, option: str) -> tuple[str, object]:
    name, separator, value = given.partition("=")
    name = name.strip()
    if not separator or not name:
        raise UsageError(f"{option} is {given!r}; it must be name=value, e.g. limit=5")
    if name in TAKEN:
        raise UsageError(
            f"{name} is not a parameter of a contract; see 'quintet search --help'",
            details={"parameter": name},
        )
    return name, json_or_text(value)
