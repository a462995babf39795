"""`quintet keys`: the API keys of the HTTP server."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quintet.cli.arguments import as_text, as_texts
from quintet.cli.index_folder import existing_folder, holds_index
from quintet.cli.options import AsJson, Db, Texts, argument, flag, repeatable
from quintet.cli.terminal import tell, write, write_json, write_lines
from quintet.errors import NotFound

if TYPE_CHECKING:
    from quintet.serving.keys import Key, Keys

keys = typer.Typer(rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]})


@keys.callback()
def keys_command() -> None:
    """Add, list and revoke the API keys of the server.

    They are kept in the index folder, as hashes only.

    \b
    Example:
      quintet keys add laptop --read
    """


@keys.command("add", short_help="Create a key and show it once.")
def add_command(
    name: Annotated[str, argument("NAME", "A name for it, e.g. who will use it.")],
    write_access: Annotated[
        bool, flag("--write/--read", "Allow changes too, or reading only (default).")
    ] = False,
    bases: Annotated[Texts, repeatable("--kb", "SLUG", "Only for this knowledge base.")] = None,
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """Create a key and show it. It is shown only once: the index keeps a hash of it.

    With --kb the key gives access to those knowledge bases only: no folders, no other bases.

    \b
    Example:
      quintet keys add laptop --read
      quintet keys add support-desk --write --kb handbook
    """
    key, secret = _keys(db).add(as_text(name), "write" if write_access else "read", as_texts(bases))
    if as_json:
        write_json({**_fields(key), "key": secret})
    else:
        tell("this is the only time the key is shown:")
        write(f"{secret}\n")
    return 0


@keys.command("list", short_help="List the keys, without their secrets.")
def list_command(as_json: AsJson = False, db: Db = None) -> int:
    """List the keys: id, scope, date, name, and the knowledge bases that a key is limited to.

    \b
    Example:
      quintet keys list
    """
    known = _keys(db).all()
    if as_json:
        write_json({"keys": [{**_fields(key), "created": key.created} for key in known]})
    else:
        write_lines(map(_line, known))
        if not known:
            tell("there are no keys; make one with 'quintet keys add NAME'")
    return 0


def _fields(key: "Key") -> dict[str, object]:
    return {"id": key.id, "name": key.name, "scope": key.scope, "bases": list(key.bases)}


def _line(key: "Key") -> str:
    only = f"  (only {', '.join(key.bases)})" if key.bases else ""
    return f"{key.id}  {key.scope:<5}  {key.created[:10]}  {key.name}{only}"


@keys.command("revoke", short_help="Revoke a key, by name or id.")
def revoke_command(
    name: Annotated[str, argument("NAME", "The key's name or id.")],
    db: Db = None,
) -> int:
    """Revoke a key, by name or id. A running server refuses it from the next request on.

    \b
    Example:
      quintet keys revoke laptop
    """
    key = _keys(db).revoke(as_text(name))
    write_lines([f"revoked {key.name}"])
    return 0


def _keys(db: Path | None) -> "Keys":
    from quintet.serving.keys import Keys

    folder = existing_folder(db)
    if not holds_index(folder):
        raise NotFound(f"there is no index in {folder}; make one with 'quintet index'")
    return Keys(folder)


def register(app: typer.Typer) -> None:
    app.add_typer(keys, name="keys", short_help="Add, list and revoke API keys.")
