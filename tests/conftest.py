"""For all tests: one BLAS thread, and property tests that try the same examples every time."""

import os
import signal
from collections.abc import Iterator

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: threads of tests side by side spin

import coverage
import pytest
from hypothesis import settings

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background; tests send it
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("quintet", deadline=None, derandomize=True)
settings.load_profile("quintet")


@pytest.fixture
def untraced() -> Iterator[None]:
    """For thousands of repetitions of what other tests cover, and for what a tracer would disturb."""
    measuring = coverage.Coverage.current()
    if measuring is not None:
        measuring.stop()
    yield
    if measuring is not None:
        measuring.start()
