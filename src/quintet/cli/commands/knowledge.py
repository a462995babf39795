"""`quintet kb ...`: knowledge bases on the command line."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quintet.cli.arguments import as_text, as_texts, json_or_text, name_and_value, texts_of
from quintet.cli.files import read_text_from_input
from quintet.cli.index_folder import open_index, open_or_create_index
from quintet.cli.memory_format import format_time
from quintet.cli.options import AsJson, Db, MaybeText, Texts, argument, flag, number, option, repeatable
from quintet.cli.terminal import tell, write, write_json, write_lines
from quintet.errors import UsageError

if TYPE_CHECKING:
    from quintet.knowledge import KnowledgeBase, Outcome, SyncRun

SOME_REFUSED = 1  # exit code

Slug = Annotated[str, argument("SLUG", "The knowledge base.")]
Title = Annotated[MaybeText, option("--title", "TEXT", "A title for people.")]
Undo = Annotated[bool, flag("--undo", "Make it searchable again.")]
Yes = Annotated[bool, flag("--yes", "Confirm; without it nothing is deleted.")]

kb = typer.Typer(help="Make, fill, list and delete knowledge bases.", rich_markup_mode=None)


@kb.command("create", short_help="Make an empty knowledge base.")
def create(
    slug: Slug,
    title: Title = None,
    property: Annotated[
        Texts,
        repeatable(
            "--property", "NAME:TYPE", "A metadata field to filter by; TYPE is text, number, int or boolean."
        ),
    ] = None,
    db: Db = None,
) -> None:
    """Make an empty knowledge base, and the index folder if there is none.

    \b
    Example:
      quintet kb create handbook --title "Staff handbook" --property team:text
    """
    schema = [_property(argument) for argument in as_texts(property)]
    with open_or_create_index(db) as index:
        base = index.knowledge.create(slug, None if title is None else as_text(title), schema)
    write(f"{base.index_name} created\n")


def _property(argument: str) -> dict[str, str]:
    message = f"--property is {argument!r}; it must be name:type, e.g. team:text"
    name, kind = name_and_value(argument, ":", message)
    return {"name": name, "type": kind.strip()}


@kb.command("list", short_help="List the knowledge bases.")
def list_bases(as_json: AsJson = False, db: Db = None) -> None:
    """List the knowledge bases with their state and size."""
    with open_index(db) as index:
        bases: list[Any] = index.knowledge.list()
    if as_json:
        write_json({"knowledge_bases": bases})
        return
    write_lines(f"{b['id']}  {_state(b)}  {b['documents']} documents  {b['title']}" for b in bases)
    if not bases:
        tell("there are no knowledge bases; make one with 'quintet kb create SLUG'")


def _state(description: Any) -> str:
    return "archived" if description["archived"] else str(description["state"])


@kb.command("describe", short_help="Show a knowledge base: schema, counts, sources, runs.")
def describe(slug: Slug, as_json: AsJson = False, db: Db = None) -> None:
    """Show the schema, counts and sources of a knowledge base, and how its last run went."""
    with open_index(db) as index:
        base = index.knowledge.get(slug)
        facts: Any = base.describe()
        runs = base.runs(limit=1)
    if as_json:
        write_json({**facts, "runs": [asdict(run) for run in runs]})
        return
    counts = f"{facts['documents']} documents, {facts['chunks']} chunks, {facts['embedded']} embedded"
    lines = [f"{facts['index']}  {facts['title']}", f"{_state(facts)}; {counts}"]
    lines += [f"property {field['name']}: {field['type']}" for field in facts["properties"]]
    lines += [f"source {source['id']}: {source['documents']} documents" for source in facts["sources"]]
    write_lines([*lines, *map(_run_line, runs)])


def _run_line(run: "SyncRun") -> str:
    files = f"{run.scanned} files scanned, {run.changed} changed, {run.deleted} gone"
    documents = f"documents: {run.created_documents} created, {run.updated_documents} updated"
    documents += f", {run.deleted_documents} deleted"
    error = f": {run.error}" if run.error else ""
    return f"run of {run.source_id} at {format_time(run.started_ms)} {run.state}{error}; {files}; {documents}"


@kb.command("archive", short_help="Keep a knowledge base, but stop searching it.")
def archive(slug: Slug, undo: Undo = False, db: Db = None) -> None:
    """Keep a knowledge base, but refuse searches of it until --undo."""
    with open_index(db) as index:
        (index.knowledge.unarchive if undo else index.knowledge.archive)(slug)
    write(f"{slug} {'is searchable again' if undo else 'archived'}\n")


@kb.command("delete", short_help="Delete a knowledge base for good.")
def delete(slug: Slug, yes: Yes = False, db: Db = None) -> None:
    """Delete a knowledge base with its text, vectors, uploads and runs. This cannot be undone."""
    with open_index(db) as index:
        index.knowledge.get(slug)
        if not yes:
            raise UsageError(f"this deletes knowledge base {slug!r} for good; confirm with --yes")
        index.knowledge.delete(slug)
    write(f"{slug} deleted\n")


@kb.command("add", short_help="Add files as documents.")
def add(
    slug: Slug,
    files: Annotated[list[str], argument("FILES|-", "Files; - reads a text from standard input.")],
    title: Title = None,
    uri: Annotated[MaybeText, option("--uri", "URI", "Where people can read it; shown in citations.")] = None,
    id: Annotated[
        MaybeText, option("--id", "ID", "Your own id; adding the same id again replaces it.")
    ] = None,
    meta: Annotated[Texts, repeatable("--meta", "NAME=VALUE", "Metadata; VALUE is JSON or text.")] = None,
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """Add files as documents. A document that is already there is left alone.

    A file that is refused does not stop the others; the exit code is then 1. --title, --uri and --id need a
    single file.
    """
    texts = texts_of(title=title or None, uri=uri or None, id=id or None)
    if len(files) > 1 and texts:
        raise UsageError(f"--{next(iter(texts))} is for one document, and {len(files)} files were given")
    about: dict[str, Any] = {**texts, "metadata": dict(_metadata(argument) for argument in as_texts(meta))}
    with open_index(db) as index:
        outcomes = [_add_file(index.knowledge.get(slug), file, about) for file in files]
    if as_json:
        write_json({"documents": [asdict(outcome) for outcome in outcomes]})
    for outcome in outcomes:
        _show_outcome(outcome, as_json)
    return SOME_REFUSED if any(outcome.outcome == "refused" for outcome in outcomes) else 0


def _add_file(base: "KnowledgeBase", file: str, about: dict[str, Any]) -> "Outcome":
    from quintet.errors import QuintetError
    from quintet.knowledge import Outcome

    try:
        if file == "-":
            return base.put(read_text_from_input(), **about)
        return base.put_file(Path(file), **about)
    except QuintetError as error:
        if error.code in ("unknown_index", "store_failed", "busy_writer"):
            raise
        return Outcome(about.get("id"), "refused", as_text(file), 0, error.code, error.message)


def _show_outcome(outcome: "Outcome", as_json: bool) -> None:
    if outcome.outcome == "refused":
        tell(f"{outcome.name}: {outcome.message} [{outcome.code}]")
        return
    if not as_json:
        write_lines([f"{outcome.id}  {outcome.outcome}  {outcome.name or 'text'}"])
    if outcome.message:
        tell(f"note: {outcome.message} [{outcome.code}]")


def _metadata(argument: str) -> tuple[str, object]:
    message = f"--meta is {argument!r}; it must be name=value, e.g. team=core"
    name, value = name_and_value(argument, "=", message)
    return name, json_or_text(value)


@kb.command("sync", short_help="Add a folder's files, or bring them up to date.")
def sync(
    slug: Slug,
    folder: Annotated[MaybeText, argument("DIR", "A folder; it becomes a source.")] = None,
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """Add the files of a folder; without DIR, bring all sources up to date with their folders."""
    with open_index(db) as index:
        base = index.knowledge.get(slug)
        ids = [_source(base, folder)] if folder else [str(source["id"]) for source in base.sources()]
        if not ids:
            raise UsageError(f"{slug!r} has no source yet; name a folder: quintet kb sync {slug} DIR")
        runs = [base.sync_source(id) for id in ids]
    if as_json:
        write_json({"runs": [asdict(run) for run in runs]})
    for run in runs:
        for problem in run.problems:
            tell(f"{problem['path']}: {problem['reason']}")
        if not as_json:
            write_lines([_run_line(run)])
    return 0


def _source(base: "KnowledgeBase", folder: str) -> str:
    return str(base.source_at(folder) or base.add_source(folder)["id"])


@kb.command("documents", short_help="List the documents of a knowledge base.")
def documents(
    slug: Slug,
    after: Annotated[MaybeText, option("--after", "ID", "The last id of the page before.")] = None,
    limit: Annotated[int, number("--limit", 1, 1000, "How many")] = 100,
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """List documents by id, with their titles."""
    with open_index(db) as index:
        page: list[Any] = index.knowledge.get(slug).documents(after, limit)
    if as_json:
        write_json({"documents": page})
    else:
        for document in page:
            where = document["uri"] or document["source_name"] or ""
            write_lines([f"{document['id']}  {document['title']}  {where}".rstrip()])
        if not page:
            tell("there are no documents" + (f" after {as_text(after)}" if after else ""))
    return 0


@kb.command("remove", short_help="Remove documents, or a source with its documents.")
def remove(
    slug: Slug,
    ids: Annotated[Texts, argument("IDS", "The ids of documents.")] = None,
    source: Annotated[MaybeText, option("--source", "ID", "A source with all its documents.")] = None,
    db: Db = None,
) -> None:
    """Remove documents from a knowledge base. The files of a source are not touched."""
    if not ids and source is None:
        raise UsageError("name documents by their ids, or a source with --source")
    with open_index(db) as index:
        base = index.knowledge.get(slug)
        for id in as_texts(ids):
            base.delete(id)
        count = len(ids or ()) + (base.remove_source(as_text(source)) if source else 0)
    write(f"{count} removed\n")


@kb.command("embed", short_help="Make missing vectors.")
def embed(slug: Slug, db: Db = None) -> None:
    """Make missing vectors, or replace all of them if the index has another embedder now."""
    with open_index(db) as index:
        count = index.knowledge.get(slug).embed()
    write(f"{count} embedded\n")


def register(app: typer.Typer) -> None:
    app.add_typer(kb, name="kb", short_help="Knowledge bases: documents with citations.")
