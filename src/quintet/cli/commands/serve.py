"""The commands of the HTTP server: `quintet serve` and `quintet keys`. `register` adds them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quintet.cli import options
from quintet.cli.commands.agents import Allowed, following, opened_doors
from quintet.cli.options import AsJson, Db
from quintet.cli.terminal import document, safe, tell, write
from quintet.errors import MissingExtra, NotFound

if TYPE_CHECKING:
    from quintet.serving.keys import Key, Keys

keys_app = typer.Typer(rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]})

Port = Annotated[
    int,
    typer.Option(
        "--port",
        metavar="N",
        parser=options.whole_number("--port", 0, 65535),
        help="The port, 0 to 65535; 0 takes any that is free.",
    ),
]
Names = Annotated[
    list[str] | None,
    typer.Option("--allow-host", metavar="NAME", help="A further name this server goes by. Repeatable."),
]
Origins = Annotated[
    list[str] | None,
    typer.Option("--cors", metavar="ORIGIN", help="Let pages of this origin use the server. Repeatable."),
]


def register(app: typer.Typer) -> None:
    app.command("serve", short_help="Serve the index over HTTP, to programs and agents.")(serve_command)
    app.add_typer(keys_app, name="keys", short_help="Add, list and revoke API keys.")


def serve_command(
    host: Annotated[
        str, typer.Option("--host", metavar="HOST", help="The address to listen on.")
    ] = "127.0.0.1",
    port: Port = 8765,
    allow: Allowed = None,
    watching: Annotated[bool, typer.Option("--watch", help="Index files as they change.")] = False,
    require_key: Annotated[
        bool, typer.Option("--require-key", help="Ask for an API key on this machine too.")
    ] = False,
    allow_host: Names = None,
    cors: Origins = None,
    access_log: Annotated[
        bool, typer.Option("--access-log", help="One line a request on standard error.")
    ] = False,
    db: Db = None,
) -> int:
    """Serve the index over HTTP: a JSON interface under /v1, MCP at /mcp, and pages about it at /docs.

    Only this machine can reach it unless --host says otherwise, and then it asks for an API key.
    Clients may index what lies in the current folder, in the folders that are indexed already, and in those
    named with --allow.

    \b
    Example:
      quintet serve --watch
      quintet serve --host 0.0.0.0 --allow-host search.example
    """
    with _installed():
        from quintet.http.config import Config
        from quintet.http.server import serve
    config = Config(host, port, require_key, tuple(allow_host or ()), tuple(cors or ()), access_log)
    with opened_doors(db, allow) as doors, following(doors if watching else None):
        serve(doors, config)
    return 0


@contextmanager
def _installed() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "quintet":
            raise
        raise MissingExtra(f"this needs {error.name}; run \"pip install 'quintet[server]'\"") from error


@keys_app.callback()
def keys_command() -> None:
    """Add, list and revoke the API keys of the index's server.

    They are kept in the index folder, as hashes only.

    \b
    Example:
      quintet keys add laptop --read
    """


@keys_app.command("add", short_help="Make a key and show it, this once.")
def add_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to call it, e.g. who will use it.")],
    may_write: Annotated[
        bool, typer.Option("--write/--read", help="May it change things too? Only read by default.")
    ] = False,
    bases: Annotated[
        list[str] | None,
        typer.Option("--kb", metavar="SLUG", help="Only for this knowledge base. Repeatable."),
    ] = None,
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """Make a key and show it. It is shown this once: only a hash of it is kept.

    With --kb it opens those knowledge bases and nothing else: not the folders, not other bases.

    \b
    Example:
      quintet keys add laptop --read
      quintet keys add support-desk --write --kb handbook
    """
    slugs = [options.as_text(base) for base in bases or ()]
    key, secret = _keys(db).add(options.as_text(name), "write" if may_write else "read", slugs)
    if as_json:
        document({**_shown(key), "key": secret})
    else:
        tell("this is the only time the key is shown:")
        write(f"{secret}\n")
    return 0


@keys_app.command("list", short_help="List the keys, without their secrets.")
def list_command(as_json: AsJson = False, db: Db = None) -> int:
    """List the keys: id, scope, day it was made, name, and the knowledge bases it is only for.

    \b
    Example:
      quintet keys list
    """
    found = _keys(db).all()
    if as_json:
        document({"keys": [{**_shown(one), "created": one.created} for one in found]})
    else:
        write("".join(map(_line, found)))
        if not found:
            tell("there are no keys; make one with 'quintet keys add NAME'")
    return 0


def _shown(key: "Key") -> dict[str, object]:
    return {"id": key.id, "name": key.name, "scope": key.scope, "bases": list(key.bases)}


def _line(key: "Key") -> str:
    only = f"  (only {', '.join(key.bases)})" if key.bases else ""
    return f"{key.id}  {key.scope:<5}  {key.created[:10]}  {safe(key.name)}{only}\n"


@keys_app.command("revoke", short_help="Take a key back, by name or id.")
def revoke_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The key's name or id.")],
    db: Db = None,
) -> int:
    """Take a key back, by name or id. A running server refuses it from the next request on.

    \b
    Example:
      quintet keys revoke laptop
    """
    gone = _keys(db).revoke(options.as_text(name))
    write(f"revoked {safe(gone.name)}\n")
    return 0


def _keys(db: Path | None) -> "Keys":
    from quintet.serving.keys import Keys

    folder = options.index_folder(db)
    if not options.holds_index(folder):
        raise NotFound(f"there is no index in {folder}; make one with 'quintet index'")
    return Keys(folder)
