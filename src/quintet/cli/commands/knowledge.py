"""`quintet kb ...`: knowledge bases on the command line."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quintet.cli import options
from quintet.cli.commands.index_and_search import opened
from quintet.cli.filter_options import json_or_text
from quintet.cli.memory_text import moment
from quintet.cli.opening import opened_or_made
from quintet.cli.options import AsJson, Db
from quintet.cli.terminal import document, safe, tell, write
from quintet.errors import UsageError

if TYPE_CHECKING:
    from quintet.knowledge import KnowledgeBase, Outcome, SyncRun

FAILED = 1  # of several documents some were refused

Slug = Annotated[str, typer.Argument(metavar="SLUG", help="The knowledge base.")]
Title = Annotated[str | None, typer.Option("--title", metavar="TEXT", help="A title for people.")]

kb = typer.Typer(help="Make, fill, list and delete knowledge bases.", rich_markup_mode=None)


def register(app: typer.Typer) -> None:
    app.add_typer(kb, name="kb", short_help="Knowledge bases: documents with citations.")


@kb.command("create", short_help="Make an empty knowledge base.")
def create(
    slug: Slug,
    title: Title = None,
    property: Annotated[
        list[str] | None,
        typer.Option(
            "--property",
            metavar="NAME:TYPE",
            help="A field of metadata to filter by: text, number, int or boolean. Repeatable.",
        ),
    ] = None,
    db: Db = None,
) -> None:
    """Make an empty knowledge base, and the index folder if there is none.

    \b
    Example:
      quintet kb create handbook --title "Staff handbook" --property team:text
    """
    schema = [_property(options.as_text(one)) for one in property or ()]
    with opened_or_made(db) as index:
        made = index.knowledge.create(slug, None if title is None else options.as_text(title), schema)
    write(f"{made.index_name} created\n")


def _property(given: str) -> dict[str, str]:
    name, separator, kind = given.partition(":")
    if not separator:
        raise UsageError(f"--property is {given!r}; it must be name:type, e.g. team:text")
    return {"name": name.strip(), "type": kind.strip()}


@kb.command("list", short_help="List the knowledge bases.")
def list_bases(as_json: AsJson = False, db: Db = None) -> None:
    """List the knowledge bases with their state and size."""
    with opened(db) as index:
        found: list[Any] = index.knowledge.list()
    if as_json:
        document({"knowledge_bases": found})
        return
    for one in found:
        write(safe(f"{one['id']}  {_state(one)}  {one['documents']} documents  {one['title']}") + "\n")
    if not found:
        tell("there are no knowledge bases; make one with 'quintet kb create SLUG'")


def _state(described: Any) -> str:
    return "archived" if described["archived"] else str(described["state"])


@kb.command("describe", short_help="Show a knowledge base: schema, counts, sources, runs.")
def describe(slug: Slug, as_json: AsJson = False, db: Db = None) -> None:
    """Show what a knowledge base is made of, and how the last run of its sources went."""
    with opened(db) as index:
        base = index.knowledge.get(slug)
        found: Any = base.describe()
        runs = base.runs(limit=1)
    if as_json:
        document({**found, "runs": [asdict(run) for run in runs]})
        return
    counts = f"{found['documents']} documents, {found['chunks']} chunks, {found['embedded']} embedded"
    lines = [f"{found['index']}  {found['title']}", f"{_state(found)}; {counts}"]
    lines += [f"property {one['name']}: {one['type']}" for one in found["properties"]]
    lines += [f"source {one['id']}: {one['documents']} documents" for one in found["sources"]]
    lines += [_run(run) for run in runs]
    write("".join(safe(line) + "\n" for line in lines))


def _run(run: "SyncRun") -> str:
    files = f"{run.scanned} files scanned, {run.changed} changed, {run.deleted} gone"
    made = f"documents: {run.created_documents} created, {run.updated_documents} updated"
    made += f", {run.deleted_documents} deleted"
    ended = f": {run.error}" if run.error else ""
    return f"run of {run.source_id} at {moment(run.started_ms)} {run.state}{ended}; {files}; {made}"


@kb.command("archive", short_help="Keep a knowledge base, but answer nothing from it.")
def archive(
    slug: Slug,
    undo: Annotated[bool, typer.Option("--undo", help="Answer from it again.")] = False,
    db: Db = None,
) -> None:
    """Keep a knowledge base, but answer no searches from it until --undo."""
    with opened(db) as index:
        (index.knowledge.unarchive if undo else index.knowledge.archive)(slug)
    write(f"{slug} {'is searched again' if undo else 'archived'}\n")


@kb.command("delete", short_help="Delete a knowledge base for good.")
def delete(
    slug: Slug,
    yes: Annotated[bool, typer.Option("--yes", help="Really.")] = False,
    db: Db = None,
) -> None:
    """Delete a knowledge base with its text, vectors, uploads and runs. There is no way back."""
    with opened(db) as index:
        index.knowledge.get(slug)
        if not yes:
            raise UsageError(f"this deletes knowledge base {slug!r} for good; say --yes if it is meant")
        index.knowledge.delete(slug)
    write(f"{slug} deleted\n")


@kb.command("add", short_help="Add files as documents.")
def add(
    slug: Slug,
    files: Annotated[
        list[str], typer.Argument(metavar="FILES|-", help="Files; - reads a text from standard input.")
    ],
    title: Title = None,
    uri: Annotated[
        str | None, typer.Option("--uri", metavar="URI", help="Where it can be read; shown in citations.")
    ] = None,
    id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="Its own id, by which it can be replaced.")
    ] = None,
    meta: Annotated[
        list[str] | None,
        typer.Option("--meta", metavar="NAME=VALUE", help="Metadata; VALUE is JSON, else text. Repeatable."),
    ] = None,
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """Add files as documents. What is there already is left alone; one that is refused stops no other.

    --title, --uri and --id are of one document.
    """
    texts = {name: options.as_text(one) for name, one in (("title", title), ("uri", uri), ("id", id)) if one}
    if len(files) > 1 and texts:
        raise UsageError(f"--{next(iter(texts))} is of one document, and {len(files)} files were given")
    about: dict[str, Any] = {**texts, "metadata": dict(_metadata(options.as_text(one)) for one in meta or ())}
    with opened(db) as index:
        outcomes = [_added(index.knowledge.get(slug), file, about) for file in files]
    if as_json:
        document({"documents": [asdict(one) for one in outcomes]})
    for one in outcomes:
        _say(one, as_json)
    return FAILED if any(one.outcome == "refused" for one in outcomes) else 0


def _added(base: "KnowledgeBase", file: str, about: dict[str, Any]) -> "Outcome":
    from quintet.errors import QuintetError
    from quintet.knowledge import Outcome

    shown = options.as_text(file)
    try:
        if file == "-":
            return base.put(sys.stdin.buffer.read().decode("utf-8", "replace") if sys.stdin else "", **about)
        return base.put_file(Path(file), **about)
    except QuintetError as error:
        if error.code in ("unknown_index", "store_failed", "busy_writer"):
            raise
        return Outcome(about.get("id"), "refused", shown, 0, error.code, error.message)


def _say(one: "Outcome", as_json: bool) -> None:
    if one.outcome == "refused":
        tell(safe(f"{one.name}: {one.message} [{one.code}]"))
        return
    if not as_json:
        write(safe(f"{one.id}  {one.outcome}  {one.name or 'text'}") + "\n")
    if one.message:
        tell(safe(f"note: {one.message} [{one.code}]"))


def _metadata(given: str) -> tuple[str, object]:
    name, separator, value = given.partition("=")
    if not separator or not name.strip():
        raise UsageError(f"--meta is {given!r}; it must be name=value, e.g. team=core")
    return name.strip(), json_or_text(value)


@kb.command("sync", short_help="Bring a folder's files in, or up to date.")
def sync(
    slug: Slug,
    folder: Annotated[
        str | None, typer.Argument(metavar="DIR", help="A folder; it becomes a source if it is none yet.")
    ] = None,
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """Bring the files of a folder in; without one, bring all sources up to date with theirs."""
    with opened(db) as index:
        base = index.knowledge.get(slug)
        ids = [_source(base, folder)] if folder else [str(one["id"]) for one in base.sources()]
        if not ids:
            raise UsageError(f"{slug!r} has no source yet; name a folder: quintet kb sync {slug} DIR")
        runs = [base.sync_source(id) for id in ids]
    if as_json:
        document({"runs": [asdict(run) for run in runs]})
    for run in runs:
        for problem in run.problems:
            tell(safe(f"{problem['path']}: {problem['reason']}"))
        if not as_json:
            write(safe(_run(run)) + "\n")
    return 0


def _source(base: "KnowledgeBase", folder: str) -> str:
    return str(base.source_at(folder) or base.add_source(folder)["id"])


@kb.command("documents", short_help="List the documents of a knowledge base.")
def documents(
    slug: Slug,
    after: Annotated[
        str | None, typer.Option("--after", metavar="ID", help="The last id of the page before.")
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", parser=options.A_LIMIT, help="How many, 1 to 1000.")
    ] = 100,
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """List documents by id, with their titles."""
    with opened(db) as index:
        found: list[Any] = index.knowledge.get(slug).documents(after, limit)
    if as_json:
        document({"documents": found})
    else:
        for one in found:
            where = one["uri"] or one["source_name"] or ""
            write(safe(f"{one['id']}  {one['title']}  {where}".rstrip()) + "\n")
        if not found:
            tell("there are no documents" + (f" behind {options.as_text(after)}" if after else ""))
    return 0


@kb.command("remove", short_help="Remove documents, or a source with its documents.")
def remove(
    slug: Slug,
    ids: Annotated[list[str] | None, typer.Argument(metavar="IDS", help="Ids of documents.")] = None,
    source: Annotated[
        str | None, typer.Option("--source", metavar="ID", help="A source with all its documents.")
    ] = None,
    db: Db = None,
) -> None:
    """Remove documents from a knowledge base. Files of a source stay where they are."""
    if not ids and source is None:
        raise UsageError("name documents by their ids, or a source with --source")
    with opened(db) as index:
        base = index.knowledge.get(slug)
        for id in ids or ():
            base.delete(options.as_text(id))
        gone = len(ids or ()) + (base.remove_source(options.as_text(source)) if source else 0)
    write(f"{gone} removed\n")


@kb.command("embed", short_help="Make missing vectors.")
def embed(slug: Slug, db: Db = None) -> None:
    """Make vectors that are missing, or all anew where the index has got another embedder."""
    with opened(db) as index:
        done = index.knowledge.get(slug).embed()
    write(f"{done} embedded\n")
