"""`quintet search`, and the options that every search takes."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from quintet.cli import exit_codes
from quintet.cli.arguments import as_text, joined, search_parameters
from quintet.cli.files import openable_paths
from quintet.cli.index_folder import open_index
from quintet.cli.options import AsJson, Db, Limit, MaybeText, Query, Texts, flag, grouped, option, repeatable
from quintet.cli.terminal import tell, tell_notes, write_json, write_json_lines, write_lines
from quintet.errors import UsageError

if TYPE_CHECKING:
    from quintet.index import Index
    from quintet.query.search import Response
    from quintet.serving.views import View

Contract = Annotated[
    MaybeText,
    option("--contract", "NAME", "The ranking: quintet (default), rifflux, harness, mcb, knowledge or cfs."),
]
Mode = Annotated[
    MaybeText,
    option("--mode", "MODE", "The signals: hybrid, semantic, or lexical (in some contracts keyword)."),
]
Parameters = Annotated[
    Texts,
    repeatable(
        "--param",
        "NAME=VALUE",
        "A parameter of the contract, e.g. semantic_weight=0.5. VALUE is JSON or text.",
    ),
]
Filters = Annotated[
    Texts,
    repeatable("--filter", "FILTER", "Only what matches, e.g. 'path:docs/** -tag:draft'. All must match."),
]


class SearchOptions(NamedTuple):
    """What `search` and `why` share."""

    contract: Contract = None
    mode: Mode = None
    limit: Limit = None
    param: Parameters = None
    filter: Filters = None

    @property
    def contract_name(self) -> str:
        from quintet.contracts import HOUSE

        return HOUSE if self.contract is None else as_text(self.contract)

    def parameters(self, **more: str | None) -> dict[str, Any]:
        return search_parameters(self.param, self.filter, mode=self.mode, limit=self.limit, **more)


@grouped
def search_command(
    query: Query,
    options: SearchOptions,
    syntax: Annotated[
        MaybeText, option("--syntax", "SYNTAX", "plain (default), or fts5 for SQLite's own query language.")
    ] = None,
    base: Annotated[
        MaybeText, option("--kb", "SLUG", "A knowledge base, by contract quintet or knowledge.")
    ] = None,
    explain: Annotated[bool, flag("--explain", "Show what each signal contributed.")] = False,
    receipt: Annotated[
        Path | None, option("--receipt", "FILE", "Write a receipt that 'quintet verify' can replay.")
    ] = None,
    files: Annotated[
        bool, flag("--files", "Print only the paths of the files, each once, as other programs open them.")
    ] = False,
    jsonl: Annotated[bool, flag("--jsonl", "Print each result as one line of JSON.")] = False,
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """Search the index; best results first, each with its place, heading, score and a few lines.

    Any text is a valid query: words are looked up as words, "quoted phrases" as phrases. A contract is a
    published way of ranking with its own parameters (--param) and its own JSON. Exit code 1 means no match.

    --explain shows each signal as a bar with its rank, raw score and weight, then their sum. Notes on
    standard error, or in "notes" with --json, say what was degraded, clamped or cut. In an index with several
    roots a place begins with the name of its root; 'quintet get' accepts that form.

    \b
    Example:
      quintet search how to merge -n 3
      quintet search "cache ttl" --filter 'path:docs/**' --files
      quintet search "cache ttl" --contract rifflux --param rrf_k=20 --json
      quintet search "running shoes" --kb shop --filter 'price < 20'
    """
    from quintet.contracts.bases import INDEX_PREFIX

    index_name = None if base is None else INDEX_PREFIX + base.removeprefix(INDEX_PREFIX)
    params = options.parameters(syntax=syntax, index=index_name)
    name, text = options.contract_name, joined(query)
    form = _form(files=files, jsonl=jsonl, json=as_json, explain=explain and not as_json)
    with open_index(db) as index:
        if receipt is None:
            response = index.search(text, contract=name, **params)
        else:
            response = _search_with_receipt(index, text, name, params, receipt)
        results = _show(index, response, name, text, form)
    return exit_codes.of_results(results, response.status)


def _form(**wanted: bool) -> str:
    """How to print the answer: at most one of these."""
    chosen = [name for name, is_wanted in wanted.items() if is_wanted]
    if len(chosen) > 1:
        raise UsageError(f"--{chosen[0]} and --{chosen[1]} were given; choose one of them")
    return chosen[0] if chosen else "text"


def _search_with_receipt(
    index: "Index", query: str, contract: str, params: dict[str, Any], file: Path
) -> "Response":
    from quintet.cli.files import write_json_file

    response, receipt = index.receipts.search(query, contract, **params)
    write_json_file(file, receipt)
    return response


def _show(index: "Index", response: "Response", contract: str, query: str, form: str) -> "Sequence[View]":
    """Print the answer and return its results."""
    from quintet.serving.views import confidence_text, is_from_base, items_of, views_with_evidence

    results = views_with_evidence(contract, response)
    if form == "json":
        write_json(response.wire())
        return results
    roots = () if is_from_base(response.body) else index.roots()
    if form == "jsonl":
        write_json_lines(items_of(response.body))
    elif form == "files":
        write_lines(openable_paths(results, roots))
    elif results:
        from quintet.cli.render import show_results

        is_explained, confidence = form == "explain", confidence_text(response.body)
        show_results(results, query, roots, confidence=confidence, explain=is_explained)
    tell_outcome(response, len(results))
    return results


def tell_outcome(response: "Response", count: int) -> None:
    """Notes, and why there are no results."""
    tell_notes(response.notes)
    if response.status == "never_indexed":
        tell("never indexed: run 'quintet index'")
    elif response.status == "empty_index":
        tell("the index is empty")
    elif not count:
        tell("no match")


def register(app: typer.Typer) -> None:
    app.command("search", short_help="Search the index, best results first.")(search_command)
