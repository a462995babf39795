"""The outline of a file from its syntax tree: symbols, imports and mentions. Each language has its own
extractor."""

from importlib import import_module

from quintet.codegraph.scan import Scan
from quintet.codegraph.source import SourceFile
from quintet.model.symbols import Outline


def extract(file: SourceFile) -> Outline:
    """What a file defines and mentions. Broken parts are left out."""
    outline: Outline = import_module(file.language.extractor).outline_of(Scan(file))
    return outline
