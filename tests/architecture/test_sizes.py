"""Files and functions that a reader can hold in mind, and names that mean one thing."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import quintet

PACKAGE = Path(quintet.__file__).parent
LONGEST_FILE = 400  # lines
LONGEST_FUNCTION = 60
SHARED_NAMES = {"Params"}  # what each contract takes


def trees() -> Iterator[tuple[str, ast.Module, int]]:
    for file in sorted(PACKAGE.rglob("*.py")):
        text = file.read_text("utf-8")
        yield file.relative_to(PACKAGE).as_posix(), ast.parse(text), text.count("\n")


def test_no_file_is_too_long() -> None:
    assert [name for name, _, lines in trees() if lines > LONGEST_FILE] == []


def test_no_function_is_too_long() -> None:
    too_long = [
        f"{name}:{node.lineno} {node.name}"
        for name, tree, _ in trees()
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and (node.end_lineno or 0) - node.lineno + 1 > LONGEST_FUNCTION
    ]
    assert too_long == []


def test_a_class_name_means_one_thing() -> None:
    places = defaultdict(list)
    for name, tree, _ in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and node.name not in SHARED_NAMES:
                places[node.name].append(name)
    assert {name: files for name, files in places.items() if len(files) > 1} == {}
