"""`quintet related` and `quintet map`: the neighbours of a symbol, and the outline of a repository."""

from typing import TYPE_CHECKING, Annotated

import typer

from quintet.cli.arguments import as_text, as_texts
from quintet.cli.exit_codes import NO_MATCH
from quintet.cli.index_folder import open_index
from quintet.cli.options import AsJson, Budget, Db, MaybeText, Texts, argument, flag, number, option
from quintet.cli.terminal import tell, tell_notes, write_json, write_lines
from quintet.errors import UsageError

if TYPE_CHECKING:
    from quintet.codegraph.map import OutlineMap
    from quintet.codegraph.related import RelatedSymbols
    from quintet.contracts.contract import Strategy
    from quintet.ports.reading import Neighbour, Node


def related_command(
    reference: Annotated[str, argument("SYMBOL|PATH:LINE", "A name, qualified or not, or a place.")],
    callers: Annotated[bool, flag("--callers", "What calls it.")] = False,
    dependencies: Annotated[
        bool, flag("--dependencies", "What it calls, imports, extends or implements.")
    ] = False,
    related: Annotated[
        bool, flag("--related", "Everything around it, in both directions; the default.")
    ] = False,
    depth: Annotated[int, number("--depth", 1, 10, "How many steps to go")] = 1,
    possible: Annotated[bool, flag("--possible", "Also follow edges that are only guesses.")] = False,
    limit: Annotated[int, number("--limit", 1, 1000, "How many to show")] = 100,
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """Show the neighbours of a symbol in the code graph, nearest first, and the step that leads to each.

    Exit code 1 means that it has no neighbours, 2 that several symbols have that name (all are listed), 3
    that no symbol has it or that the file has no such line.

    \b
    Example:
      quintet related AnswerCache.get --callers --depth 2
      quintet related src/cache.py:15
    """
    strategy = _strategy(callers=callers, dependencies=dependencies, related=related)
    with open_index(db) as index:
        result = index.related(as_text(reference), strategy, depth, possible=possible, limit=limit)
        several = len(index.roots()) > 1
    if as_json:
        write_json(result.wire())
    else:
        _show(result, several)
    return 0 if result.neighbours else NO_MATCH


def _strategy(**wanted: bool) -> "Strategy":
    chosen: list[Strategy] = [name for name in ("callers", "dependencies", "related") if wanted[name]]
    if len(chosen) > 1:
        raise UsageError(f"--{chosen[0]} and --{chosen[1]} were given; choose one of them")
    return chosen[0] if chosen else "related"


def _show(result: "RelatedSymbols", several_roots: bool) -> None:
    from quintet.codegraph.related import place

    start = result.start
    nodes = {node.id: node for node in (start, *(neighbour.node for neighbour in result.neighbours))}
    head = f"{start.qualified_name}  {start.kind}  {place(start, several_roots)}"
    write_lines([head, *(_row(neighbour, nodes, several_roots) for neighbour in result.neighbours)])
    if not result.neighbours:
        tell(_no_neighbours(result))
    if result.more:
        tell(f"the first {len(result.neighbours)} are shown; raise --limit for more")


def _row(neighbour: "Neighbour", nodes: "dict[str, Node]", several_roots: bool) -> str:
    """Distance, name and place, then the step that leads there, with its line and its confidence."""
    from quintet.codegraph.related import place
    from quintet.serving.views import printed_path

    edge, node = neighbour.steps[-1], neighbour.node
    source, target = nodes[edge.source], nodes[edge.target]
    path = printed_path(source.root, source.path, several_roots)
    step = f"{source.name} {edge.relation} {target.name} at {path}:{edge.line}"
    confidence = "" if neighbour.confidence == "exact" else f" ({neighbour.confidence})"
    at = place(node, several_roots)
    return f"{neighbour.distance:>3}  {node.qualified_name}  {node.kind}  {at}  {step}{confidence}"


def _no_neighbours(result: "RelatedSymbols") -> str:
    hint = "" if result.expansion.possible else "; --possible follows guesses too"
    name = {"related": "neighbours"}.get(result.expansion.strategy, result.expansion.strategy)
    return f"no {name} within {result.expansion.distance}{hint}"


def map_command(
    paths: Annotated[Texts, argument("PATHS", "Files and folders; without them, everything indexed.")] = None,
    query: Annotated[
        MaybeText, option("--query", "QUERY", "Rank from the point of view of this query's results.")
    ] = None,
    budget: Budget = 1024,
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """Outline a repository: its most important files and definitions, with signatures and line numbers.

    Definitions that much of the code refers to come first; with --query, those near the query's results.
    Only whole lines are shown.

    \b
    Example:
      quintet map src --budget 500
      quintet map --query "how answers expire"
    """
    text = None if query is None else as_text(query)
    with open_index(db) as index:
        outline = index.map(as_texts(paths), query=text, budget=budget)
    if as_json:
        write_json(outline.wire())
    else:
        write_lines(line for file in outline.files for line in file.lines)
        _tell_rest(outline)
    return 0 if outline.shown else NO_MATCH


def _tell_rest(outline: "OutlineMap") -> None:
    tell_notes(outline.notes)
    if outline.shown < outline.total:
        tell(
            f"{outline.shown} of {outline.total} files and definitions; "
            f"raise --budget above {outline.budget} for more"
        )
    elif not outline.total:
        tell("there is nothing to outline")


def register(app: typer.Typer) -> None:
    app.command("related", short_help="Show the neighbours of a symbol in the code graph.")(related_command)
    app.command("map", short_help="Outline a repository within a budget of tokens.")(map_command)
