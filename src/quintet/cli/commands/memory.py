"""The commands for memory: `quintet remember`, `recall`, `timeline` and `memory`."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from quintet.cli import options
from quintet.cli.commands.index_and_search import NO_MATCH, opened
from quintet.cli.memory_text import shown
from quintet.cli.opening import opened_or_made
from quintet.cli.options import AsJson, Db, Limit
from quintet.cli.terminal import document, tell, write
from quintet.errors import NotFound, UsageError

READ_MOST = 1_000_000  # bytes of a text or a line; the engine says how long they may be

Kind = Annotated[
    str | None,
    typer.Option(
        "--kind",
        metavar="KIND",
        help="decision, fact (default), preference, error, summary, code or task.",
    ),
]
OnlyKind = Annotated[str | None, typer.Option("--kind", metavar="KIND", help="Only this kind.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="A tag. Repeatable.")]
Session = Annotated[str | None, typer.Option("--session", metavar="NAME", help="The session it belongs to.")]
OnlyAbout = Annotated[
    str | None, typer.Option("--about", metavar="NAME", help="Only about this path or symbol.")
]

memory = typer.Typer(help="Show, forget, export and import what is remembered.", rich_markup_mode=None)


def register(app: typer.Typer) -> None:
    app.command("remember", short_help="Keep a fact, a decision, a lesson.")(remember_command)
    app.command("recall", short_help="Find what was remembered.")(recall_command)
    app.command("timeline", short_help="Show memories in the order they came.")(timeline_command)
    app.add_typer(memory, name="memory", short_help="Show, forget, export or import memories.")


def remember_command(
    text: Annotated[str, typer.Argument(metavar="TEXT|-", help="What to keep; - reads standard input.")],
    kind: Kind = None,
    tag: Tags = None,
    about: Annotated[
        list[str] | None,
        typer.Option(
            "--about", metavar="NAME", help="A path, PATH:FIRST-LAST or symbol it is about. Repeatable."
        ),
    ] = None,
    session: Session = None,
    supersedes: Annotated[
        str | None, typer.Option("--supersedes", metavar="ID", help="The memory that holds no longer.")
    ] = None,
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """Keep something worth knowing later. It can be recalled at once.

    The same text again is the same memory, seen once more. Memories that say almost the same are named,
    never merged. What is kept lies beside the index, and no indexing touches it.

    \b
    Example:
      quintet remember "Answers are cached for five minutes" --tag cache --about src/cache.py
    """
    given = {"kind": kind, "session": session, "supersedes": supersedes}
    named = {name: options.as_text(value) for name, value in given.items() if value is not None}
    with opened_or_made(db) as index:
        kept = index.memory.remember(
            _read_text(text),
            tags=[options.as_text(one) for one in tag or ()],
            about=[options.as_text(one) for one in about or ()],
            **named,  # type: ignore[arg-type]
        )
    if as_json:
        document(asdict(kept))
        return 0
    write(f"{kept.id}  {f'seen {kept.seen} times' if kept.merged else 'remembered'}\n")
    for one in kept.near:
        tell(f"near: {one.id} says almost the same ({one.by} {one.similarity:.2f}): {one.text[:200]}")
    _tell(kept.notes)
    return 0


def _read_text(text: str) -> str:
    if text != "-":
        return options.as_text(text)
    return sys.stdin.buffer.read(READ_MOST).decode("utf-8", "replace") if sys.stdin else ""


def recall_command(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for; quote several words.")],
    kind: OnlyKind = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="Only with this tag. Repeatable.")
    ] = None,
    session: Annotated[
        str | None, typer.Option("--session", metavar="NAME", help="Only of this session.")
    ] = None,
    about: OnlyAbout = None,
    everything: Annotated[bool, typer.Option("--all", help="Also what was superseded.")] = False,
    limit: Limit = None,
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """Find what was remembered, by words and by meaning; best first.

    A memory about code that changed since says so. Exit code 1 means that nothing was found.

    \b
    Example:
      quintet recall "how long are answers cached" --tag cache
    """
    params = _filters(tag, kind=kind, session=session, about=about)
    params |= {} if limit is None else {"limit": limit}
    with opened(db) as index:
        response = index.memory.recall(options.as_text(query), include_superseded=everything, **params)
    found: Any = response.body["results"]
    if as_json:
        document(response.wire())
    else:
        for rank, item in enumerate(found, 1):
            write(shown(item, f"{rank:>2}. "))
        _tell(response.notes)
        if not found:
            tell("nothing is remembered yet" if response.status == "never_indexed" else "no match")
    if found:
        return 0
    return NotFound.exit_code if response.status == "never_indexed" else NO_MATCH


def _filters(tags: list[str] | None, **names: str | None) -> dict[str, Any]:
    """Those that were given."""
    found: dict[str, Any] = {name: options.as_text(one) for name, one in names.items() if one is not None}
    return {**found, "tags": [options.as_text(one) for one in tags]} if tags else found


def timeline_command(
    around: Annotated[
        str | None,
        typer.Option("--around", metavar="ID|MS", help="A memory, or a moment in Unix milliseconds."),
    ] = None,
    before: Annotated[
        int,
        typer.Option(
            "--before",
            metavar="N",
            parser=options.whole_number("before", 0, 1000),
            help="How many before it, 0 to 1000.",
        ),
    ] = 5,
    after: Annotated[
        int,
        typer.Option(
            "--after",
            metavar="N",
            parser=options.whole_number("after", 0, 1000),
            help="How many behind it, 0 to 1000.",
        ),
    ] = 5,
    kind: OnlyKind = None,
    session: Annotated[
        str | None, typer.Option("--session", metavar="NAME", help="Only of this session.")
    ] = None,
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """Show memories in the order they came, oldest first; without --around, the latest.

    What was superseded since is there too, with the time until which it held.

    \b
    Example:
      quintet timeline --before 10
    """
    moment: str | int | None = around
    if around is not None and around.isdecimal() and len(around) < 20:
        moment = int(around)
    with opened(db) as index:
        found = index.memory.timeline(moment, before, after, kind=kind, session=session)
    if as_json:
        document({"memories": found})
    else:
        write("".join(shown(item) for item in found))
        if not found:
            tell("nothing was remembered then")
    return 0 if found else NO_MATCH


@memory.command("get", short_help="Print a memory whole.")
def get_memory(
    id: Annotated[str, typer.Argument(metavar="ID", help="The id of a memory.")],
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """Print a memory whole, whether it still holds or not."""
    with opened(db) as index:
        found = index.memory.get(options.as_text(id))
    if as_json:
        document(found)
    else:
        write(shown(found))


@memory.command("forget", short_help="Remove memories for good.")
def forget_memory(
    id: Annotated[str | None, typer.Argument(metavar="ID", help="The id of a memory.")] = None,
    kind: OnlyKind = None,
    tag: Tags = None,
    session: Session = None,
    about: OnlyAbout = None,
    db: Db = None,
) -> None:
    """Remove a memory by its id, or all that pass the filters. There is no way back: export first."""
    filters = _filters(tag, kind=kind, session=session, about=about)
    with opened(db) as index:
        gone = index.memory.forget(None if id is None else options.as_text(id), **filters)
    write(f"forgot {len(gone)} memor{'y' if len(gone) == 1 else 'ies'}\n")


@memory.command("export", short_help="Print all memories as lines of JSON.")
def export_memory(db: Db = None) -> None:
    """Print every memory as a line of JSON, oldest first: a backup, or what another index imports."""
    with opened(db) as index:
        lines = index.memory.export()
    write("".join(line + "\n" for line in lines))


@memory.command("import", short_help="Add exported memories.")
def import_memory(
    file: Annotated[
        str, typer.Argument(metavar="FILE|-", help="What 'export' printed; - is standard input.")
    ],
    db: Db = None,
) -> None:
    """Add exported memories. If a line is wrong, nothing is imported. Twice is the same as once."""
    with _source(file) as source, opened_or_made(db) as index:
        done = index.memory.import_(_lines(source))
    write(f"{done.added} added, {done.changed} changed, {done.unchanged} unchanged\n")


@contextmanager
def _source(file: str) -> Iterator[IO[bytes]]:
    if file == "-":
        yield sys.stdin.buffer if sys.stdin else BytesIO()
        return
    try:
        opened_file = Path(file).open("rb")  # noqa: SIM115  (an error below is not one of opening)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(
            f"{options.as_text(file)!r} cannot be read: {reason}", code="invalid_path"
        ) from error
    with opened_file:
        yield opened_file


def _lines(source: IO[bytes]) -> Iterator[str]:
    """A line that is too long comes in parts, of which the engine refuses the first."""
    while line := source.readline(READ_MOST):
        yield line.decode("utf-8", "replace")


@memory.command("embed", short_help="Make missing vectors.")
def embed_memory(db: Db = None) -> None:
    """Make the vectors that are missing, or all anew where the index has got another embedder."""
    from quintet.cli.render import progress

    with opened(db) as index, progress() as bars:
        done = index.memory.embed(progress=bars)
    write(f"{done} embedded\n")


def _tell(notes: Any) -> None:
    for note in notes:
        tell(f"note: {note['message']} [{note['code']}]")
