"""For all tests: one BLAS thread, and property tests that try the same examples every time."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: threads of tests side by side spin

from hypothesis import settings

settings.register_profile("quintet", deadline=None, derandomize=True)
settings.load_profile("quintet")
