"""Processes that share work must run the same code: an upgrade may replace it under a program that runs."""

import os


def stamp(file: str) -> str:
    """A source file as it is now. To be taken when it is imported."""
    try:
        return f"{file} {os.stat(file).st_mtime_ns}"  # noqa: PTH116  (what a module is called is a string)
    except OSError:  # it lies in an archive
        return file
