"""`quintet search-all`: code and memory in one ranking."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from quintet.cli import exit_codes
from quintet.cli.arguments import add_parameters, joined
from quintet.cli.commands.search import tell_outcome
from quintet.cli.index_folder import open_index
from quintet.cli.memory_format import format_memory
from quintet.cli.options import AsJson, Db, Query, Texts, number, repeatable
from quintet.cli.terminal import write, write_json

if TYPE_CHECKING:
    from quintet.index import Index


def search_all_command(
    query: Query,
    limit: Annotated[int | None, number("--limit", 1, 1000, "How many of each", short="-n")] = None,
    context: Annotated[
        Texts,
        repeatable("--context", "NAME=VALUE", "Where you are: project, open_files, symbols or memories."),
    ] = None,
    code: Annotated[Texts, repeatable("--code", "NAME=VALUE", "A parameter of contract mcb.")] = None,
    memory: Annotated[Texts, repeatable("--memory", "NAME=VALUE", "A parameter of recall.")] = None,
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """Search code and memory together: what the code says, and what was remembered about it.

    Contract mcb ranks code, 'quintet recall' ranks memories; reciprocal rank fusion makes one list of both.
    VALUE is JSON or text. Exit code 1 means no match.

    \b
    Example:
      quintet search-all "how long are answers cached" --limit 3 --memory kind=decision
      quintet search-all "evict" --context project=app --context 'open_files=["src/cache.py"]'
    """
    common = {} if limit is None else {"limit": limit}
    code_parameters = add_parameters(common, code, "--code")
    memory_parameters = add_parameters(common, memory, "--memory")
    text = joined(query)
    with open_index(db) as index:
        response = index.search_all(
            text, add_parameters({}, context, "--context"), code=code_parameters, memory=memory_parameters
        )
        ranked: Any = response.body["hybrid_rank"]
        if as_json:
            write_json(response.wire())
        else:
            _show(index, response.body, text)
            tell_outcome(response, len(ranked))
    return exit_codes.of_results(ranked, response.status)


def _show(index: "Index", body: Any, query: str) -> None:
    """Show each result as `search` or `recall` does, in the common order."""
    from quintet.cli.render import show_results
    from quintet.serving.views import result_views, with_place

    code, memory = iter(result_views("mcb", {"results": body["code"]})), iter(body["memory"])
    roots = index.roots()
    for rank, item in enumerate(body["hybrid_rank"], 1):
        if rank > 1:
            write("\n")
        if item["kind"] == "code":
            show_results([with_place(index, next(code))], query, roots, first=rank)
        else:
            write(format_memory(next(memory), f"{rank:>2}. ", several_roots=len(roots) > 1))


def register(app: typer.Typer) -> None:
    app.command("search-all", short_help="Search code and memory together.")(search_all_command)
