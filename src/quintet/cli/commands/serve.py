"""The servers: `quintet serve` over HTTP and `quintet mcp` for agents."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quintet.cli.arguments import as_text
from quintet.cli.index_folder import open_or_create_index
from quintet.cli.options import Db, MaybeText, Texts, flag, number, option, repeatable
from quintet.errors import MissingExtra, UsageError

if TYPE_CHECKING:
    from quintet.indexing.run import Report
    from quintet.indexing.watch import WatchedIndex
    from quintet.serving.shared_index import SharedIndex

Allow = Annotated[
    list[Path] | None,
    repeatable("--allow", "DIR", "A folder that clients may index, instead of the current folder."),
]
ToolsetName = Annotated[
    str,
    option(
        "--toolset", "agent|full", "The MCP tools that are listed: those an agent needs (default), or all."
    ),
]
Watch = Annotated[bool, flag("--watch", "Index files as they change.")]


def serve_command(
    host: Annotated[str, option("--host", "HOST", "The address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, number("--port", 0, 65535, "The port; 0 takes any that is free", parameter="--port")
    ] = 8765,
    allow: Allow = None,
    watch: Watch = False,
    require_key: Annotated[bool, flag("--require-key", "Require an API key on this machine too.")] = False,
    allow_host: Annotated[
        Texts, repeatable("--allow-host", "NAME", "A further host name of this server.")
    ] = None,
    cors: Annotated[Texts, repeatable("--cors", "ORIGIN", "Let pages of this origin use the server.")] = None,
    access_log: Annotated[bool, flag("--access-log", "Log one line per request to standard error.")] = False,
    toolset: ToolsetName = "agent",
    db: Db = None,
) -> int:
    """Serve the index over HTTP: a JSON interface under /v1, MCP at /mcp, and documentation at /docs.

    Only this machine can reach it unless --host says otherwise; then it requires an API key. Clients may
    index the folders that are indexed already and the current folder, or those named with --allow instead.

    \b
    Example:
      quintet serve --watch
      quintet serve --host 0.0.0.0 --allow-host search.example
    """
    with _server_extra():
        from quintet.http.config import Config, Limits
        from quintet.http.server import serve
        from quintet.mcp.tools import toolset_named
    hosts, origins = tuple(allow_host or ()), tuple(cors or ())
    config = Config(host, port, require_key, hosts, origins, access_log, toolset_named(toolset))
    with open_shared_index(db, allow) as shared, watching(shared if watch else None):
        shared.start_readers()
        serve(shared, replace(config, limits=Limits.of(shared.index.settings)))
    return 0


def mcp_command(
    http: Annotated[
        MaybeText, option("--http", "HOST:PORT", "Serve streamable HTTP at this address instead of stdio.")
    ] = None,
    folder: Annotated[Path | None, option("--folder", "DIR", "Work in this folder.")] = None,
    db: Db = None,
    allow: Allow = None,
    watch: Watch = False,
    toolset: ToolsetName = "agent",
) -> int:
    """Serve the index to agents over the Model Context Protocol, on standard input and output.

    Clients may index the folders that are indexed already and the current folder, or those named with
    --allow instead. An agent may start this anywhere: --folder says which folder is the current one.

    \b
    Example:
      quintet mcp --watch
      quintet mcp --http 127.0.0.1:8080
    """
    with _server_extra():
        from quintet.mcp import run as mcp_run
        from quintet.mcp.tools import toolset_named
        from quintet.serving.listening import log_to_stderr
    address = None if http is None else mcp_run.parse_address(as_text(http))
    chosen = toolset_named(toolset)
    if folder is not None:
        _enter(folder)
    with open_shared_index(db, allow) as shared, watching(shared if watch else None):
        log_to_stderr(shared.index.settings)
        if address is None:
            mcp_run.serve_stdio(shared, chosen)
        else:
            shared.start_readers()
            mcp_run.serve_http(shared, chosen, *address)
    return 0


def _enter(folder: Path) -> None:
    try:
        os.chdir(folder)
    except OSError as error:
        raise UsageError(
            f"--folder is {str(folder)!r}; it must be a folder ({error.strerror})", code="invalid_path"
        ) from None


@contextmanager
def _server_extra() -> Iterator[None]:
    """Name the extra to install if an import inside fails."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "quintet":
            raise
        raise MissingExtra(f"this needs {error.name}; run \"pip install 'quintet[server]'\"") from error


@contextmanager
def open_shared_index(db: Path | None, allow: list[Path] | None) -> "Iterator[SharedIndex]":
    """The index of a server. A missing one is created, so that a client can fill it."""
    from quintet.serving.shared_index import SharedIndex

    for folder in allow or ():
        if not folder.is_dir():
            raise UsageError(f"--allow is {str(folder)!r}; it must be a folder", code="invalid_path")
    shared = SharedIndex(open_or_create_index(db), allow=allow or ())
    try:
        yield shared
    finally:
        shared.close()


@contextmanager
def watching(index: "WatchedIndex | None") -> Iterator[None]:
    """Watch the disk in a background thread."""
    if index is None:
        yield
        return
    from quintet.indexing.watch import check_watchable, watch

    check_watchable()
    stop = threading.Event()
    thread = threading.Thread(target=watch, args=(index, stop, _ignore), name="quintet-watch", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _ignore(report: "Report") -> None:
    pass


def register(app: typer.Typer) -> None:
    app.command("serve", short_help="Serve the index over HTTP, to programs and agents.")(serve_command)
    app.command("mcp", short_help="Serve the index to agents over MCP.")(mcp_command)
