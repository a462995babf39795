"""`quintet watch`: keep the index up to date as files change."""

import signal
import threading
from typing import TYPE_CHECKING

import typer

from quintet.cli.index_folder import open_index
from quintet.cli.options import Db
from quintet.cli.terminal import tell, write

if TYPE_CHECKING:
    from quintet.indexing.run import Report


def watch_command(db: Db = None) -> int:
    """Keep the index up to date as files change, until interrupted.

    It first brings everything up to date, like 'quintet index', then each change soon after it happens.

    \b
    Example:
      quintet watch
    """
    from quintet.indexing.watch import check_watchable, watch

    check_watchable()
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with open_index(db) as index:
        tell(f"watching {', '.join(root.location for root in index.roots()) or 'nothing yet'}")
        watch(index, stop, _show)
    return 0


def _show(report: "Report") -> None:
    counts = ("indexed", "skipped", "removed", "embedded", "pending")
    write(", ".join(f"{getattr(report, name)} {name}" for name in counts) + "\n")
    for problem in report.problems:
        tell(f"warning: {problem.path}: {problem.reason}")


def register(app: typer.Typer) -> None:
    app.command("watch", short_help="Keep the index up to date as files change.")(watch_command)
