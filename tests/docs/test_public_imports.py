"""The documentation uses only public names: those of `quintet.__all__`, and the package `quintet.testing`."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import quintet

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PUBLIC_PACKAGES = ("quintet", "quintet.testing")


def private_names(code: str) -> Iterator[str]:
    """Modules and names of Quintet that `code` imports or reads without their being public.

    >>> list(private_names("import quintet.index; from quintet import open; quintet.settings"))
    ['quintet.index', 'quintet.settings']
    """
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Import(names=names):
                modules = [alias.name for alias in names if alias.name.startswith("quintet.")]
                yield from (module for module in modules if module not in PUBLIC_PACKAGES)
            case ast.ImportFrom(module="quintet", names=names):
                yield from (f"quintet.{alias.name}" for alias in names if alias.name not in quintet.__all__)
            case ast.ImportFrom(module=str(module)) if module.startswith("quintet."):
                yield from [module] if module not in PUBLIC_PACKAGES else []
            case ast.Attribute(value=ast.Name(id="quintet"), attr=name) if name not in quintet.__all__:
                yield f"quintet.{name}"


def test_python_in_the_documentation_uses_public_names_only() -> None:
    private = [
        f"{page.relative_to(ROOT)}: {name}"
        for page in PAGES
        if page.exists()
        for code in PYTHON.findall(page.read_text("utf-8"))
        for name in private_names(code)
    ]
    assert private == []


def test_every_public_name_can_be_imported() -> None:
    assert [name for name in quintet.__all__ if not hasattr(quintet, name)] == []
