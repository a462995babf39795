"""Exit codes that do not come from an error. Those of errors are declared in `quintet.errors`."""

from collections.abc import Sized

from quintet.errors import NotFound

NO_MATCH = 1
FAULT = 70  # EX_SOFTWARE of sysexits.h
INTERRUPTED = 130  # 128 + SIGINT, as in shells
TERMINATED = 143  # 128 + SIGTERM


def of_results(results: Sized, status: str) -> int:
    """Tell "no match" from "never indexed"."""
    if len(results):
        return 0
    return NotFound.exit_code if status == "never_indexed" else NO_MATCH
