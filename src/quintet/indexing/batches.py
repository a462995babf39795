"""Cut a stream of items into batches."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def batches(items: Iterable[T], size: Callable[[T], int], max_items: int, max_size: int) -> Iterator[list[T]]:
    """Consecutive items. A batch is complete when it has `max_items`, or sizes that add up to `max_size`."""
    batch: list[T] = []
    total = 0
    for item in items:
        batch.append(item)
        total += size(item)
        if len(batch) >= max_items or total >= max_size:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch
