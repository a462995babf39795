"""Writes docs/cli.md from the commands themselves: `python -m quintet.cli.reference FILE`, or `make docs`."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from quintet.cli.main import app

INTRODUCTION = """\
<!-- Generated from the commands by `make docs`. Change their help texts instead of this page. -->
# The command line: reference

Every command takes `-h` and `--help`. [Using the command line](cli-guide.md) explains output, exit codes and
where the index lies.
"""
OPTION = re.compile(r"(?<![\w`-])(--[a-z]+(?:-[a-z]+)*)")
COMMAND = re.compile(r"'(quintet [^']+)'")
ALIGNED = "\b"  # Click's mark for a paragraph whose lines stay as they are


def reference() -> str:
    """The whole page."""
    group: Any = typer.main.get_command(app)
    commands = list(_commands(group, "quintet"))
    return "\n".join([INTRODUCTION, *_overview(commands), *_details(group, "quintet")])


def _commands(group: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every command and group below, each behind its parent."""
    for name, command in group.commands.items():
        yield f"{path} {name}", command
        if hasattr(command, "commands"):
            yield from _commands(command, f"{path} {name}")


def _overview(commands: list[tuple[str, Any]]) -> Iterator[str]:
    yield "| command | does |"
    yield "|---|---|"
    for path, command in commands:
        yield f"| [{path}](#{path.replace(' ', '-')}) | {_markdown(command.get_short_help_str(200))} |"
    yield ""


def _details(command: Any, path: str) -> Iterator[str]:
    level = "#" * max(2, path.count(" ") + 1)
    yield f"{level} {path}\n"
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    if path != "quintet":
        yield f"`{' '.join([path, *(_usage(argument) for argument in arguments)])}`\n"
    yield from _help(command.help or "")
    if command.params:
        yield from _parameters(command.params)
    for name, below in getattr(command, "commands", {}).items():
        yield from _details(below, f"{path} {name}")


def _usage(argument: Any) -> str:
    name = str(argument.metavar)
    return name if argument.required else f"[{name}]"


def _help(text: str) -> Iterator[str]:
    for paragraph in text.strip().split("\n\n"):
        if paragraph.lstrip(" ").startswith(ALIGNED):
            _, _, *lines = paragraph.splitlines()  # the mark, and the word "Example:"
            yield "\n".join(["```text", *(line.strip() for line in lines), "```\n"])
        else:
            yield f"{_markdown(' '.join(paragraph.split()))}\n"


def _parameters(parameters: list[Any]) -> Iterator[str]:
    yield "| option | meaning | default |"
    yield "|---|---|---|"
    for parameter in parameters:
        cells = (_name(parameter), _markdown(parameter.help or ""), _default(parameter))
        yield "|" + "".join(f" {cell} |" if cell else " |" for cell in cells)
    yield ""


def _name(parameter: Any) -> str:
    metavar = str(parameter.metavar or "").replace("|", "\\|")
    if parameter.param_type_name == "argument":
        return f"`{metavar}`"
    flags = [*parameter.opts, *parameter.secondary_opts]
    return ", ".join(f"`{flag} {metavar}`" if metavar else f"`{flag}`" for flag in flags)


def _default(parameter: Any) -> str:
    value = parameter.default
    if isinstance(value, bool) and parameter.secondary_opts:
        return f"`{(parameter.opts if value else parameter.secondary_opts)[0]}`"
    is_shown = isinstance(value, str | int) and not isinstance(value, bool)
    return f"`{value}`" if is_shown else ""


def _markdown(text: str) -> str:
    """Commands and options as code; a bar must not end a cell of a table."""
    return OPTION.sub(r"`\1`", COMMAND.sub(r"`\1`", text)).replace("|", "\\|")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(reference(), "utf-8", newline="\n")
