"""The command line: `quintet index`, `search`, `status`, `get`, `forget`, `doctor`.

Results go to standard output, everything else to standard error. Exit codes: 0 found, 1 no match, errors by
their class (see `quintet.errors`), 70 a fault of ours, 130 interrupted.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

import typer

from quintet.cli import terminal
from quintet.cli.commands import agents as agent_commands
from quintet.cli.commands import context as context_command
from quintet.cli.commands import evaluate as eval_commands
from quintet.cli.commands import graph as graph_commands
from quintet.cli.commands import knowledge as knowledge_commands
from quintet.cli.commands import memory as memory_commands
from quintet.cli.commands import models as model_commands
from quintet.cli.commands import receipts as receipt_commands
from quintet.cli.commands import search_all as search_all_command
from quintet.cli.commands import serve as server_commands
from quintet.cli.commands import tune as tune_command
from quintet.cli.commands.index_and_search import app
from quintet.cli.terminal import OutputFailed, ReaderGone, tell
from quintet.errors import QuintetError, UsageError

FAULT = 70  # EX_SOFTWARE of sysexits.h
INTERRUPTED = 130  # 128 + SIGINT, as shells say it

agent_commands.register(app)
server_commands.register(app)
model_commands.register(app)
receipt_commands.register(app)
memory_commands.register(app)
search_all_command.register(app)
graph_commands.register(app)
knowledge_commands.register(app)
context_command.register(app)
eval_commands.register(app)
tune_command.register(app)


def main() -> NoReturn:
    """The `quintet` script."""
    # Before numpy is loaded: more BLAS threads make a query slower, and runs use processes instead.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    terminal.prepare()
    sys.exit(run())


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line; the exit code. Every error ends here, as one line (and a caret) or as JSON."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    as_json = "--json" in given[: given.index("--") if "--" in given else None]
    try:
        code = int(app(given, prog_name="quintet", standalone_mode=False) or 0)
    except ReaderGone:
        terminal.abandon()
        return 0
    except QuintetError as error:
        return _failed(error, as_json)
    except typer.TyperException as error:
        return _failed(_misused(error), as_json)
    except KeyboardInterrupt:
        code = INTERRUPTED
    except Exception as error:
        return _fault(error, as_json)
    if code == INTERRUPTED:  # Typer turns Ctrl-C inside a command into this code
        tell("quintet: interrupted; what was committed is kept")
    return code


def _misused(error: typer.TyperException) -> UsageError:
    """What Typer found wrong with the command line, as an error of ours."""
    command = getattr(getattr(error, "ctx", None), "command_path", "quintet")
    message = error.format_message().rstrip(".")
    is_text = message.startswith("No such option: -") and not message.startswith("No such option: --")
    hint = "put -- before text that begins with -, or " if is_text else ""
    return UsageError(f"{message}; {hint}see '{command} --help'")


def _failed(error: QuintetError, as_json: bool) -> int:
    if isinstance(error, OutputFailed):
        terminal.abandon()
    _complain(error.code, error.message, error.details, as_json and not isinstance(error, OutputFailed))
    return error.exit_code


def _fault(error: Exception, as_json: bool) -> int:
    if terminal.is_debugging():
        import traceback

        traceback.print_exception(error)
    kind = f"{type(error).__name__}: {error}"
    message = f"unexpected {kind}; please report this, with what QUINTET_DEBUG=1 shows"
    _complain("internal_error", message, {}, as_json)
    return FAULT


def _complain(code: str, message: str, details: Mapping[str, object], as_json: bool) -> None:
    if as_json:
        try:
            terminal.document({"error": {"code": code, "message": message, "details": dict(details)}})
            return
        except (ReaderGone, OutputFailed):  # nobody can read it there: say it below
            terminal.abandon()
    first, *pointed = message.split("\n") if "position" in details else [message]
    for line in (f"quintet: {first} [{code}]", *pointed):
        tell(line)
