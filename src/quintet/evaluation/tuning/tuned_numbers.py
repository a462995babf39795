"""The numbers that `quintet tune` chose for an index: tuned.json in its folder. quintet.toml overrules them.

The file may come with an index from a stranger, so it is checked like the parameters of a request.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from quintet.contracts import HOUSE, contract_named, read
from quintet.errors import Conflict, NotFound, StoreError, UsageError
from quintet.model.parameters import is_number, shown
from quintet.model.results import Note
from quintet.ports.health import HealthCheck
from quintet.processes import private
from quintet.settings import Settings, regular_text

FILE = "tuned.json"
VERSION = 1
MOST_STEPS = 20  # that can be undone
# Few values, far apart: among many near ones chance would decide. `half_score` acts like `semantic_weight`.
AXES: Mapping[str, tuple[float, ...]] = {
    "semantic_weight": (0.3, 0.5, 0.7, 0.9),
    "heading_weight": (1.0, 1.5, 3.0),
    "feedback": (0.0, 0.2, 0.4),
}


@dataclass(frozen=True, slots=True)
class TunedStep:
    """Numbers that were written, and the queries and gain behind them."""

    numbers: Mapping[str, float]
    dataset: str
    queries: int
    embedder: str
    gain: float
    interval: tuple[float, float]


class TunedNumbers:
    """The tuned numbers of the index in a folder. The file is read again whenever it changes."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / FILE
        self._read: tuple[tuple[int, ...] | None, tuple[TunedStep, ...]] = None, ()

    def steps(self) -> tuple[TunedStep, ...]:
        """Oldest first; the last one is in use."""
        stamp = self._stamp()
        if stamp is None:
            return ()
        known, steps = self._read
        if stamp != known:
            steps = _read_steps(self.file)
            self._read = stamp, steps
        return steps

    def numbers(self) -> dict[str, float]:
        steps = self.steps()
        return dict(steps[-1].numbers) if steps else {}

    def step_for(self, embedder: str | None) -> TunedStep | None:
        """The step in use with vectors of this embedder; numbers tuned for another one are not used."""
        steps = self.steps()
        return steps[-1] if steps and steps[-1].embedder == embedder else None

    def numbers_in_use(self, embedder: str | None) -> dict[str, float]:
        """Empty if the file cannot be read: `examine` says what is wrong with it."""
        try:
            step = self.step_for(embedder)
        except Conflict:
            return {}
        return dict(step.numbers) if step else {}

    def apply_to(
        self, settings: Settings, contract: str, embedder: str | None
    ) -> tuple[Settings, tuple[Note, ...]]:
        """The settings with the tuned numbers as defaults, and a note if these are ignored.

        Only the house contract has tuned numbers, so a broken file does not stop other contracts.
        """
        if contract != HOUSE or not (steps := self.steps()):
            return settings, ()
        step = steps[-1]
        if step.embedder != embedder:
            message = f"the tuned numbers are ignored: they were tuned {_mismatch(step, embedder)}"
            return settings, (Note(code="tuned_for_another", message=message),)
        table = {**step.numbers, **settings.contracts.get(HOUSE, {})}
        return replace(settings, contracts={**settings.contracts, HOUSE: table}), ()

    def add(self, step: TunedStep, after: tuple[TunedStep, ...]) -> None:
        """Use these numbers from now on, if `after` are still the steps in the file."""
        if self.steps() != after:
            raise Conflict(f"{self.file} was written by another process meanwhile; run 'quintet tune' again")
        self._write((*after, step)[-MOST_STEPS:])

    def undo(self) -> TunedStep | None:
        """Remove the last step and return it.

        A file that cannot be read is removed with all its steps; then the result is None.
        """
        try:
            steps = self.steps()
        except Conflict:
            self._write(())
            return None
        if not steps:
            raise NotFound(
                f"the index in {self.file.parent} is not tuned, so there is nothing to undo", code="not_tuned"
            )
        self._write(steps[:-1])
        return steps[-1]

    def examine(self, embedder: str | None) -> HealthCheck:
        """Is the file sound, and does it belong to the vectors that the index has now?"""
        try:
            steps = self.steps()
        except Conflict as error:
            return HealthCheck("tuned", False, error.message)
        if not steps:
            return HealthCheck("tuned", True, "no: the ranking uses the defaults or quintet.toml")
        last = steps[-1]
        if embedder != last.embedder:
            return HealthCheck("tuned", False, _mismatch(last, embedder))
        return HealthCheck(
            "tuned", True, f"by {last.queries} queries of {last.dataset}, gain {last.gain:+.4f}"
        )

    def _stamp(self) -> tuple[int, ...] | None:
        try:
            stat = self.file.stat()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _broken(self.file, error.strerror or str(error)) from error
        return stat.st_ino, stat.st_mtime_ns, stat.st_size

    def _write(self, steps: tuple[TunedStep, ...]) -> None:
        """Write the whole file or nothing."""
        draft = self.file.with_name(f".{FILE}.{os.getpid()}")
        try:
            if not steps:
                self.file.unlink()
                return
            content = {"version": VERSION, "steps": [asdict(step) for step in steps]}
            with private.open_new(draft) as out:
                out.write((json.dumps(content, indent=1) + "\n").encode())
                out.flush()
                os.fsync(out.fileno())
            draft.replace(self.file)
        except OSError as error:
            raise StoreError(f"{self.file} cannot be written: {error.strerror or error}") from error
        finally:
            draft.unlink(missing_ok=True)


def _mismatch(step: TunedStep, embedder: str | None) -> str:
    vectors = f"the vectors are of {embedder}" if embedder else "there are no vectors"
    return f"for {step.embedder}, but {vectors}; run 'quintet tune' again, or 'quintet tune --undo'"


def _read_steps(file: Path) -> tuple[TunedStep, ...]:
    try:
        content = json.loads(regular_text(file))
        if content["version"] != VERSION or not 1 <= len(content["steps"]) <= MOST_STEPS:
            raise ValueError("it has another version, or no steps")
        return tuple(map(_checked_step, content["steps"]))
    except UsageError as error:
        raise _broken(file, error.message) from error
    except (OSError, ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
        raise _broken(file, str(error)[:200]) from error


def _checked_step(fields: Mapping[str, Any]) -> TunedStep:
    step = TunedStep(**fields)
    unknown = sorted(step.numbers.keys() - AXES.keys())
    if unknown or not step.numbers:
        raise ValueError(f"it may set {', '.join(AXES)}, not {shown(unknown)}")
    checked = read(HOUSE, contract_named(HOUSE).parameters, step.numbers, {})
    low, high = step.interval
    if not (isinstance(step.queries, int) and all(map(is_number, (low, high, step.gain)))):
        raise ValueError("a count or a gain in it is not a number")
    if not (isinstance(step.dataset, str) and isinstance(step.embedder, str)):
        raise ValueError("a name in it is not text")
    numbers = {name: getattr(checked, name) for name in step.numbers}
    return replace(step, numbers=numbers, interval=(low, high))


def _broken(file: Path, reason: str) -> Conflict:
    return Conflict(
        f"{file} is not a valid file of 'quintet tune': {reason}; "
        "remove it, as 'quintet tune --undo' does, to use the defaults"
    )
