"""`quintet context`: cited passages for an answer."""

from typing import Annotated, Any

import typer

from quintet.cli.arguments import joined, search_parameters
from quintet.cli.exit_codes import NO_MATCH
from quintet.cli.index_folder import open_index
from quintet.cli.options import AsJson, Budget, Db, MaybeText, Query, Texts, option, repeatable
from quintet.cli.terminal import safe_lines, tell, tell_notes, write, write_json

BUDGET = 2000


def context_command(
    query: Query,
    budget: Budget = BUDGET,
    base: Annotated[
        MaybeText, option("--kb", "SLUG", "A knowledge base; without it, the indexed folders.")
    ] = None,
    filters: Annotated[
        Texts,
        repeatable(
            "--filter",
            "FILTER",
            "Only what matches, e.g. 'title:Guide' or 'price < 20'. All must match.",
        ),
    ] = None,
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """Print the passages that answer a question, with [n] markers and the list of references.

    The same question over the same documents gives the same bytes. --json adds references, sources and a
    digest of the text.

    \b
    Example:
      quintet context "How long is parental leave?" --kb handbook --budget 1500
    """
    params: dict[str, Any] = search_parameters((), filters)
    with open_index(db) as index:
        name = "default" if base is None else index.knowledge.get(base).index_name
        response = index.context(joined(query), budget, name, **params)
    if as_json:
        write_json(response.wire())
    else:
        text = response.body["text"]
        assert isinstance(text, str)
        if text:
            write("".join(line + "\n" for line in safe_lines(text.removesuffix("\n"))))
        elif not response.body["left_out"]:
            tell("no match")
        tell_notes(response.notes)
    return 0 if response.body["sources"] else NO_MATCH


def register(app: typer.Typer) -> None:
    app.command("context", short_help="Cited passages for an answer, in a token budget.")(context_command)
