"""Convert command-line arguments for the engine: text, contract parameters, filters."""

import json
import os
from collections.abc import Mapping, Sequence

from quintet.errors import UsageError

RESERVED = ("query", "contract", "self")  # names that are no parameters of a contract


def as_text(argument: str) -> str:
    r"""An argument as text: bytes that are not UTF-8 become U+FFFD.

    >>> as_text("caf\udcc3\udca9 \udcff") == "caf\xe9 \ufffd"
    True
    """
    return os.fsencode(argument).decode("utf-8", "replace")


def joined(words: Sequence[str]) -> str:
    """The words of a query, which the shell has split."""
    return as_text(" ".join(words))


def as_texts(arguments: Sequence[str] | None) -> list[str]:
    return [as_text(argument) for argument in arguments or ()]


def texts_of(**arguments: str | None) -> dict[str, str]:
    """The arguments that were given, by name."""
    return {name: as_text(value) for name, value in arguments.items() if value is not None}


def json_or_text(value: str) -> object:
    """JSON where it parses, otherwise the text itself.

    >>> [json_or_text(value) for value in ("20", '{"a": 1}', "plain", "")]
    [20, {'a': 1}, 'plain', '']
    """
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def search_parameters(
    params: Sequence[str] | None, filters: Sequence[str] | None, **options: object
) -> dict[str, object]:
    """The parameters of a search. `options` are those with a dedicated option; None is left out."""
    from quintet.cli.filters import join_filters

    given = {name: as_text(value) if isinstance(value, str) else value for name, value in options.items()}
    given = {name: value for name, value in given.items() if value is not None}
    if filters:
        given["filters"] = join_filters(as_texts(filters))
    return add_parameters(given, params)


def add_parameters(
    given: Mapping[str, object], params: Sequence[str] | None, option: str = "--param"
) -> dict[str, object]:
    """`given` plus each `NAME=VALUE` of a repeatable option. Each name may occur once."""
    parameters = dict(given)
    for argument in as_texts(params):
        name, value = _parameter(argument, option)
        if name in parameters:
            raise UsageError(f"{name} was given twice; give it once", details={"parameter": name})
        parameters[name] = value
    return parameters


def _parameter(argument: str, option: str) -> tuple[str, object]:
    name, value = name_and_value(
        argument, "=", f"{option} is {argument!r}; it must be name=value, e.g. limit=5"
    )
    if name in RESERVED:
        raise UsageError(
            f"{name} is not a parameter of a contract; see 'quintet search --help'",
            details={"parameter": name},
        )
    return name, json_or_text(value)


def name_and_value(argument: str, separator: str, message: str, code: str | None = None) -> tuple[str, str]:
    """Split at the separator; without a name before it, `message` is the error."""
    name, mark, value = argument.partition(separator)
    if not mark or not name.strip():
        raise UsageError(message, code=code)
    return name.strip(), value
