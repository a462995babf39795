"""`quintet related` and `quintet map`: what is around a symbol, and what matters in a repository."""

from typing import TYPE_CHECKING, Annotated

import typer

from quintet.cli import options
from quintet.cli.commands.index_and_search import NO_MATCH, opened
from quintet.cli.options import AsJson, Db
from quintet.cli.terminal import document, safe, tell, write
from quintet.errors import UsageError

if TYPE_CHECKING:
    from quintet.codegraph.map import OutlineMap
    from quintet.codegraph.related import Related
    from quintet.contracts.contract import Strategy
    from quintet.ports.reading import Neighbour, Node


def register(app: typer.Typer) -> None:
    app.command("related", short_help="Show what is around a symbol in the code graph.")(related_command)
    app.command("map", short_help="Outline a repository within a budget of tokens.")(map_command)


def related_command(
    reference: Annotated[
        str, typer.Argument(metavar="SYMBOL|PATH:LINE", help="A name, qualified or not, or a place.")
    ],
    callers: Annotated[bool, typer.Option("--callers", help="What calls it.")] = False,
    dependencies: Annotated[
        bool, typer.Option("--dependencies", help="What it calls, imports, extends or implements.")
    ] = False,
    related: Annotated[
        bool, typer.Option("--related", help="Everything around it, both ways; the default.")
    ] = False,
    depth: Annotated[
        int,
        typer.Option(
            "--depth",
            metavar="N",
            parser=options.whole_number("depth", 1, 10),
            help="How many steps to go, 1 to 10.",
        ),
    ] = 1,
    possible: Annotated[
        bool, typer.Option("--possible", help="Follow edges that are no more than a guess, too.")
    ] = False,
    limit: Annotated[
        int,
        typer.Option("--limit", metavar="N", parser=options.A_LIMIT, help="How many to show, 1 to 1000."),
    ] = 100,
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """Show what is around a symbol in the code graph, nearest first, and by which steps it is reached.

    A name that several symbols have is refused with all of them. Exit code 1 means that nothing is around
    it, 3 that nothing has that name.

    \b
    Example:
      quintet related AnswerCache.get --callers --depth 2
      quintet related src/cache.py:15
    """
    strategy = _strategy(callers=callers, dependencies=dependencies, related=related)
    with opened(db) as index:
        found = index.related(options.as_text(reference), strategy, depth, possible=possible, limit=limit)
    if as_json:
        document(found.wire())
    else:
        _show(found)
    return 0 if found.neighbours else NO_MATCH


def _strategy(**wanted: bool) -> "Strategy":
    chosen: list[Strategy] = [name for name in ("callers", "dependencies", "related") if wanted[name]]
    if len(chosen) > 1:
        raise UsageError(f"--{chosen[0]} and --{chosen[1]} were given; choose one of them")
    return chosen[0] if chosen else "related"


def _show(found: "Related") -> None:
    from quintet.codegraph.related import place

    start = found.start
    write(f"{safe(start.qualified_name)}  {start.kind}  {safe(place(start))}\n")
    names = {node.id: node for node in (start, *(one.node for one in found.neighbours))}
    for one in found.neighbours:
        write(_row(one, names) + "\n")
    if not found.neighbours:
        tell(_nothing(found))
    if found.more:
        tell(f"the first {len(found.neighbours)} are shown; raise --limit for more")


def _row(one: "Neighbour", names: "dict[str, Node]") -> str:
    """Distance, name and place, and the step that led there with how sure it is and where it stands."""
    from quintet.codegraph.related import place

    step = one.steps[-1]
    source, target = names[step.source], names[step.target]
    way = f"{source.name} {step.relation} {target.name} at {source.path}:{step.line}"
    sure = "" if one.confidence == "exact" else f" ({one.confidence})"
    node = one.node
    return (
        f"{one.distance:>3}  {safe(node.qualified_name)}  {node.kind}  {safe(place(node))}  {safe(way)}{sure}"
    )


def _nothing(found: "Related") -> str:
    more = "" if found.expansion.possible else "; --possible follows guesses too"
    sought = {"related": "neighbours"}.get(found.expansion.strategy, found.expansion.strategy)
    return f"no {sought} within {found.expansion.distance}{more}"


def map_command(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATHS", help="Files and folders; all that is indexed if none."),
    ] = None,
    query: Annotated[
        str | None, typer.Option("--query", metavar="QUERY", help="Rank as seen from what this finds.")
    ] = None,
    budget: options.Budget = 1024,
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """Outline a repository: its most important files and definitions, with signatures and line numbers.

    What much of the code points at comes first; with --query, as seen from what the query finds. Only whole
    lines are shown.

    \b
    Example:
      quintet map src --budget 500
      quintet map --query "how answers expire"
    """
    asked = None if query is None else options.as_text(query)
    with opened(db) as index:
        made = index.map([options.as_text(path) for path in paths or ()], query=asked, budget=budget)
    if as_json:
        document(made.wire())
    else:
        write("".join(safe(line) + "\n" for file in made.files for line in file.lines))
        _remark(made)
    return 0 if made.shown else NO_MATCH


def _remark(made: "OutlineMap") -> None:
    for note in made.notes:
        tell(f"note: {note['message']} [{note['code']}]")
    if made.shown < made.total:
        tell(
            f"{made.shown} of {made.total} files and definitions; raise --budget above {made.budget} for more"
        )
    elif not made.total:
        tell("there is nothing to outline")
