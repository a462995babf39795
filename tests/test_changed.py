"""Which tests `make check` runs for a changed file."""

from pathlib import Path

import pytest

from changed import targets_of

FILES = (
    "src/quintet/query/search.py",
    "src/quintet/query/legs.py",
    "src/quintet/storage/text/postings/score.py",
    "src/quintet/settings.py",
    "tests/query/test_search.py",
    "tests/query/conftest.py",
    "tests/storage/text/test_index.py",
    "tests/test_settings.py",
    "bench/speed.py",
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("src/quintet/query/search.py", ["src/quintet/query/search.py", "tests/query/test_search.py"]),
        ("src/quintet/query/legs.py", ["src/quintet/query/legs.py", "tests/query"]),
        (
            "src/quintet/storage/text/postings/score.py",
            ["src/quintet/storage/text/postings/score.py", "tests/storage/text"],
        ),
        ("src/quintet/settings.py", ["src/quintet/settings.py", "tests/test_settings.py"]),
        ("tests/query/test_search.py", ["tests/query/test_search.py"]),
        ("tests/query/conftest.py", ["tests/query"]),
        ("bench/speed.py", []),
        ("src/quintet/deleted.py", []),
    ],
)
def test_a_file_is_tested_by_the_tests_with_the_same_path(root: Path, file: str, expected: list[str]) -> None:
    assert list(targets_of(file, root)) == expected
