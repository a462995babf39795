"""`quintet context`: cited passages for an answer."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from quintet.cli import options
from quintet.cli.commands.index_and_search import NO_MATCH, opened
from quintet.cli.options import AsJson, Db
from quintet.cli.terminal import document, safe_lines, tell, write

BUDGET = 2000
ExactFilters = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        metavar="NAME:VALUE",
        help="An exact match of a built-in field or a property, e.g. title:Guide. Repeatable; all must hold.",
    ),
]


def register(app: typer.Typer) -> None:
    app.command("context", short_help="Cited passages for an answer, in a token budget.")(context_command)


def context_command(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The question; quote several words.")],
    budget: options.Budget = BUDGET,
    base: Annotated[
        str | None, typer.Option("--kb", metavar="SLUG", help="A knowledge base; without it, folders.")
    ] = None,
    filters: ExactFilters = None,
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """Print the passages that answer a question, with [n] markers and the list of references.

    The same question over the same documents gives the same bytes, and a digest of them.

    \b
    Example:
      quintet context "How long is parental leave?" --kb handbook --budget 1500
    """
    with opened(db) as index:
        name = "default" if base is None else index.knowledge.get(base).index_name
        found = index.context(options.as_text(query), budget, name, **_filtered(filters or ()))
    if as_json:
        document(found.wire())
    else:
        text = found.body["text"]
        assert isinstance(text, str)
        if text:
            write("".join(line + "\n" for line in safe_lines(text.removesuffix("\n"))))
        else:
            tell(_nothing(found.body, budget))
        for note in found.notes:
            tell(f"note: {note['message']} [{note['code']}]")
    return 0 if found.body["sources"] else NO_MATCH


def _nothing(body: Mapping[str, Any], budget: int) -> str:
    if body["left_out"]:
        return f"{body['left_out']} passages answer, but none of them fits {budget} tokens; raise --budget"
    return "no match"


def _filtered(filters: Sequence[str]) -> dict[str, Any]:
    given: dict[str, Any] = options.search_parameters([], filters, "knowledge")
    return given
