"""Fixtures. What the tests import is in http_serving.py: `http` itself is a name of the standard library."""

import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from http_serving import Running, indexed, serving


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder indexed once, for tests that only read."""
    return indexed(tmp_path_factory.mktemp("shelf"))


@pytest.fixture(scope="session")
def server(shelf: Path) -> Iterator[Running]:
    """A server over the shelf, for tests that only read."""
    with serving(shelf) as running:
        yield running


@pytest.fixture(scope="session")
def client(server: Running) -> Iterator[httpx.Client]:
    with server.client() as client:
        yield client


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A folder indexed for one test alone."""
    return indexed(tmp_path / "library")
