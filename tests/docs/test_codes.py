"""Every note and error code, every language and every file extension is in the docs."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from quintet.codegraph.languages.registry import BY_NAME, ENDINGS
from quintet.formats.registry import BY_EXTENSION

ROOT = Path(__file__).resolve().parents[2]
CODE = re.compile(r"[a-z]+(_[a-z]+)+")
FIRST = ("note", "_note", "error_body")  # calls whose first argument is a code
SECOND = ("RequestError",)


def words_of_docs() -> set[str]:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "contracts").glob("*.md")]
    return {word for page in pages for word in re.findall(r"`([^`\n]+)`", page.read_text("utf-8"))}


def codes(tree: ast.AST) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from (keyword.value for keyword in node.keywords if keyword.arg == "code")
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            yield from node.args[:1] if name in FIRST else ()
            yield from node.args[1:2] if name in SECOND else ()
        elif isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            yield from (
                value for key, value in pairs if isinstance(key, ast.Constant) and key.value == "code"
            )


def test_every_code_of_an_error_or_a_note_is_in_the_docs() -> None:
    used = {
        code.value
        for file in sorted((ROOT / "src").rglob("*.py"))
        for code in codes(ast.parse(file.read_text("utf-8")))
        if isinstance(code, ast.Constant) and isinstance(code.value, str) and CODE.fullmatch(code.value)
    }
    assert {"nothing_passes", "busy_writer", "invalid_range", "slow_client", "results_cut"} <= used
    assert sorted(used - words_of_docs()) == []


def test_every_language_and_every_extension_with_its_own_format_is_in_the_docs() -> None:
    documented = set(re.findall(r"`([^`\n]+)`", (ROOT / "docs" / "formats.md").read_text("utf-8")))
    own = ENDINGS | {ending for ending, form in BY_EXTENSION.items() if form.parser != "lines"}
    languages = BY_NAME.keys() | {form.language for form in BY_EXTENSION.values() if form.language}
    assert sorted((own | languages) - documented) == []
