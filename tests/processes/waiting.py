"""Waiting for processes that are not our children."""

import os
import select


def gone(pid: int) -> bool:
    """Waits for the end of this process."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], 60)[0])
    finally:
        os.close(handle)
