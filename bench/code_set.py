"""A labelled code search set out of a package of PyPI: a docstring's first sentence asks for its function.

    python bench/code_set.py networkx==3.6.1 --into sets/networkx

Documents are all functions and methods of the package, each without its docstring; its title is the path and
the qualified name, as an index of code has them. `corpus.jsonl`, `queries.jsonl` and `qrels/` are laid out as
BEIR does. `files/` are the package's files without docstrings of functions, and `places.tsv` says which lines
of them are which document: so the same questions can be asked of a real index. Same package, same bytes.
"""

import argparse
import ast
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

QUERIES = 500  # of each split, at most
FEWEST_WORDS = 4  # of a question; shorter ones ("Return the name.") ask for anything
SENTENCE = re.compile(r".+?[.!?](?=\s+[A-Z]|$)")
NOT_PROSE = (">>>", ":", "..", "@", "=", "-")
TESTS = frozenset({"test", "tests", "testing", "conftest.py"})

FILES, PLACES = "files", "places.tsv"

Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a file: its name within the package, its place, its text, and what was said of it."""

    id: str
    path: str
    name: str
    first_line: int
    last_line: int
    text: str
    docstring: str

    @property
    def public(self) -> bool:
        return not any(part.startswith("_") for part in self.name.split("."))

    @property
    def question(self) -> str:
        """The first sentence of the docstring, or nothing if that is no sentence worth asking."""
        paragraph = " ".join(self.docstring.split("\n\n", 1)[0].split())
        found = SENTENCE.match(paragraph)
        sentence = found[0] if found else paragraph
        return "" if sentence.startswith(NOT_PROSE) or len(sentence.split()) < FEWEST_WORDS else sentence


def fetched(requirement: str, scratch: Path) -> Path:
    """The one folder of Python files that this distribution installs."""
    place = scratch / "installed"
    options = ("--quiet", "--no-deps", "--no-compile", "--disable-pip-version-check", "--only-binary=:all:")
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(place), requirement]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{requirement} cannot be fetched: {done.stderr.strip()[-500:]}")
    (package,) = (folder for folder in sorted(place.iterdir()) if (folder / "__init__.py").is_file())
    return package


def without_docstrings(source: str) -> str:
    """The same program; where a docstring was all that a function had, `...` stands in its stead."""
    lines = source.encode().splitlines(keepends=True)  # columns of the tree count bytes
    spans = [_docstring(node) for node in ast.walk(ast.parse(source)) if isinstance(node, Definition)]
    for node, only in sorted((span for span in spans if span), key=lambda span: -span[0].lineno):
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        before, after = lines[first][: node.col_offset], lines[last][node.end_col_offset :]
        alone = not before.strip() and not after.strip()
        lines[first : last + 1] = [] if alone and not only else [before + b"..." + after]
    return b"".join(lines).decode()


def _docstring(node: Definition) -> tuple[ast.Expr, bool] | None:
    """The statement that is the docstring, and whether it is all there is."""
    if ast.get_docstring(node, clean=False) is None:
        return None
    first = node.body[0]
    assert isinstance(first, ast.Expr)
    return first, len(node.body) == 1


def definitions(tree: ast.AST, within: tuple[str, ...] = ()) -> Iterator[tuple[str, Definition]]:
    """Functions and methods with their qualified names, in order; not those inside of functions."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Definition):
            yield ".".join((*within, node.name)), node
        elif isinstance(node, ast.ClassDef):
            yield from definitions(node, (*within, node.name))
        elif isinstance(node, ast.If | ast.Try | ast.With | ast.ExceptHandler):
            yield from definitions(node, within)


