"""`quintet status` and `quintet doctor`: the state of an index."""

from dataclasses import asdict
from typing import Annotated

import typer

from quintet.cli.index_folder import open_index
from quintet.cli.options import AsJson, Db, flag
from quintet.cli.terminal import tell, write, write_json, write_lines
from quintet.errors import StoreError


def status_command(as_json: AsJson = False, db: Db = None) -> int:
    """Show what is in the index, and how many files on disk have changed since.

    Files are compared by size and time only, so this is quick. The generation counts committed changes. The
    state root is a digest over all documents, chunks and vectors: two indexes with the same state root have
    the same content. Each process has its own cache: it matters in a server, and is always empty here.

    \b
    Example:
      quintet status --json
    """
    from quintet.cli.render import status_lines

    with open_index(db) as index:
        status = index.status()
        tuned = index.tuned.examine(status.embedder)
        if as_json:
            write_json({**asdict(status), "index": str(index.folder)})
        else:
            write("".join(line + "\n" for line in status_lines(index.folder, status)))
        if not tuned.ok:
            tell(f"note: the tuned numbers are not used: {tuned.message} [{tuned.name}]")
    return 0


def doctor_command(
    fix: Annotated[bool, flag("--fix", "Take other accounts' access to the index away.")] = False,
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """Check that the index is sound: one line per check, with what to do if it fails.

    It checks the database, text, vectors, code graph, state root, memory, knowledge bases, tuned numbers and
    who can read the files, and whether another text index would be better. Exit code 6 means that a check
    failed.

    \b
    Example:
      quintet doctor --fix
    """
    with open_index(db) as index:
        checks = index.doctor(fix=fix)
    sound = all(check.ok for check in checks)
    if as_json:
        write_json({"ok": sound, "checks": [asdict(check) for check in checks]})
    else:
        write_lines(f"{'ok' if c.ok else '!!'}  {c.name:<10}{c.message}" for c in checks)
    return 0 if sound else StoreError.exit_code


def register(app: typer.Typer) -> None:
    app.command("status", short_help="Show what is indexed and whether it is up to date.")(status_command)
    app.command("doctor", short_help="Check that the index is sound.")(doctor_command)
