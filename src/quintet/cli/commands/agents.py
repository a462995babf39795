"""The commands for agents: `quintet mcp`, `install` and `watch`. `register` adds them to the command line."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quintet.cli import options
from quintet.cli.opening import opened_or_made
from quintet.cli.options import Db
from quintet.cli.terminal import tell, write
from quintet.errors import Conflict, MissingExtra, UsageError

if TYPE_CHECKING:
    from quintet.indexing.run import Report
    from quintet.indexing.watch import WatchedIndex
    from quintet.serving.service import Doors

Allowed = Annotated[
    list[Path] | None,
    typer.Option("--allow", metavar="DIR", help="A further folder that clients may index. Repeatable."),
]


def register(app: typer.Typer) -> None:
    app.command("mcp", short_help="Serve the index to agents over MCP.")(mcp_command)
    app.command("install", short_help="Set an agent up to use the index.")(install_command)
    app.command("watch", short_help="Keep the index up to date as files change.")(watch_command)


def mcp_command(
    http: Annotated[
        str | None,
        typer.Option("--http", metavar="HOST:PORT", help="Serve streamable HTTP there instead of stdio."),
    ] = None,
    db: Db = None,
    allow: Allowed = None,
    watching: Annotated[bool, typer.Option("--watch", help="Index files as they change.")] = False,
) -> int:
    """Serve the index to agents over the Model Context Protocol.

    On standard input and output by default. Clients may index what lies in the current folder, in the
    folders that are indexed already, and in those named with --allow.

    \b
    Example:
      quintet mcp --watch
      quintet mcp --http 127.0.0.1:8080
    """
    with _needing_server():
        from quintet.mcp import run as mcp_run
    where = None if http is None else mcp_run.address(options.as_text(http))
    mcp_run.quiet_logging()
    with opened_doors(db, allow) as doors, following(doors if watching else None):
        if where is None:
            mcp_run.serve_stdio(doors)
        else:
            mcp_run.serve_http(doors, *where)
    return 0


@contextmanager
def _needing_server() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] == "quintet":
            raise
        raise MissingExtra(f"this needs {error.name}; run \"pip install 'quintet[server]'\"") from error


@contextmanager
def opened_doors(db: Path | None, allow: list[Path] | None) -> "Iterator[Doors]":
    """The index behind a server; made if there is none yet, so that a client can fill it."""
    from quintet.serving.service import Doors

    for folder in allow or ():
        if not folder.is_dir():
            raise UsageError(f"--allow is {str(folder)!r}; it must be a folder", code="invalid_path")
    doors = Doors(opened_or_made(db), allow=allow or ())
    try:
        yield doors
    finally:
        doors.close()


@contextmanager
def following(index: "WatchedIndex | None") -> Iterator[None]:
    """Follow the disk in a thread meanwhile."""
    if index is None:
        yield
        return
    from quintet.indexing.watch import watch

    stop = threading.Event()
    thread = threading.Thread(target=watch, args=(index, stop, _unheard), name="quintet-watch", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _unheard(report: "Report") -> None:
    pass


def watch_command(db: Db = None) -> int:
    """Keep the index up to date as files change, until interrupted.

    First everything is brought up to date, as by 'quintet index'; then what changes, soon after it does.

    \b
    Example:
      quintet watch
    """
    import quintet
    from quintet.indexing.watch import watch

    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with quintet.open(options.index_folder(db), create=False) as index:
        tell(f"watching {', '.join(root.location for root in index.roots()) or 'nothing yet'}")
        watch(index, stop, _told)
    return 0


def _told(report: "Report") -> None:
    counts = ("indexed", "skipped", "removed", "embedded", "pending")
    write(", ".join(f"{getattr(report, name)} {name}" for name in counts) + "\n")
    for problem in report.problems:
        tell(f"warning: {problem.path}: {problem.reason}")


def install_command(
    client: Annotated[
        str | None, typer.Argument(metavar="CLIENT", help="Which agent; without it, those known are listed.")
    ] = None,
    project: Annotated[
        bool, typer.Option("--project", help="Write the file of this project, not that of the user.")
    ] = False,
    print_only: Annotated[
        bool, typer.Option("--print", help="Print the configuration, write nothing.")
    ] = False,
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="What the agent calls it.")] = "quintet",
    db: Db = None,
) -> int:
    """Set an agent up to use the index of this folder.

    Other entries of its configuration stay as they are. Where the file cannot be edited without losing
    something, such as comments, the entry is printed instead and the exit code is 4.

    \b
    Example:
      quintet install claude-code --print
      quintet install cursor --project
    """
    from quintet.cli import install

    if client is None:
        write("".join(f"{name:<16}{one.title}\n" for name, one in install.CLIENTS.items()))
        return 0
    here = options.here()
    chosen = install.client_named(options.as_text(client))
    if project and db is not None:
        raise UsageError(
            f"--db is {str(db)!r}; with --project the index is the project's own .quintet: "
            "leave one of them out"
        )
    folder = options.folder_to_fill(db).absolute()
    entry = install.Entry.for_project(chosen) if project else install.Entry.for_user(folder)
    place = chosen.place(here if project else None, os.environ)
    done = install.install(chosen, place, options.as_text(name), entry, print_only=print_only)
    write(done.text)
    for remark in done.remarks:
        tell(remark)
    return 0 if done.installed else Conflict.exit_code
