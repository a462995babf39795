"""`quintet search-all`: code and memory in one ranking."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from quintet.cli import options
from quintet.cli.commands.index_and_search import NO_MATCH, opened, remark
from quintet.cli.memory_text import shown
from quintet.cli.options import AsJson, Db
from quintet.cli.terminal import document, write
from quintet.errors import NotFound

if TYPE_CHECKING:
    from quintet.index import Index


def register(app: typer.Typer) -> None:
    app.command("search-all", short_help="Search code and memory together.")(search_all_command)


def search_all_command(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for; quote several words.")],
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", parser=options.A_LIMIT, help="How many of each, 1 to 1000."),
    ] = None,
    code: Annotated[
        list[str] | None,
        typer.Option("--code", metavar="NAME=VALUE", help="A parameter of contract mcb. Repeatable."),
    ] = None,
    memory: Annotated[
        list[str] | None,
        typer.Option("--memory", metavar="NAME=VALUE", help="A parameter of recall. Repeatable."),
    ] = None,
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """Search code and memory together: what the code says, and what was remembered about it.

    Code is ranked by contract mcb and memories as 'quintet recall' does; both are one list by reciprocal
    rank. VALUE is JSON, else text. Exit code 1 means that nothing was found.

    \b
    Example:
      quintet search-all "how long are answers cached" --limit 3 --memory kind=decision
    """
    both = {} if limit is None else {"limit": limit}
    of_code = options.with_named(both, code or (), "--code")
    of_memory = options.with_named(both, memory or (), "--memory")
    asked = options.as_text(query)
    with opened(db) as index:
        response = index.search_all(asked, of_code, of_memory)
        ranked: Any = response.body["hybrid_rank"]
        if as_json:
            document(response.wire())
        else:
            _show(index, response.body, asked)
            remark(response, len(ranked))
    if ranked:
        return 0
    return NotFound.exit_code if response.status == "never_indexed" else NO_MATCH


def _show(index: "Index", body: Any, query: str) -> None:
    """Each result as its own command shows it, in the order of both together."""
    from quintet.cli.render import show_results
    from quintet.serving.views import placed, views

    code, memory = iter(views("mcb", {"results": body["code"]})), iter(body["memory"])
    roots = index.roots()
    for number, one in enumerate(body["hybrid_rank"], 1):
        if number > 1:
            write("\n")
        if one["kind"] == "code":
            show_results([placed(index, next(code))], query, roots, first=number)
        else:
            write(shown(next(memory), f"{number:>2}. "))
