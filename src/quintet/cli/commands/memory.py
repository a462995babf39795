"""The commands for memory: `quintet remember`, `recall`, `timeline` and `memory`."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import IO, Annotated, Any, NamedTuple

import typer

from quintet.cli import exit_codes
from quintet.cli.arguments import as_text, as_texts, joined, texts_of
from quintet.cli.files import read_text_from_input, unreadable
from quintet.cli.index_folder import open_index, open_or_create_index
from quintet.cli.memory_format import format_memory
from quintet.cli.options import (
    AsJson,
    Db,
    Limit,
    MaybeText,
    Query,
    Texts,
    argument,
    flag,
    grouped,
    number,
    option,
    repeatable,
)
from quintet.cli.terminal import tell, tell_notes, write, write_json

LONGEST_READ = 1_000_000  # bytes of a text or a line; the engine decides how long they may be

Kind = Annotated[
    MaybeText,
    option("--kind", "KIND", "decision, fact (default), preference, error, summary, code or task."),
]
OnlyKind = Annotated[MaybeText, option("--kind", "KIND", "Only this kind.")]
OnlySession = Annotated[MaybeText, option("--session", "NAME", "Only of this task or conversation.")]


class MemoryFilters(NamedTuple):
    """Which memories `recall` and `forget` look at."""

    kind: OnlyKind = None
    tag: Annotated[Texts, repeatable("--tag", "TAG", "Only with this tag.")] = None
    session: OnlySession = None
    about: Annotated[MaybeText, option("--about", "NAME", "Only about this path or symbol.")] = None

    def parameters(self) -> dict[str, Any]:
        """The filters that were given."""
        given: dict[str, Any] = {**texts_of(kind=self.kind, session=self.session, about=self.about)}
        return {**given, "tags": as_texts(self.tag)} if self.tag else given


memory = typer.Typer(help="Show, forget, export and import what is remembered.", rich_markup_mode=None)


def remember_command(
    text: Annotated[str, argument("TEXT|-", "What to keep; - reads standard input.")],
    kind: Kind = None,
    tag: Annotated[Texts, repeatable("--tag", "TAG", "A tag to find it by.")] = None,
    about: Annotated[
        Texts, repeatable("--about", "NAME", "A path, PATH:FIRST-LAST or symbol it is about.")
    ] = None,
    session: Annotated[
        MaybeText, option("--session", "NAME", "The task or conversation it belongs to.")
    ] = None,
    supersedes: Annotated[
        MaybeText, option("--supersedes", "ID", "The memory that this one replaces.")
    ] = None,
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """Keep something worth knowing later. It can be recalled at once.

    The same text is stored once; remembering it again raises its count. Memories that say almost the same are
    listed, never merged. Memories are stored beside the index, and indexing does not touch them.

    \b
    Example:
      quintet remember "Answers are cached for five minutes" --tag cache --about src/cache.py
    """
    content = read_text_from_input(LONGEST_READ) if text == "-" else as_text(text)
    names = texts_of(kind=kind, session=session, supersedes=supersedes)
    with open_or_create_index(db) as index:
        memory = index.memory.remember(
            content,
            tags=as_texts(tag),
            about=as_texts(about),
            **names,  # type: ignore[arg-type]
        )
    if as_json:
        write_json(asdict(memory))
        return 0
    write(f"{memory.id}  {f'seen {memory.seen} times' if memory.merged else 'remembered'}\n")
    for near in memory.near:
        tell(f"near: {near.id} says almost the same ({near.by} {near.similarity:.2f}): {near.text[:200]}")
    tell_notes(memory.notes)
    return 0


@grouped
def recall_command(
    query: Query,
    filters: MemoryFilters,
    everything: Annotated[bool, flag("--all", "Include superseded memories.")] = False,
    limit: Limit = None,
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """Find what was remembered, by words and by meaning; best first.

    Each memory shows whether the code it is about has changed. Exit code 1 means no match.

    \b
    Example:
      quintet recall "how long are answers cached" --tag cache
    """
    params = filters.parameters()
    params |= {} if limit is None else {"limit": limit}
    with open_index(db) as index:
        response = index.memory.recall(joined(query), include_superseded=everything, **params)
        several = len(index.roots()) > 1
    results: Any = response.body["results"]
    if as_json:
        write_json(response.wire())
    else:
        for rank, memory in enumerate(results, 1):
            write(format_memory(memory, f"{rank:>2}. ", several_roots=several))
        tell_notes(response.notes)
        if not results:
            tell("nothing is remembered yet" if response.status == "never_indexed" else "no match")
    return exit_codes.of_results(results, response.status)


def timeline_command(
    around: Annotated[
        MaybeText, option("--around", "ID|MS", "A memory, or a moment in Unix milliseconds.")
    ] = None,
    before: Annotated[int, number("--before", 0, 1000, "How many before it")] = 5,
    after: Annotated[int, number("--after", 0, 1000, "How many after it")] = 5,
    kind: OnlyKind = None,
    session: OnlySession = None,
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """Show memories in order of time, oldest first; without --around, the latest.

    Superseded memories are included, with the time until which they were valid.

    \b
    Example:
      quintet timeline --before 10
    """
    moment: str | int | None = around
    if around is not None and around.isdecimal() and len(around) < 20:
        moment = int(around)
    with open_index(db) as index:
        memories = index.memory.timeline(moment, before, after, kind=kind, session=session)
        several = len(index.roots()) > 1
    if as_json:
        write_json({"memories": memories})
    else:
        write("".join(format_memory(memory, several_roots=several) for memory in memories))
        if not memories:
            tell("nothing was remembered then")
    return 0 if memories else exit_codes.NO_MATCH


@memory.command("get", short_help="Print a memory in full.")
def get_memory(
    id: Annotated[str, argument("ID", "The id of a memory.")],
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """Print a memory in full, superseded or not."""
    with open_index(db) as index:
        memory, several = index.memory.get(as_text(id)), len(index.roots()) > 1
    if as_json:
        write_json(memory)
    else:
        write(format_memory(memory, several_roots=several))


@memory.command("forget", short_help="Remove memories for good.")
@grouped
def forget_memory(
    filters: MemoryFilters,
    id: Annotated[MaybeText, argument("ID", "The id of a memory.")] = None,
    db: Db = None,
) -> int:
    """Remove a memory by its id, or all that match the filters. This cannot be undone: export first."""
    with open_index(db) as index:
        removed = index.memory.forget(None if id is None else as_text(id), **filters.parameters())
    write(f"forgot {len(removed)} memor{'y' if len(removed) == 1 else 'ies'}\n")
    return 0


@memory.command("export", short_help="Print all memories as lines of JSON.")
def export_memory(db: Db = None) -> None:
    """Print every memory as a line of JSON, oldest first: a backup, or input for another index."""
    with open_index(db) as index:
        lines = index.memory.export()
    write("".join(line + "\n" for line in lines))


@memory.command("import", short_help="Add exported memories.")
def import_memory(
    file: Annotated[str, argument("FILE|-", "The output of 'export'; - is standard input.")],
    db: Db = None,
) -> None:
    """Add exported memories. If a line is wrong, nothing is imported. Importing twice changes nothing."""
    with _source(file) as source, open_or_create_index(db) as index:
        counts = index.memory.import_(_lines(source))
    write(f"{counts.added} added, {counts.changed} changed, {counts.unchanged} unchanged\n")


@contextmanager
def _source(file: str) -> Iterator[IO[bytes]]:
    if file == "-":
        yield sys.stdin.buffer if sys.stdin else BytesIO()
        return
    try:
        stream = Path(file).open("rb")  # noqa: SIM115  (an error below is not one of opening)
    except (OSError, ValueError) as error:
        raise unreadable(repr(as_text(file)), error) from error
    with stream:
        yield stream


def _lines(source: IO[bytes]) -> Iterator[str]:
    """Lines of a bounded length. The engine refuses the first part of a longer one."""
    while line := source.readline(LONGEST_READ):
        yield line.decode("utf-8", "replace")


@memory.command("embed", short_help="Make missing vectors.")
def embed_memory(db: Db = None) -> None:
    """Make missing vectors, or replace all of them if the index has another embedder now."""
    from quintet.cli.progress import progress

    with open_index(db) as index, progress() as bars:
        count = index.memory.embed(progress=bars)
    write(f"{count} embedded\n")


def register(app: typer.Typer) -> None:
    app.command("remember", short_help="Keep a fact, a decision, a lesson.")(remember_command)
    app.command("recall", short_help="Find what was remembered.")(recall_command)
    app.command("timeline", short_help="Show memories in order of time.")(timeline_command)
    app.add_typer(memory, name="memory", short_help="Show, forget, export or import memories.")
