"""`quintet tune`: the house ranking's numbers chosen for what is searched, or put back."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quintet.cli import options
from quintet.cli.commands.evaluate import Folder, Own
from quintet.cli.options import AsJson
from quintet.cli.terminal import document, safe, tell, write
from quintet.errors import UsageError

if TYPE_CHECKING:
    from quintet.evaluation.tuning.tune import Tuning

Split = Annotated[
    str | None,
    typer.Option("--split", metavar="NAME", help="Which judgements: qrels/NAME.tsv, by default train."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be written, and write nothing.")]
Undo = Annotated[bool, typer.Option("--undo", help="Put back the numbers from before the last tuning.")]
TuneDb = Annotated[
    Path | None,
    typer.Option("--db", metavar="DIR", help="The index; with a corpus, where that is indexed and kept."),
]


def register(app: typer.Typer) -> None:
    app.command("tune", short_help="Fit the ranking's numbers to what is searched.")(tune_command)


def tune_command(
    folder: Folder = None,
    split: Split = None,
    own: Own = False,
    as_json: AsJson = False,
    dry_run: DryRun = False,
    undo: Undo = False,
    db: TuneDb = None,
) -> int:
    """Choose the few numbers of the house ranking for an index, and keep them if they gain.

    DIR holds queries and judgements, as for 'quintet eval'; with --self the index is asked its own
    questions. The numbers are chosen on some of the queries and measured on the others. They are written
    only if the 95 % interval of the gain lies above zero; --undo takes them back.

    \b
    Example:
      quintet tune asked --dry-run
      quintet tune --self
      quintet tune --undo
    """
    _check_asked(folder, own, split, dry_run, undo)
    if undo:
        return _undo(options.index_folder(db), as_json)
    from quintet.cli.render import progress
    from quintet.evaluation.evaluate import Request
    from quintet.evaluation.judgements import has_corpus
    from quintet.evaluation.tuning.tune import tune

    place = db if folder is not None and has_corpus(folder) else options.index_folder(db)
    request = Request(folder, "train" if split is None else options.as_text(split), db=place)
    with progress() as shown:
        made = tune(request, shown, dry_run=dry_run)
    for note in made.notes:
        tell(f"note: {note['message']} [{note['code']}]")
    if as_json:
        document(_as_json(made))
    else:
        write("".join(f"{safe(line)}\n" for line in _lines(made, _undoing(db))))
    return 0


def _check_asked(folder: Path | None, own: bool, split: str | None, dry_run: bool, undo: bool) -> None:
    if undo and (folder is not None or own or split is not None or dry_run):
        raise UsageError("--undo goes with --db and --json only; leave the rest out")
    if undo:
        return
    if own == (folder is not None):
        raise UsageError("name the folder of a collection, or ask the index itself with --self; one of them")
    if own and split is not None:
        raise UsageError("--split chooses the judgements of a collection, and --self has none; leave it out")


def _undoing(db: Path | None) -> str:
    """The command that takes back what this one wrote."""
    return "quintet tune --undo" + (f" --db {shlex.quote(str(db))}" if db is not None else "")


def _undo(place: Path, as_json: bool) -> int:
    from quintet.evaluation.tuning.tuned import Tuned

    tuned = Tuned(place.absolute())
    step = tuned.undo()
    undone, now = dict(step.numbers) if step else {}, tuned.numbers()
    if step is None:
        tell(f"note: {tuned.file} could not be read as what 'quintet tune' writes, and is removed [broken]")
    if as_json:
        document({"undone": undone, "tuned": now})
    else:
        left = _listed(now) if now else "the defaults"
        write(f"undone: {_listed(undone) or 'a broken file'}\nin use from now on: {left}\n")
    return 0


def _listed(numbers: Any) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in numbers.items())


def _lines(made: "Tuning", undoing: str) -> Iterator[str]:
    found = made.choice
    folds = len(found.folds)
    yield f"{made.dataset}: {made.queries} queries in {folds} folds, {made.combinations} combinations"
    width = max(map(len, found.before))
    yield f"{'':<{width}}  {'before':>7}  {'after':>7}  chosen in each fold"
    for name, before in found.before.items():
        chosen = " ".join(f"{fold.chosen[name]:g}" for fold in found.folds)
        yield f"{name:<{width}}  {before:>7g}  {found.after[name]:>7g}  {chosen}"
    before, after = found.means
    low, high = found.gain.interval
    yield f"nDCG@10 {before:.4f} before; {after:.4f} with what was chosen on the queries of the other folds"
    yield f"gain {found.gain.difference:+.4f}, 95 % of it {low:+.4f} to {high:+.4f}, p {found.gain.p:.4f}"
    if made.file is None:
        yield f"nothing was written: {made.reason}"
    else:
        yield f"written to {made.file}; to take it back: {undoing}"


def _as_json(made: "Tuning") -> dict[str, object]:
    found = made.choice
    return {
        "dataset": made.dataset,
        "queries": made.queries,
        "combinations": made.combinations,
        "metric": "ndcg@10",
        "before": {"numbers": dict(found.before), "mean": found.means[0]},
        "after": {"numbers": dict(found.after), "mean": found.means[1]},
        "gain": {
            "difference": found.gain.difference,
            "interval": list(found.gain.interval),
            "p": found.gain.p,
        },
        "folds": [
            {
                "queries": one.queries,
                "numbers": dict(one.chosen),
                "before": one.before,
                "after": one.after,
            }
            for one in found.folds
        ],
        "written": made.file is not None,
        "reason": made.reason,
    }