def functions(path: str, source: str, stripped: str) -> list[Function]:
    """The functions of a file as they stand in `stripped`, with their docstrings in `source`."""
    lines, seen, found = stripped.split("\n"), Counter[str](), list[Function]()
    pairs = zip(definitions(ast.parse(source)), definitions(ast.parse(stripped)), strict=True)
    for (name, described), (_, node) in pairs:
        seen[name] += 1
        again = f"#{seen[name]}" if seen[name] > 1 else ""
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        last = node.end_lineno or node.lineno
        text = "\n".join(lines[first - 1 : last])
        said = ast.get_docstring(described) or ""
        found.append(Function(f"{path}:{name}{again}", path, name, first, last, text, said))
    return found


def read(package: Path) -> tuple[dict[str, str], list[Function]]:
    """Files without docstrings of functions, by path, and all functions of the package, without its tests."""
    files, found = dict[str, str](), list[Function]()
    for file in sorted(package.rglob("*.py")):
        path = file.relative_to(package.parent).as_posix()
        if TESTS.intersection(path.split("/")[1:]):
            continue
        try:
            source = file.read_text("utf-8")
            stripped = without_docstrings(source)
        except (SyntaxError, UnicodeDecodeError):
            continue  # a template, or Python 2
        files[path] = stripped
        found.extend(functions(path, source, stripped))
    return files, found


def questions(found: Sequence[Function]) -> list[Function]:
    """Those whose question is asked once in the package and does not stand in their own text, by hash."""
    asked = Counter(_plain(function.question) for function in found)
    usable = [
        function
        for function in found
        if function.public
        and function.question
        and asked[_plain(function.question)] == 1
        and not _given_away(function)
    ]
    return sorted(usable, key=lambda function: sha256(function.id.encode()).digest())


def _given_away(function: Function) -> bool:
    return _plain(function.question).rstrip(".!?") in _plain(f"{title(function)} {function.text}")


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def title(function: Function) -> str:
    return f"{function.path} {function.name}"


def write_set(package: Path, into: Path) -> dict[str, int]:
    """Write the set; how many documents and questions there are."""
    files, found = read(package)
    usable = questions(found)
    splits = {"test": usable[:QUERIES], "train": usable[QUERIES : 2 * QUERIES]}
    (into / "qrels").mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        place = into / FILES / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8", newline="")
    _write(
        into / PLACES,
        (
            f"{function.id}\t{function.path}\t{function.first_line}\t{function.last_line}"
            for function in found
        ),
    )
    _write(
        into / "corpus.jsonl",
        (_json(_id=function.id, title=title(function), text=function.text) for function in found),
    )
    asked = sorted(
        (function for split in splits.values() for function in split), key=lambda function: function.id
    )
    _write(into / "queries.jsonl", (_json(_id=function.id, text=function.question) for function in asked))
    for name, chosen in splits.items():
        lines = sorted(f"{function.id}\t{function.id}\t1" for function in chosen)
        _write(into / "qrels" / f"{name}.tsv", ["query-id\tcorpus-id\tscore", *lines])
    sizes = {name: len(chosen) for name, chosen in splits.items()}
    return {"files": len(files), "functions": len(found), "usable": len(usable), **sizes}


def _json(**record: str) -> str:
    return json.dumps(record, ensure_ascii=False)


def _write(file: Path, lines: Iterator[str] | Sequence[str]) -> None:
    file.write_text("".join(f"{line}\n" for line in lines), "utf-8", newline="")


def name_of(requirement: str) -> str:
    """
    >>> name_of("networkx==3.6.1")
    'networkx-3.6.1'
    """
    return requirement.replace("==", "-")


def make(requirement: str, into: Path) -> dict[str, int]:
    """Fetch a package and write its set: all of it or nothing."""
    into.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".making-", dir=into.parent) as scratch:
        sizes = write_set(fetched(requirement, Path(scratch)), Path(scratch) / "set")
        (Path(scratch) / "set").rename(into)
    return sizes


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("requirement", help="a distribution with its version: networkx==3.6.1")
    parser.add_argument("--into", type=Path, required=True, help="the folder that the set is written to")
    chosen = parser.parse_args()
    print(json.dumps(make(chosen.requirement, chosen.into)))


if __name__ == "__main__":
    main()
