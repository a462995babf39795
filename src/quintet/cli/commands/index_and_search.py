"""The commands. Each reads its arguments, makes one call to the engine and shows the answer."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quintet.cli import options
from quintet.cli.options import AsJson, Db
from quintet.cli.terminal import document, safe, tell, write
from quintet.errors import NotFound, StoreError, UsageError

if TYPE_CHECKING:
    from quintet.index import Index
    from quintet.indexing.run import Report
    from quintet.query.search import Response

NO_MATCH = 1

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,  # plain help: quick, and without colour codes wherever it is printed
    pretty_exceptions_enable=False,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@contextmanager
def opened(db: Path | None) -> "Iterator[Index]":
    """The index a command works on; it must exist."""
    import quintet

    with quintet.open(options.index_folder(db), create=False) as index:
        yield index


def _version(wanted: bool) -> None:
    if wanted:
        from quintet import __version__

        write(f"quintet {__version__}\n")
        raise typer.Exit


@app.callback()
def quintet_command(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Search your folders by words and by meaning, and see why each result stands where it does.

    An index is one folder, .quintet, found from any folder below the one that holds it.

    \b
    Example:
      quintet index
      quintet search "how long are answers cached" --explain
    """
    if context.invoked_subcommand is None:
        write(context.get_help() + "\n")


