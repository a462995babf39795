"""`quintet eval`: measure rankings by queries whose answers are known."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from quintet.cli.arguments import as_text, as_texts, json_or_text, search_parameters
from quintet.cli.files import write_file
from quintet.cli.index_folder import existing_folder
from quintet.cli.options import AsJson, MaybeText, Texts, argument, flag, grouped, number, option, repeatable
from quintet.cli.terminal import tell, tell_notes, write_json, write_lines
from quintet.errors import UsageError

if TYPE_CHECKING:
    from quintet.evaluation.rankings import SearchRun
    from quintet.evaluation.report import EvaluationReport
    from quintet.evaluation.request import Request

MOST_QUESTIONS = 10_000


class QueryOptions(NamedTuple):
    """Where the queries come from: the collection in a folder, or the index itself."""

    folder: Annotated[
        Path | None, argument("DIR", "corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv or qrels.tsv.")
    ] = None
    own: Annotated[
        bool, flag("--self", "Use questions made from the index: docstrings, headings, commits, ...")
    ] = False
    split: Annotated[
        MaybeText,
        option("--split", "NAME", "The judgements qrels/NAME.tsv; by default eval reads test, tune train."),
    ] = None
    db: Annotated[
        Path | None,
        option("--db", "DIR", "The index; with a corpus.jsonl, the folder that keeps the indexed corpus."),
    ] = None

    def check(self) -> None:
        if self.own and self.folder is not None:
            raise UsageError(
                f"--self makes questions from the index, and {str(self.folder)!r} is a collection; give "
                "only one of them"
            )
        if not self.own and self.folder is None:
            raise UsageError(
                "name the folder of a collection, or use --self to make questions from the index"
            )
        if self.own and self.split is not None:
            raise UsageError(
                "--split chooses the judgements of a collection, and --self has none; leave it out"
            )

    def request(self, default_split: str) -> "Request":
        from quintet.evaluation.request import Request

        split = default_split if self.split is None else as_text(self.split)
        return Request(self.folder, split, db=self.db)


class RunOptions(NamedTuple):
    """Which rankings are measured, and by which metrics."""

    contract: Annotated[Texts, repeatable("--contract", "NAME", "The ranking; 'all' for every one.")] = None
    mode: Annotated[Texts, repeatable("--mode", "MODE", "The signals; 'all' for every mode.")] = None
    embedder: Annotated[
        MaybeText,
        option("--embedder", "NAME", "The embedder, by name or as a model's folder; 'none' for words alone."),
    ] = None
    param: Annotated[
        Texts,
        repeatable("--param", "NAME=VALUE", "A parameter; several values (a,b,c) make one run each."),
    ] = None
    run_in: Annotated[
        list[Path] | None, repeatable("--run-in", "FILE", "Measure a TREC run of another tool.")
    ] = None
    metrics: Annotated[
        Texts,
        repeatable("--metrics", "NAMES", "ndcg@N, p@N, r@N, mrr@N, map@N, joined by commas."),
    ] = None
    unit: Annotated[
        MaybeText,
        option("--unit", "UNIT", "What takes a place: file or chunk; by default what the judgements name."),
    ] = None
    drop_own: Annotated[
        bool, flag("--drop-own", "Leave out the document that has the id of the query, as for ArguAna.")
    ] = False
    compare: Annotated[bool, flag("--compare", "Compare each run with the first, query by query.")] = False


class OutputOptions(NamedTuple):
    per_query: Annotated[bool, flag("--per-query", "Show every query too.")] = False
    as_json: AsJson = False
    html: Annotated[Path | None, option("--html", "FILE", "Write the report as an HTML page.")] = None
    run_out: Annotated[Path | None, option("--run-out", "FILE", "Write the run in the TREC format.")] = None


@grouped
def eval_command(
    source: QueryOptions,
    runs: RunOptions,
    output: OutputOptions,
    queries: Annotated[
        int | None,
        number("--queries", 1, MOST_QUESTIONS, "The most questions that --self makes", parameter="--queries"),
    ] = None,
) -> int:
    """Measure how good rankings are, by queries whose answers are known.

    DIR holds a collection in the BEIR layout. Without corpus.jsonl the judgements name files or chunks of
    the index. --self needs no judgements: it makes questions from the contents of the index, 300 by
    default, and searches a copy of the index without the text that a question was made from. Every mean has
    a 95 % interval; the same input gives the same digits everywhere.

    \b
    Example:
      quintet eval scifact --contract all --embedder none
      quintet eval scifact --contract cfs --param rrf_k=10,60 --compare --html report.html
      quintet eval --self --mode all --compare
    """
    from quintet.cli.progress import progress
    from quintet.evaluation.evaluate import evaluate
    from quintet.evaluation.metrics import DEFAULT, metrics_named
    from quintet.evaluation.report import make_report
    from quintet.index import BACKENDS

    source.check()
    if source.own and runs.drop_own:
        raise UsageError(
            "--drop-own leaves out the document that has the id of the query, and no document has that of a "
            "question of --self; leave it out"
        )
    if not source.own and queries is not None:
        raise UsageError(
            "--queries limits the questions that --self makes; a collection has its own: leave it out"
        )
    metrics = metrics_named(as_texts(runs.metrics) or DEFAULT)
    request = _request(source, runs, max(metric.cutoff or 0 for metric in metrics), queries)
    with progress() as bars:
        request = _with_index(replace(request, one_run=output.run_out is not None))
        judged, measured = evaluate(request, BACKENDS, bars)
    if runs.compare and len(measured) == 1:
        tell("note: there is only one run, so there is nothing to compare it with [nothing_to_compare]")
    result = make_report(judged, metrics, request.counting, measured, with_comparisons=runs.compare)
    if output.run_out is not None:
        _write_run(output.run_out, measured[0])
    if output.html is not None:
        _write_page(output.html, result)
    _show(result, output)
    return 0


def _request(source: QueryOptions, runs: RunOptions, cutoff: int, questions: int | None) -> "Request":
    from quintet.evaluation.counting import Counting, unit_named
    from quintet.evaluation.questions.generate import QUESTIONS
    from quintet.evaluation.request import DEPTH

    unit = None if runs.unit is None else unit_named(as_text(runs.unit))
    return replace(
        source.request("test"),
        contracts=as_texts(runs.contract),
        modes=as_texts(runs.mode),
        grid=_grid(as_texts(runs.param)),
        embedder=None if runs.embedder is None else as_text(runs.embedder),
        run_files=runs.run_in or (),
        depth=max(DEPTH, cutoff),
        questions=questions or QUESTIONS,
        counting=Counting(unit, runs.drop_own),
    )


def _with_index(request: "Request") -> "Request":
    """Judgements without a corpus refer to an index: find its folder."""
    from quintet.evaluation.beir import has_corpus

    if not request.searches and request.one_run:
        raise UsageError(
            "--run-out writes what was searched, and --run-in alone searches nothing; leave it out"
        )
    if not request.searches and request.counting.unit is not None:
        raise UsageError("--unit is for what is searched, and --run-in alone searches nothing; leave it out")
    if request.folder is None or (request.searches and not has_corpus(request.folder)):
        return replace(request, db=existing_folder(request.db))
    return request


def _show(result: "EvaluationReport", output: OutputOptions) -> None:
    from quintet.evaluation.report_json import as_json
    from quintet.evaluation.report_table import table

    tell_notes((*result.judged.notes, *(note for scores in result.runs for note in scores.run.notes)))
    if output.as_json:
        write_json(as_json(result, per_query=output.per_query))
    else:
        write_lines(table(result, per_query=output.per_query))


def _grid(params: Sequence[str]) -> dict[str, list[object]]:
    """The values of each parameter. A value that is JSON as a whole is one value, commas included.

    >>> _grid(["rrf_k=10,60", 'filters={"path": "a,b"}', "rrf_k=20"])
    {'rrf_k': [10, 60, 20], 'filters': [{'path': 'a,b'}]}
    """
    grid: dict[str, list[object]] = {}
    for param in params:
        ((name, value),) = search_parameters([param], ()).items()
        is_plain = isinstance(value, str) and param.endswith(value)
        values = [json_or_text(part) for part in str(value).split(",")] if is_plain else [value]
        grid.setdefault(name, []).extend(values)
    return grid


def _write_run(file: Path, run: "SearchRun") -> None:
    from quintet.evaluation.trec import run_lines

    results = {
        query: [(result.item, result.score) for result in results] for query, results in run.results.items()
    }
    tag = "-".join(run.spec.name.split())
    write_file(file, "".join(f"{line}\n" for line in run_lines(results, tag)))


def _write_page(file: Path, result: "EvaluationReport") -> None:
    from quintet.evaluation.report_html import page

    write_file(file, page(result))


def register(app: typer.Typer) -> None:
    app.command("eval", short_help="Measure rankings by a collection with judgements.")(eval_command)
