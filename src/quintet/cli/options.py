"""Options that several commands share, each declared once, and how options are read."""

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from quintet.cli.arguments import as_text
from quintet.errors import UsageError

Command = Callable[..., int]
MaybeText = str | None
Texts = list[str] | None  # of a repeatable option


def argument(metavar: str, help: str) -> Any:
    """A value without an option's name."""
    return typer.Argument(metavar=metavar, help=help)


def flag(name: str, help: str) -> Any:
    """An option without a value; `--on/--off` has a form for either."""
    return typer.Option(name, help=help)


def option(name: str, metavar: str, help: str) -> Any:
    """An option with a value."""
    return typer.Option(name, metavar=metavar, help=help)


def repeatable(name: str, metavar: str, help: str) -> Any:
    """An option that may be given several times."""
    return typer.Option(name, metavar=metavar, help=f"{help} Repeatable.")


def number(
    name: str,
    least: int,
    most: int,
    help: str,
    *,
    metavar: str = "N",
    parameter: str = "",
    of: str = "",
    short: str | None = None,
) -> Any:
    """An option for a whole number. The range is part of its help; errors call it `parameter`."""
    read = whole_number(parameter or name.removeprefix("--"), least, most, of)
    names = [name, *([short] if short else [])]
    return typer.Option(*names, metavar=metavar, parser=read, help=f"{help}, {least} to {most}.")


def whole_number(name: str, least: int, most: int, of: str = "") -> Callable[[str | int], int]:
    """A parser for a whole number whose error message is the one that the engine would give."""

    def read(text: str | int) -> int:
        try:
            value = int(text)
        except ValueError:
            refused = repr(as_text(str(text))[:80])
        else:
            if least <= value <= most:
                return value
            refused = str(value)[:80]
        raise UsageError(
            f"{name} is {refused}; it must be a whole number{of} from {least} to {most}",
            details={"parameter": name},
        )

    return read


def grouped(command: Command) -> Command:
    """Let a command take option groups: named tuples whose fields are declared like parameters.

    Typer sees every field as a parameter of the command; the command gets one object per group.
    """
    hints = get_type_hints(command, include_extras=True)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, type[Any]] = {}
    for parameter in inspect.signature(command).parameters.values():
        kind = hints[parameter.name]
        if not hasattr(kind, "_field_defaults"):
            parameters.append(parameter.replace(kind=parameter.KEYWORD_ONLY, annotation=kind))
            continue
        groups[parameter.name] = kind
        types = get_type_hints(kind, include_extras=True)
        for name, default in kind._field_defaults.items():
            field = inspect.Parameter(name, parameter.KEYWORD_ONLY, default=default, annotation=types[name])
            parameters.append(field)

    @wraps(command)
    def call(**values: Any) -> int:
        objects = {
            name: kind(**{field: values.pop(field) for field in kind._fields})
            for name, kind in groups.items()
        }
        return command(**objects, **values)

    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call


Db = Annotated[
    Path | None,
    option("--db", "DIR", "The index folder. By default the nearest .quintet, from here upwards."),
]
AsJson = Annotated[bool, flag("--json", "Print one JSON document to standard output, and nothing else.")]
Query = Annotated[list[str], argument("QUERY...", "What to look for: words, with or without quotes.")]
Limit = Annotated[int | None, number("--limit", 1, 1000, "How many results", short="-n")]
Budget = Annotated[
    int,
    number(
        "--budget",
        1,
        100_000,
        "How long the text may be, in tokens of about 4 characters",
        metavar="TOKENS",
        of=" of tokens",
    ),
]
