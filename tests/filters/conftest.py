"""The fixture of tests/contracts, for filters inside a query."""

from contracts.conftest import library

__all__ = ["library"]
