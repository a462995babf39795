"""`quintet eval`: how good the rankings are, by a collection with judgements or by what is indexed."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quintet.cli import options
from quintet.cli.commands.receipts import write_file
from quintet.cli.filter_options import json_or_text
from quintet.cli.options import AsJson
from quintet.cli.terminal import document, safe, tell, write
from quintet.errors import UsageError

if TYPE_CHECKING:
    from quintet.evaluation.evaluate import Request
    from quintet.evaluation.report import Report
    from quintet.evaluation.runs import Run

MOST_QUESTIONS = 10_000

Folder = Annotated[
    Path | None,
    typer.Argument(metavar="DIR", help="corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv or qrels.tsv."),
]
Own = Annotated[
    bool,
    typer.Option(
        "--self", help="Ask the index questions made from its own docstrings, headings, commits, ..."
    ),
]
Questions = Annotated[
    int | None,
    typer.Option(
        "--queries",
        metavar="N",
        parser=options.whole_number("--queries", 1, MOST_QUESTIONS),
        help=f"How many questions --self asks at most, 1 to {MOST_QUESTIONS}.",
    ),
]
Split = Annotated[
    str | None,
    typer.Option("--split", metavar="NAME", help="Which judgements: qrels/NAME.tsv, by default test."),
]
EmbedderName = Annotated[
    str | None,
    typer.Option("--embedder", metavar="NAME", help="What makes the vectors; 'none' measures words alone."),
]
Contracts = Annotated[
    list[str] | None,
    typer.Option("--contract", metavar="NAME", help="Whose ranking; 'all' for every one. Repeatable."),
]
Modes = Annotated[
    list[str] | None,
    typer.Option("--mode", metavar="MODE", help="Which signals; 'all' for every mode. Repeatable."),
]
Grid = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        metavar="NAME=VALUE",
        help="A parameter; several values (a,b,c) make a run each. Repeatable.",
    ),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option("--metrics", metavar="NAMES", help="ndcg@N, p@N, r@N, mrr@N, map@N, joined by commas."),
]
RunOut = Annotated[Path | None, typer.Option("--run-out", metavar="FILE", help="Write the run as TREC does.")]
RunsIn = Annotated[
    list[Path] | None,
    typer.Option("--run-in", metavar="FILE", help="Measure a run of another tool. Repeatable."),
]
EvalDb = Annotated[
    Path | None,
    typer.Option(
        "--db", metavar="DIR", help="Where the corpus is indexed and kept; without a corpus, the index asked."
    ),
]


def register(app: typer.Typer) -> None:
    app.command("eval", short_help="Measure rankings by a collection with judgements.")(eval_command)


def eval_command(
    folder: Folder = None,
    own: Own = False,
    queries: Questions = None,
    split: Split = None,
    contract: Contracts = None,
    mode: Modes = None,
    embedder: EmbedderName = None,
    param: Grid = None,
    metrics: Metrics = None,
    run_out: RunOut = None,
    run_in: RunsIn = None,
    compare: Annotated[bool, typer.Option("--compare", help="Set each run against the first.")] = False,
    per_query: Annotated[bool, typer.Option("--per-query", help="Show every query too.")] = False,
    as_json: AsJson = False,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write the report as a page of its own.")
    ] = None,
    db: EvalDb = None,
) -> int:
    """Measure how good rankings are, by queries whose answers are known.

    DIR holds a collection in the BEIR layout. Without corpus.jsonl the judgements name files or chunks of
    the index. With --self there are no judgements: the index is asked about its own contents, without the
    text that the question was made from. Every mean comes with a 95 % interval; the same input gives the
    same digits everywhere.

    \b
    Example:
      quintet eval scifact --contract all --embedder none
      quintet eval scifact --contract cfs --param rrf_k=10,60 --compare --html report.html
      quintet eval --self --mode all --compare
    """
    from quintet.cli.render import progress
    from quintet.evaluation import metrics as measures
    from quintet.evaluation.evaluate import DEPTH, Request, evaluate
    from quintet.evaluation.questions import QUESTIONS
    from quintet.evaluation.report import report

    _check_asked(folder, own, queries, split)
    wanted = measures.metrics_named(_texts(metrics or measures.DEFAULT))
    request = Request(
        folder,
        "test" if split is None else options.as_text(split),
        _texts(contract),
        _texts(mode),
        _grid(_texts(param)),
        None if embedder is None else options.as_text(embedder),
        run_in or (),
        db,
        max(DEPTH, *(metric.cutoff or 0 for metric in wanted)),
        one_run=run_out is not None,
        questions=queries or QUESTIONS,
    )
    with progress() as shown:
        judged, runs = evaluate(_placed(request), shown)
    if compare and len(runs) == 1:
        tell("note: there is one run only, so nothing is compared; ask for another [nothing_to_compare]")
    made = report(judged, wanted, runs, compare=compare)
    if run_out is not None:
        _write_run(run_out, runs[0])
    if html is not None:
        _write_page(html, made)
    _show(made, per_query=per_query, as_json=as_json)
    return 0


def _check_asked(folder: Path | None, own: bool, queries: int | None, split: str | None) -> None:
    if own and folder is not None:
        raise UsageError(
            f"--self asks the index itself, and {str(folder)!r} names a collection; give one of them"
        )
    if not own and folder is None:
        raise UsageError("name the folder of a collection, or ask the index itself with --self")
    if own and split is not None:
        raise UsageError("--split chooses the judgements of a collection, and --self has none; leave it out")
    if not own and queries is not None:
        raise UsageError(
            "--queries says how many questions --self makes; a collection has its own: leave it out"
        )


def _texts(given: Sequence[str] | None) -> list[str]:
    return [options.as_text(one) for one in given or ()]


def _placed(request: "Request") -> "Request":
    """With the index that judgements without a corpus are about."""
    from quintet.evaluation.judgements import has_corpus

    if not request.searches and request.one_run:
        raise UsageError(
            "--run-out writes what is searched, and --run-in alone searches nothing; leave it out"
        )
    if request.folder is None or (request.searches and not has_corpus(request.folder)):
        return replace(request, db=options.index_folder(request.db))
    return request


def _show(made: "Report", *, per_query: bool, as_json: bool) -> None:
    from quintet.evaluation import report

    for note in (*made.judged.notes, *(note for one in made.runs for note in one.run.notes)):
        tell(f"note: {note['message']} [{note['code']}]")
    if as_json:
        document(report.as_json(made, per_query=per_query))
    else:
        write("".join(f"{safe(line)}\n" for line in report.table(made, per_query=per_query)))


def _grid(params: Sequence[str]) -> dict[str, list[object]]:
    """The values of each parameter. One that is JSON as a whole is one value, commas and all.

    >>> _grid(["rrf_k=10,60", 'filters={"path": "a,b"}', "rrf_k=20"])
    {'rrf_k': [10, 60, 20], 'filters': [{'path': 'a,b'}]}
    """
    grid: dict[str, list[object]] = {}
    for given in params:
        ((name, value),) = options.search_parameters([given], ()).items()
        plain = isinstance(value, str) and given.endswith(value)
        values = [json_or_text(one) for one in str(value).split(",")] if plain else [value]
        grid.setdefault(name, []).extend(values)
    return grid


def _write_run(file: Path, run: "Run") -> None:
    from quintet.evaluation.trec import run_lines

    results = {query: [(one.item, one.score) for one in found] for query, found in run.results.items()}
    tag = "-".join(run.asked.name.split())
    write_file(file, "".join(f"{line}\n" for line in run_lines(results, tag)))


def _write_page(file: Path, report: "Report") -> None:
    from quintet.evaluation.page import page

    write_file(file, page(report))
