"""The Python of the documentation passes `mypy --strict`, as the documentation says."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ATTRIBUTES = """
import quintet


def places(index: quintet.Index, query: str) -> list[str]:
    return [f"{one.path}:{one.lines[0]}" for one in index.search(query, limit=3) if one.score > 0]


def best(response: quintet.Response) -> quintet.Result | None:
    return response.results[0] if len(response) else None


def wrong(response: quintet.Response) -> None:
    print(response.results[0].pth)
"""


def test_every_page_of_python_is_typed(tmp_path: Path) -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for page in pages:
        code = "\n".join(PYTHON.findall(page.read_text("utf-8")))
        if code:
            (tmp_path / (re.sub(r"\W", "_", page.stem) + "_page.py")).write_text(code, "utf-8")
    (tmp_path / "attributes.py").write_text(ATTRIBUTES, "utf-8")
    options = ["--strict", "--config-file", "", "--cache-dir", str(ROOT / ".mypy_cache" / "docs")]
    mypy = subprocess.run(
        [sys.executable, "-m", "mypy", *options, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert not mypy.stderr
    errors = [line for line in mypy.stdout.splitlines() if ": error: " in line]
    (refused,) = errors
    assert '"Result" has no attribute "pth"' in refused
