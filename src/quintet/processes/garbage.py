"""Garbage collection while many objects without cycles are created: rows, texts, syntax trees, edges."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

GC_THRESHOLD = 50_000  # new objects between two collections


@contextmanager
def collect_garbage_rarely() -> Iterator[None]:
    """Raise the threshold of the collector, unless it is off or higher already."""
    before = gc.get_threshold()
    if not 0 < before[0] < GC_THRESHOLD:
        yield
        return
    gc.set_threshold(GC_THRESHOLD, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
