"""`quintet tune`: choose the numbers of the house ranking for an index, or put the old ones back."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from quintet.cli.commands.evaluate import QueryOptions
from quintet.cli.index_folder import existing_folder
from quintet.cli.options import AsJson, flag, grouped
from quintet.cli.terminal import tell, tell_notes, write, write_json, write_lines
from quintet.errors import UsageError

if TYPE_CHECKING:
    from quintet.evaluation.tuning.tune import TuningResult


@grouped
def tune_command(
    source: QueryOptions,
    dry_run: Annotated[bool, flag("--dry-run", "Show what would be written, and write nothing.")] = False,
    undo: Annotated[bool, flag("--undo", "Restore the numbers from before the last tuning.")] = False,
    as_json: AsJson = False,
) -> int:
    """Choose the few numbers of the house ranking for an index, and keep them if they gain.

    DIR holds queries and judgements, as for 'quintet eval'; --self uses questions made from the index. The
    numbers are chosen on some of the queries and measured on the others. They are written only if the 95 %
    interval of the gain lies above zero; --undo restores the old ones, and exits with 3 if there are none.

    \b
    Example:
      quintet tune asked --dry-run
      quintet tune --self
      quintet tune --undo
    """
    if undo:
        if source.folder is not None or source.own or source.split is not None or dry_run:
            raise UsageError("--undo can be combined only with --db and --json; leave the other options out")
        return _undo(existing_folder(source.db), as_json)
    source.check()
    from quintet.cli.progress import progress
    from quintet.evaluation.beir import has_corpus
    from quintet.evaluation.tuning.tune import tune
    from quintet.index import BACKENDS

    has_its_own_index = source.folder is not None and has_corpus(source.folder)
    db = source.db if has_its_own_index else existing_folder(source.db)
    with progress() as bars:
        tuning = tune(replace(source.request("train"), db=db), BACKENDS, bars, dry_run=dry_run)
    tell_notes(tuning.notes)
    if as_json:
        write_json(_as_json(tuning))
    else:
        write_lines(_lines(tuning, _undo_command(source.db)))
    return 0


def _undo_command(db: Path | None) -> str:
    return "quintet tune --undo" + (f" --db {shlex.quote(str(db))}" if db is not None else "")


def _undo(folder: Path, as_json: bool) -> int:
    from quintet.evaluation.tuning.tuned_numbers import TunedNumbers

    tuned = TunedNumbers(folder.absolute())
    step = tuned.undo()
    undone, now = dict(step.numbers) if step else {}, tuned.numbers()
    if step is None:
        tell(f"note: {tuned.file} is not a valid file of 'quintet tune', and was removed [broken]")
    if as_json:
        write_json({"undone": undone, "tuned": now})
    else:
        left = _listed(now) if now else "the defaults"
        write(f"undone: {_listed(undone) or 'a broken file'}\nin use from now on: {left}\n")
    return 0


def _listed(numbers: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in numbers.items())


def _lines(tuning: "TuningResult", undo_command: str) -> Iterator[str]:
    choice = tuning.choice
    folds = len(choice.folds)
    yield f"{tuning.dataset}: {tuning.queries} queries in {folds} folds, {tuning.combinations} combinations"
    width = max(map(len, choice.before))
    yield f"{'':<{width}}  {'before':>7}  {'after':>7}  chosen in each fold"
    for name, before in choice.before.items():
        chosen = " ".join(f"{fold.chosen[name]:g}" for fold in choice.folds)
        yield f"{name:<{width}}  {before:>7g}  {choice.after[name]:>7g}  {chosen}"
    before, after = choice.means
    low, high = choice.gain.interval
    yield f"nDCG@10 {before:.4f} before; {after:.4f} with what was chosen on the queries of the other folds"
    yield (
        f"gain {choice.gain.difference:+.4f}, 95 % interval {low:+.4f} to {high:+.4f}, p {choice.gain.p:.4f}"
    )
    if tuning.file is None:
        yield f"nothing was written: {tuning.reason}"
    else:
        yield f"written to {tuning.file}; to undo this: {undo_command}"


def _as_json(tuning: "TuningResult") -> dict[str, object]:
    choice = tuning.choice
    return {
        "dataset": tuning.dataset,
        "queries": tuning.queries,
        "combinations": tuning.combinations,
        "metric": "ndcg@10",
        "before": {"numbers": dict(choice.before), "mean": choice.means[0]},
        "after": {"numbers": dict(choice.after), "mean": choice.means[1]},
        "gain": choice.gain._asdict(),
        "folds": [
            {
                "queries": fold.queries,
                "numbers": dict(fold.chosen),
                "before": fold.before,
                "after": fold.after,
            }
            for fold in choice.folds
        ],
        "written": tuning.file is not None,
        "reason": tuning.reason,
    }


def register(app: typer.Typer) -> None:
    app.command("tune", short_help="Fit the ranking's numbers to your queries.")(tune_command)
