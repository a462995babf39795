"""The import rule of ARCHITECTURE.md, read off the source."""

import ast
from pathlib import Path

import quintet

PACKAGE = Path(quintet.__file__).parent
MIDDLE = {"search", "ingest", "embed", "stores", "evaluate"}
ENGINE = {"ports", "contracts", "ranking", "model", "memo", "symbols", "merkle", "sketch", "vector", "errors"}
ENGINE |= {"settings", "writing", "pipes"}
BELOW: dict[str, set[str]] = {
    "model": set(),
    "symbols": {"model"},
    "memo": {"model"},
    "merkle": set(),
    "sketch": set(),
    "errors": set(),
    "pipes": set(),
    "vector": {"errors"},
    "ranking": {"model", "vector", "errors"},
    "contracts": {"ranking", "model", "memo", "vector", "errors"},
    "ports": {"contracts", "ranking", "model", "symbols", "vector", "errors"},
    "writing": {"ports", "model", "symbols", "vector"},
    "settings": {"model", "errors"},
    **dict.fromkeys(MIDDLE, ENGINE),
    "testing": ENGINE,
}
STANDARD_ONLY = {"ranking"}
PURE = {"ranking", "contracts"}
IMPURE = {"os", "io", "time", "random", "secrets", "socket", "subprocess", "pathlib", "threading", "tempfile"}
CONFINED = {
    "apsw": "stores",
    "numkong": "stores",
    "tantivy": "stores",
    "tree_sitter": "ingest/parse",
    "rustworkx": "stores",
    "markdown_it": "ingest/parse",
    "typer": "interfaces",
    "rich": "interfaces",
    "mcp": "interfaces",
}


def imports() -> list[tuple[str, str]]:
    """(file, imported module) for every import statement of the package, lazy ones too."""
    found = []
    for file in sorted(PACKAGE.rglob("*.py")):
        name = file.relative_to(PACKAGE).as_posix()
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found += [(name, alias.name) for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{name}: imports are absolute"
                found.append((name, node.module or ""))
                if node.module == "quintet":
                    found += [(name, f"quintet.{alias.name}") for alias in node.names]
    return found


def layer(file: str) -> str:
    return file.split("/")[0].removesuffix(".py")


def test_each_layer_imports_only_the_layers_below_it() -> None:
    wrong = []
    for file, module in imports():
        here, parts = layer(file), module.split(".")
        if parts[0] != "quintet" or here not in BELOW or len(parts) < 2:
            continue
        if parts[1] != here and parts[1] not in BELOW[here]:
            wrong.append(f"{file} imports {module}")
    assert wrong == []


def test_nothing_below_an_interface_imports_one() -> None:
    wrong = [f for f, m in imports() if m.startswith("quintet.interfaces") and layer(f) != "interfaces"]
    assert [file for file in wrong if file != "__main__.py"] == []


def test_ranking_and_contracts_know_no_disk_clock_or_chance() -> None:
    wrong = [(f, m) for f, m in imports() if layer(f) in PURE and m.split(".")[0] in IMPURE]
    assert wrong == []


def test_ranking_needs_only_the_standard_library() -> None:
    allowed = {"quintet", "collections", "dataclasses", "math", "typing", "itertools", "functools"}
    wrong = [(f, m) for f, m in imports() if layer(f) in STANDARD_ONLY and m.split(".")[0] not in allowed]
    assert wrong == []


def test_ranking_never_adds_by_sum_whose_last_bit_depends_on_the_version_of_python() -> None:
    for file in sorted((PACKAGE / "ranking").glob("*.py")):
        names = (node for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Name))
        assert "sum" not in {node.id for node in names}, file.name


def test_each_library_is_used_in_one_place() -> None:
    wrong = []
    for file, module in imports():
        for library, place in CONFINED.items():
            if module.split(".")[0].startswith(library) and not file.startswith(place):
                wrong.append(f"{file} imports {module}")
    assert wrong == []


def test_sql_is_written_only_in_stores() -> None:
    words = ("SELECT ", "INSERT INTO ", "DELETE FROM ", "CREATE TABLE ")
    wrong = []
    for file in sorted(PACKAGE.rglob("*.py")):
        name = file.relative_to(PACKAGE).as_posix()
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
            if layer(name) != "stores" and text.startswith(words):
                wrong.append(f"{name}: {text[:40]}")
    assert wrong == []
