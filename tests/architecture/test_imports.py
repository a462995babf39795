"""The import rule of ARCHITECTURE.md, read off the source. A folder or module that it does not list fails."""

import ast
from pathlib import Path

import quintet

PACKAGE = Path(quintet.__file__).parent

# Each folder or module, and what it may import besides itself.
MODEL = {"model", "errors"}
PORTS = {"ports", "contracts", "filters", "ranking", "settings", *MODEL}
ENGINE = {"query", "indexing", "codegraph", "formats", "processes", "collection", *PORTS}
FEATURES = {"memory", "knowledge", "receipts", "evaluation"}
BELOW: dict[str, set[str]] = {
    "errors": set(),
    "model": {"errors"},
    "settings": MODEL,
    "processes": {"errors"},
    "ranking": MODEL,
    "filters": MODEL,
    "contracts": {"ranking", "filters", *MODEL},
    "ports": {"contracts", "ranking", "filters", *MODEL},
    "formats": {"processes", "settings", *MODEL},
    "codegraph": {"formats", *PORTS},
    "embed": {"processes", *PORTS},
    "storage": {"processes", *PORTS},
    "query": PORTS,
    "indexing": {"codegraph", "formats", "processes", *PORTS},
    "collection": ENGINE - {"collection"},
    "status": ENGINE,
    **dict.fromkeys(FEATURES, ENGINE),
    "testing": PORTS,
    "index": {"embed", "storage", "status", *FEATURES, *ENGINE},
    "backups": {"storage", "knowledge", "indexing", "processes", "ports", "errors"},
    "serving": {"index", "status", *FEATURES, *ENGINE},
    "mcp": {"serving", "index", "status", *FEATURES, *ENGINE},
    "http": {"mcp", "serving", "index", "status", *FEATURES, *ENGINE},
    "cli": {"http", "mcp", "backups", "serving", "embed", "index", "status", *FEATURES, *ENGINE},
    "__main__": {"cli"},
    "__init__": {"index", "backups", "indexing", "query", "knowledge", "receipts", "contracts", "errors"},
}
PURE = {"ranking", "contracts", "filters"}
IMPURE = {"os", "io", "time", "random", "secrets", "socket", "subprocess", "pathlib", "threading", "tempfile"}
CONFINED = {
    "apsw": {"storage"},
    "numkong": {"embed", "storage"},
    "tantivy": {"storage"},
    "rustworkx": {"storage"},
    "tree_sitter": {"codegraph"},
    "markdown_it": {"formats"},
    "typer": {"cli"},
    "rich": {"cli"},
    "mcp": {"mcp"},
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
                if node.module == "quintet":
                    found += [(name, f"quintet.{alias.name}") for alias in node.names]
                else:
                    found.append((name, node.module or ""))
    return found


def layer(file: str) -> str:
    return file.split("/")[0].removesuffix(".py")


def test_every_folder_and_module_is_listed() -> None:
    present = {layer(file.relative_to(PACKAGE).as_posix()) for file in PACKAGE.rglob("*.py")}
    assert sorted(present ^ BELOW.keys()) == []


def test_each_layer_imports_only_the_layers_below_it() -> None:
    public = set(quintet.__all__)
    wrong = []
    for file, module in imports():
        here, parts = layer(file), module.split(".")
        if parts[0] != "quintet" or len(parts) < 2:
            continue
        if parts[1] in public:  # `quintet.open` and the like are the index's own
            parts[1] = "index"
        if parts[1] != here and parts[1] not in BELOW[here]:
            wrong.append(f"{file} imports {module}")
    assert wrong == []


def test_ranking_contracts_and_filters_know_no_disk_clock_or_chance() -> None:
    wrong = [(f, m) for f, m in imports() if layer(f) in PURE and m.split(".")[0] in IMPURE]
    assert wrong == []


def test_ranking_needs_only_the_standard_library() -> None:
    allowed = {"quintet", "collections", "dataclasses", "math", "typing", "itertools", "functools"}
    wrong = [(f, m) for f, m in imports() if layer(f) == "ranking" and m.split(".")[0] not in allowed]
    assert wrong == []


def test_ranking_never_adds_by_sum_whose_last_bit_depends_on_the_version_of_python() -> None:
    for file in sorted((PACKAGE / "ranking").glob("*.py")):
        names = (node for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Name))
        assert "sum" not in {node.id for node in names}, file.name


def test_each_library_is_used_in_one_place() -> None:
    wrong = []
    for file, module in imports():
        for library, places in CONFINED.items():
            if module.split(".")[0].startswith(library) and layer(file) not in places:
                wrong.append(f"{file} imports {module}")
    assert wrong == []


def test_sql_is_written_only_in_storage() -> None:
    words = ("SELECT ", "INSERT INTO ", "DELETE FROM ", "CREATE TABLE ")
    wrong = []
    for file in sorted(PACKAGE.rglob("*.py")):
        name = file.relative_to(PACKAGE).as_posix()
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
            if layer(name) != "storage" and text.startswith(words):
                wrong.append(f"{name}: {text[:40]}")
    assert wrong == []
