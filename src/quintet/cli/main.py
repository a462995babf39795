"""The `quintet` command: its Typer application, and the one place where errors become exit codes.

Results go to standard output, everything else to standard error. Exit codes: 0 success, 1 no match, those of
errors (see `quintet.errors`), 70 an internal error, 130 interrupted.
"""

import os
import re
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, NoReturn

import typer

from quintet.cli import terminal
from quintet.cli.commands import (
    backup,
    context,
    documents,
    evaluate,
    graph,
    hnsw,
    index,
    install,
    keys,
    knowledge,
    memory,
    models,
    receipts,
    search,
    search_all,
    serve,
    status,
    tune,
    watch,
)
from quintet.cli.exit_codes import FAULT, INTERRUPTED, TERMINATED
from quintet.cli.terminal import Interrupted, OutputFailed, ReaderGone, tell, write
from quintet.errors import QuintetError, UsageError

app = typer.Typer(
    add_completion=True,
    rich_markup_mode=None,  # plain help: fast, and without colour codes wherever it is printed
    pretty_exceptions_enable=False,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

for _commands in (
    index,
    search,
    documents,
    status,
    watch,
    context,
    search_all,
    graph,
    receipts,
    memory,
    knowledge,
    evaluate,
    tune,
    models,
    hnsw,
    serve,
    keys,
    backup,
    install,
):
    _commands.register(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        from quintet import __version__

        write(f"quintet {__version__}\n")
        raise typer.Exit


@app.callback()
def quintet_command(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Search your folders by words and by meaning, and see why each result has its rank.

    An index is one folder, .quintet. Commands find it from any folder below the one that holds it.

    \b
    Example:
      quintet index
      quintet search "how long are answers cached" --explain
    """
    if context.invoked_subcommand is None:
        write(context.get_help() + "\n")


def main() -> NoReturn:
    """The entry point of the `quintet` script."""
    # Before numpy is loaded: more BLAS threads make a query slower, and indexing uses processes instead.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    terminal.use_utf8()
    signal.signal(signal.SIGTERM, _terminate)
    sys.exit(run())


# Half of a UTF-16 pair, which Windows lets through; others stand for the bytes of a POSIX file name.
HALF_PAIR = re.compile("[\ud800-\udc7f\udd00-\udfff]")
ENDED_BY_SIGNAL = {INTERRUPTED: "interrupted", TERMINATED: "terminated"}


class Terminated(BaseException):
    """SIGTERM came. Like KeyboardInterrupt, it ends a run with what was committed and its workers with it."""


def _terminate(number: int, frame: object) -> NoReturn:
    raise Terminated


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code. Every error ends here, as one line or as JSON."""
    given = sys.argv[1:] if arguments is None else arguments
    words = [HALF_PAIR.sub("\ufffd", word) for word in given]
    as_json = "--json" in words[: words.index("--") if "--" in words else None]
    try:
        code = int(app(words, prog_name="quintet", standalone_mode=False) or 0)
    except ReaderGone:
        terminal.discard_output()
        return 0
    except QuintetError as error:
        return _failed(error, as_json)
    except typer.TyperException as error:
        return _failed(_usage_error(error), as_json)
    except Interrupted as interrupt:
        tell(f"quintet: {interrupt}")
        return INTERRUPTED
    except KeyboardInterrupt:
        code = INTERRUPTED
    except Terminated:
        code = TERMINATED
    except Exception as error:
        return _fault(error, as_json)
    if code in ENDED_BY_SIGNAL:  # Typer turns Ctrl-C inside a command into the code of one
        tell(f"quintet: {ENDED_BY_SIGNAL[code]}; what was committed is kept")
    return code


def _usage_error(error: typer.TyperException) -> UsageError:
    """Typer's complaint about the command line, as an error of ours."""
    command = getattr(getattr(error, "ctx", None), "command_path", "quintet")
    message = error.format_message().rstrip(".")
    is_text = message.startswith("No such option: -") and not message.startswith("No such option: --")
    hint = "put -- before text that begins with -, or " if is_text else ""
    return UsageError(f"{message}; {hint}see '{command} --help'")


def _failed(error: QuintetError, as_json: bool) -> int:
    if isinstance(error, OutputFailed):
        terminal.discard_output()
    _report(error.code, error.message, error.details, as_json and not isinstance(error, OutputFailed))
    return error.exit_code


def _fault(error: Exception, as_json: bool) -> int:
    from quintet.settings import is_debugging

    if is_debugging():
        import traceback

        traceback.print_exception(error)
    kind = f"{type(error).__name__}: {error}"
    message = f"unexpected {kind}; please report this, with what QUINTET_DEBUG=1 shows"
    _report("internal_error", message, {}, as_json)
    return FAULT


def _report(code: str, message: str, details: Mapping[str, object], as_json: bool) -> None:
    if as_json:
        try:
            terminal.write_json({"error": {"code": code, "message": message, "details": dict(details)}})
            return
        except (ReaderGone, OutputFailed):  # nobody can read it there: use standard error
            terminal.discard_output()
    first, *rest = message.split("\n") if "position" in details else [message]
    for line in (f"quintet: {first} [{code}]", *rest):
        tell(line)
