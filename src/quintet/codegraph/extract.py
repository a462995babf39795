"""Symbols, imports and mentions out of a syntax tree: one module a language or family of languages."""

from importlib import import_module
from typing import TYPE_CHECKING

from quintet.codegraph.scan import Scan
from quintet.model.symbols import Outline

if TYPE_CHECKING:
    from tree_sitter import Node

# Language -> the module whose `outline_of(scan)` reads it.
_MODULES = {
    "python": "python",
    "javascript": "javascript",
    "typescript": "javascript",
    "tsx": "javascript",
    "rust": "rust",
    "go": "go",
    "java": "java",
    "c": "c",
    "cpp": "cpp",
    "csharp": "csharp",
    "ruby": "ruby",
    "php": "php",
    "bash": "bash",
}


def extract(root: "Node", source: bytes, path: str, language: str) -> Outline:
    """What the file at `path` (relative, `/`-separated) defines and mentions. Broken source gives what is
    sound of it; a language without an extractor gives the module alone."""
    scan = Scan(root, source, path, language)
    if language not in _MODULES:
        return scan.outline(keep_unbound=False)
    module = import_module(f"quintet.codegraph.languages.{_MODULES[language]}.extract")
    found: Outline = module.outline_of(scan)
    return found
