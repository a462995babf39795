"""`quintet hnsw`: build the graph for approximate vector search."""

from dataclasses import asdict

import typer

from quintet.cli.index_folder import open_index
from quintet.cli.options import AsJson, Db
from quintet.cli.terminal import write, write_json


def hnsw_command(as_json: AsJson = False, db: Db = None) -> int:
    """Build the HNSW graph (M 16, ef_construction 200) over all vectors, and measure its recall.

    Recall is the share of the exact best 20 that it finds on this index, for queries that are not in it. A
    search with --param vectors=hnsw uses the least ef that finds 98 % (up to 1,600); vectors=standard uses
    ef 50 and vectors=approximate ef 20, as specification 004 says. Scores are exact in any case. For most
    indexes, comparing every vector is fast enough, and exact. A server builds the graph itself once a search
    asks for it. Needs pip install 'quintet[hnsw]'.

    \b
    Example:
      quintet hnsw
      quintet search --param vectors=hnsw "cache ttl"
    """
    from quintet.cli.render import hnsw_line

    with open_index(db) as index:
        graph = index.build_hnsw()
    if as_json:
        write_json(None if graph is None else asdict(graph))
    else:
        write(hnsw_line(graph) + "\n")
    return 0


def register(app: typer.Typer) -> None:
    app.command("hnsw", short_help="Build a graph for approximate vector search.")(hnsw_command)
