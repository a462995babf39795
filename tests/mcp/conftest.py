"""Fixtures of the MCP tests. The helpers lie in mcp_support.py: `mcp.` names belong to the SDK."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import quintet
from quintet.serving.shared_index import SharedIndex

sys.path.append(str(Path(__file__).parent))

from mcp_support import fill, http_server


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A folder of files, not indexed yet."""
    return fill(tmp_path / "library")


@pytest.fixture
def shared(library: Path) -> Iterator[SharedIndex]:
    """The shared to an empty index of the library, whose folder is the server's own."""
    opened = SharedIndex(quintet.open(library / ".quintet", "hashing"), base=library)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that is indexed once, for tests that only read."""
    folder = fill(tmp_path_factory.mktemp("shelf"))
    with quintet.open(folder / ".quintet", "hashing") as index:
        index.sync([folder])
    return folder


@pytest.fixture(scope="session")
def address(shelf: Path) -> Iterator[str]:
    """Where that library is served over HTTP."""
    with http_server(shelf) as (found, _):
        yield found
