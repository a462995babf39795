"""The outline of a file from its syntax tree: symbols, imports and mentions. Each language has its own
extractor."""

from importlib import import_module
from typing import TYPE_CHECKING

from quintet.codegraph.language import Language
from quintet.codegraph.scan import Scan
from quintet.model.symbols import Outline

if TYPE_CHECKING:
    from tree_sitter import Node


def extract(root: "Node", source: bytes, path: str, language: Language) -> Outline:
    """What the file at `path` (relative, `/`-separated) defines and mentions. Broken parts are left out."""
    outline: Outline = import_module(language.extractor).outline_of(Scan(root, source, path, language))
    return outline
