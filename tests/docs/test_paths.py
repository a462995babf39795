"""The pages for contributors name files and folders that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLACES = (ROOT, ROOT / "src" / "quintet")  # where a path starts
PATH = re.compile(r"`([\w./-]+(?:\.py|/))`")


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "ARCHITECTURE.md"])
def test_every_path_exists(page: str) -> None:
    named = PATH.findall((ROOT / page).read_text("utf-8"))
    paths = [path for path in named if "NAME" not in path]  # a placeholder
    assert len(paths) > 10
    assert [path for path in paths if not any((place / path).exists() for place in PLACES)] == []
