"""`quintet backup` and `quintet restore`: copies of an index with all that belongs to it."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quintet.cli.index_folder import existing_folder, folder_to_fill
from quintet.cli.options import AsJson, Db, argument, flag
from quintet.cli.terminal import tell, write_json, write_lines

if TYPE_CHECKING:
    from quintet.backups.manifest import Backup

LEFT_OUT = (
    "note: postings, tantivy and the vector files are made again by the first search; 'quintet hnsw' makes "
    "the HNSW graph again"
)


def backup_command(
    destination: Annotated[Path, argument("DESTINATION", "A new folder. Nothing is overwritten.")],
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """Copy the index, its memories, knowledge bases with uploads, keys and tuned numbers into a new folder.

    It can run while a server, a watcher or an index run works, and makes none of them wait. Each database
    is copied as of one moment. The copy is checked like 'quintet doctor' does, then appears in one step. Only
    its owner can read it. Files that searches make from the databases are left out.

    \b
    Example:
      quintet backup /backups/monday
    """
    import quintet

    made = quintet.backup(existing_folder(db), destination)
    return _show(f"backed up to {destination}", made, as_json)


def restore_command(
    backup: Annotated[Path, argument("BACKUP", "The folder of a backup.")],
    replace: Annotated[bool, flag("--replace", "Replace the index that is there.")] = False,
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """Put the index of a backup into the index folder. Every file is compared with its hash first.

    The index appears in one step. One that is there already is only replaced with --replace, when nobody
    writes to it; servers that have it open answer from the restored one. Indexed folders are not part of a
    backup: run 'quintet index' afterwards if they have changed.

    \b
    Example:
      quintet restore /backups/monday --db .quintet
    """
    import quintet

    folder = folder_to_fill(db)
    restored = quintet.restore(backup, folder, replace=replace)
    code = _show(f"restored the backup of {restored.created} into {folder}", restored, as_json)
    if not as_json:
        tell(LEFT_OUT)
    return code


def _show(done: str, backup: "Backup", as_json: bool) -> int:
    if as_json:
        write_json({**asdict(backup), "size": backup.size})
    else:
        contents = f"{backup.documents} documents, {backup.memories} memories, {len(backup.bases)} knowledge"
        size = f"{len(backup.files)} files, {backup.size / 1e6:.1f} MB"
        write_lines([f"{done}: {contents} bases ({size})"])
    return 0


def register(app: typer.Typer) -> None:
    app.command("backup", short_help="Copy the index, also while it is in use.")(backup_command)
    app.command("restore", short_help="Restore an index from a backup.")(restore_command)
