"""`quintet index`: fill an index, or bring it up to date."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quintet.cli.arguments import as_text
from quintet.cli.index_folder import current_folder, folder_to_fill
from quintet.cli.options import AsJson, Db, MaybeText, Texts, argument, flag, option, repeatable
from quintet.cli.terminal import write_json
from quintet.errors import UsageError

if TYPE_CHECKING:
    from quintet.index import Index
    from quintet.indexing.run import Report

Paths = Annotated[Texts, argument("PATHS", "Folders and files; name=path names the root.")]
Include = Annotated[Texts, repeatable("--include", "GLOB", "Index only what matches, e.g. 'docs/**'.")]
Exclude = Annotated[Texts, repeatable("--exclude", "GLOB", "Leave out what matches, e.g. '*.min.js'.")]
EmbedderName = Annotated[
    MaybeText,
    option("--embedder", "NAME", "The embedder, by name or as a model's folder; 'none' for text only."),
]
Force = Annotated[bool, flag("--force", "Read every file again, changed or not.")]
Wait = Annotated[bool, flag("--wait/--no-wait", "Embed new text now, or leave that to the next run.")]
Reembed = Annotated[bool, flag("--reembed", "Replace all vectors with those of --embedder. Reads no files.")]


def index_command(
    paths: Paths = None,
    force: Force = False,
    include: Include = None,
    exclude: Exclude = None,
    embedder: EmbedderName = None,
    wait: Wait = True,
    reembed: Reembed = False,
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """Index folders and files, or bring the index up to date with them.

    Without PATHS it looks at every root indexed before; the first time, at the folder that holds the index.
    Only changed files are read again. A file that cannot be indexed is named with the reason, and the run
    goes on. You can interrupt it at any time: the next run completes it.

    The index keeps --include, --exclude and --embedder: a later run without them uses the last values. An
    empty glob (--exclude '') removes them. --reembed works on the indexed text alone, so it is refused
    together with PATHS, --force, --include, --exclude or --no-wait.

    \b
    Example:
      quintet index
      quintet index notes=../notes src --exclude '*.min.js'
      quintet index --embedder ~/models/bge-small-en-v1.5
    """
    import quintet
    from quintet.cli.progress import run_progress

    folder = folder_to_fill(db)
    name = None if embedder is None else as_text(embedder)
    if reembed:
        _refuse_with_reembed(paths=paths, force=force, include=include, exclude=exclude, no_wait=not wait)
        return _reembed(folder, name, as_json)
    settings: dict[str, Any] = {"include": include or None, "exclude": exclude or None}
    if name is not None:
        settings["embedder"] = name
    with run_progress(silent=as_json, reads_files=True) as tell_of, quintet.open(folder, **settings) as index:
        report = index.sync(paths or _first_paths(index, db), force=force, embed=wait, progress=tell_of)
    return _show_report(report, index.folder, as_json)


def _refuse_with_reembed(**values: object) -> None:
    """Re-embedding reads the indexed text, so options that choose files would be ignored silently."""
    refused = [name for name, value in values.items() if value]
    if refused:
        options = ["PATHS" if name == "paths" else f"--{name.replace('_', '-')}" for name in refused]
        raise UsageError(
            f"--reembed reads no files, so {', '.join(options)} cannot go with it; "
            "run 'quintet index' with and without --reembed, one after the other",
            details={"parameters": options},
        )


def _reembed(folder: Path, embedder: str | None, as_json: bool) -> int:
    import quintet
    from quintet.cli.progress import run_progress
    from quintet.embed import DEFAULT

    # The old embedder is not needed, and may be gone.
    with (
        run_progress(silent=as_json, reads_files=False) as tell_of,
        quintet.open(folder, embedder=None, create=False) as index,
    ):
        report = index.reembed(embedder or DEFAULT, progress=tell_of)
    return _show_report(report, index.folder, as_json)


def _show_report(report: "Report", folder: Path, as_json: bool) -> int:
    from quintet.cli.render import show_report
    from quintet.serving.views import report_counts

    if as_json:
        problems = [{"path": problem.path, "reason": problem.reason} for problem in report.problems]
        facts = {"seconds": report.seconds, "index": str(folder)}
        write_json({**report_counts(report), "problems": problems, "notes": report.notes, **facts})
    else:
        show_report(report)
    return 0


def _first_paths(index: "Index", db: Path | None) -> list[str] | None:
    """A new index covers the folder that contains it, even if the command runs in a subfolder."""
    holder = index.folder.parent
    if db is not None or holder == current_folder() or index.roots():
        return None
    return [str(holder)]


def register(app: typer.Typer) -> None:
    app.command("index", short_help="Index folders and files, or bring the index up to date.")(index_command)