@app.command("index", short_help="Index folders and files, or bring the index up to date.")
def index_command(
    paths: options.Paths = None,
    force: options.Force = False,
    include: options.Included = None,
    exclude: options.Excluded = None,
    embedder: options.EmbedderName = None,
    wait: options.Wait = True,
    reembed: options.Reembed = False,
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """Index folders and files, or bring the index up to date with them.

    Without PATHS it looks at what is indexed already; the first time, at the folder that holds the index.
    Only what changed is read again. Files that cannot be indexed are named with the reason, and the rest
    goes on. Interrupt it at any time: the next run completes it.

    \b
    Example:
      quintet index
      quintet index notes=../notes src --exclude '*.min.js'
    """
    import quintet
    from quintet.cli.render import progress

    folder = options.folder_to_fill(db)
    name = None if embedder is None else options.as_text(embedder)
    if reembed:
        options.refuse_with_reembed(
            paths=paths, force=force, include=include, exclude=exclude, no_wait=not wait
        )
        return _reembedded(folder, name, as_json)
    chosen: dict[str, Any] = {} if name is None else {"embedder": name}
    globs: dict[str, Any] = {"include": include or None, "exclude": exclude or None}
    with quintet.open(folder, **chosen, **globs) as index, progress() as shown:
        report = index.sync(paths or _first_time(index, db), force=force, embed=wait, progress=shown)
    return _reported(report, index.folder, as_json)


def _reembedded(folder: Path, embedder: str | None, as_json: bool) -> int:
    import quintet
    from quintet.cli.render import progress
    from quintet.embed import DEFAULT

    with quintet.open(folder, create=False) as index, progress() as shown:
        report = index.reembed(embedder or DEFAULT, progress=shown)
    return _reported(report, index.folder, as_json)


def _reported(report: "Report", folder: Path, as_json: bool) -> int:
    from quintet.cli.render import show_report
    from quintet.serving.views import report_counts

    if as_json:
        listed = [{"path": problem.path, "reason": problem.reason} for problem in report.problems]
        about = {"seconds": report.seconds, "index": str(folder)}
        document({**report_counts(report), "problems": listed, "notes": report.notes, **about})
    else:
        show_report(report)
    return 0


def _first_time(index: "Index", db: Path | None) -> list[str] | None:
    """Called from a folder below, a new index still means the folder that holds it."""
    holder = index.folder.parent
    if db is not None or holder == options.here() or index.roots():
        return None
    return [str(holder)]


@app.command("search", short_help="Search the index, best results first.")
def search_command(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for; quote several words.")],
    contract: options.ContractName = None,
    mode: options.Mode = None,
    limit: options.Limit = None,
    param: options.Parameters = None,
    filter: options.Filters = None,
    syntax: options.SyntaxName = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show what each signal gave.")] = False,
    receipt: options.ReceiptFile = None,
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """Search the index; best results first, each with its place, heading, score and a few lines.

    Anything may be typed: words are looked up as words, "quoted phrases" as phrases. A contract is a
    published way of ranking with its own parameters (--param) and its own JSON. Exit code 1 means that
    nothing was found.

    \b
    Example:
      quintet search "cache ttl" --filter 'path:docs/**' --limit 3
      quintet search "cache ttl" --contract rifflux --param rrf_k=20 --json
    """
    from quintet.contracts import HOUSE

    name = HOUSE if contract is None else options.as_text(contract)
    params = options.search_parameters(param or (), filter or (), name, mode=mode, limit=limit, syntax=syntax)
    with opened(db) as index:
        if receipt is None:
            response = index.search(options.as_text(query), contract=name, **params)
        else:
            response = _witnessed(index, options.as_text(query), name, params, receipt)
        found = _shown(index, response, name, options.as_text(query), explain, as_json)
    if found:
        return 0
    return NotFound.exit_code if response.status == "never_indexed" else NO_MATCH


def _witnessed(index: "Index", query: str, contract: str, params: dict[str, Any], file: Path) -> "Response":
    """Search, and leave a receipt."""
    from quintet.cli.commands.receipts import write_receipt

    response, receipt = index.receipts.search(query, contract, **params)
    write_receipt(file, receipt)
    return response


def _shown(
    index: "Index", response: "Response", contract: str, query: str, explain: bool, as_json: bool
) -> int:
    """Print the answer; how many results it holds."""
    from quintet.serving.views import backed, of_base, sure

    found = backed(contract, response)
    if as_json:
        document(response.wire())
        return len(found)
    if found:
        from quintet.cli.render import show_results

        roots = () if of_base(response.body) else index.roots()
        show_results(found, query, roots, sure=sure(response.body), explain=explain)
    remark(response, len(found))
    return len(found)


def remark(response: "Response", found: int) -> None:
    """What there is to know beside the results."""
    for note in response.notes:
        tell(f"note: {note['message']} [{note['code']}]")
    if response.status == "never_indexed":
        tell("never indexed: run 'quintet index'")
    elif response.status == "empty_index":
        tell("the index is empty")
    elif not found:
        tell("no match")


@app.command("status", short_help="Tell what is in the index and how far it lags.")
def status_command(as_json: AsJson = False, db: Db = None) -> int:
    """Tell what is in the index, and how far the disk has moved on since.

    Files on disk are compared by size and time only, so this is quick. The state root is one number over
    everything indexed: two indexes with the same state root hold the same text.

    \b
    Example:
      quintet status --json
    """
    from quintet.cli.render import status_lines

    with opened(db) as index:
        status = index.status()
        tuned = index.tuned.examine(status.embedder)
        if as_json:
            document({**asdict(status), "index": str(index.folder)})
        else:
            write("".join(line + "\n" for line in status_lines(index.folder, status)))
        if not tuned.ok:
            tell(f"note: the tuned numbers are not used: {tuned.message} [{tuned.name}]")
    return 0


@app.command("get", short_help="Print a chunk, a document or some lines of it.")
def get_command(
    reference: Annotated[
        str, typer.Argument(metavar="CHUNK_ID|PATH[:LINES]", help="A chunk id, or a path as search shows it.")
    ],
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """Print passages whole: one chunk, a document, or what touches some lines of it.

    In a pipe only the text is printed.

    \b
    Example:
      quintet get docs/cache.md:10-24
    """
    with opened(db) as index:
        passages = index.get(options.as_text(reference))
    if as_json:
        from quintet.serving.views import passage_fields

        document({"passages": [passage_fields(one) for one in passages]})
    else:
        from quintet.cli.render import show_passages

        show_passages(passages)
        if not passages:
            tell(f"no passage at {reference}")
    return 0 if passages else NO_MATCH


@app.command("forget", short_help="Take a document, a folder or a root out.")
def forget_command(
    path: Annotated[
        str | None, typer.Argument(metavar="PATH", help="A document, a folder, or a root by name or place.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Everything: an empty index is left.")] = False,
    db: Db = None,
) -> int:
    """Take a document, a folder or a whole root out of the index. The files stay where they are.

    A later run over the same folder brings them back; to keep them out, name them in .quintetignore.

    \b
    Example:
      quintet forget drafts/
    """
    if (path is None) != everything:
        raise UsageError("name one PATH to forget, or give --all to forget everything")
    with opened(db) as index:
        gone = index.clear() if path is None else index.forget(options.as_text(path))
    write(f"forgot {gone} document{'' if gone == 1 else 's'}\n")
    return 0


@app.command("doctor", short_help="Check that the index is sound.")
def doctor_command(as_json: AsJson = False, db: Db = None) -> int:
    """Check that the index is sound: a line for each check, and what to do about one that fails.

    Exit code 6 means that a check failed.

    \b
    Example:
      quintet doctor
    """
    with opened(db) as index:
        checks = index.doctor()
    sound = all(check.ok for check in checks)
    if as_json:
        document({"ok": sound, "checks": [asdict(check) for check in checks]})
    else:
        write("".join(f"{'ok' if c.ok else '!!'}  {c.name:<10}{safe(c.message)}\n" for c in checks))
    return 0 if sound else StoreError.exit_code
