"""What the engine has to know about a programming language. See docs/adding-a-language.md.

A declaration imports nothing heavy: the grammar, the extractor and the import rules are named here and loaded
when a file of the language is first read.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

NONE: frozenset[str] = frozenset()


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def node_kinds(text: str) -> dict[str, str]:
    """Node type -> kind of definition.

    >>> node_kinds("class_definition:class function_definition:function")
    {'class_definition': 'class', 'function_definition': 'function'}
    """
    return dict(word.split(":") for word in text.split())


@dataclass(frozen=True, slots=True, eq=False)
class NameRules:
    """How names work in a family. `home` says what the definitions of a file belong to: the file as a module,
    its folder, the package or namespace that it declares, or one space for all files."""

    home: Literal["file", "folder", "package", "none"] = "none"
    implicit_self: bool = False  # a bare name inside a class may mean a member of it
    open_classes: bool = False  # a class may be written in several places, under one qualified name
    closed_scopes: bool = False  # a scope sees only what is written in it and around it
    includes: bool = False  # an import without a name brings in everything
    passes_includes_on: bool = False  # a file also sees what its included files include
    star_names: bool = True  # a bare name may come from an import of everything
    nested_namespaces: bool = False  # a bare name may mean something in any enclosing namespace


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Languages that can use one another's definitions.

    `imports` is a module with the `ImportResolver` called `IMPORTS`; without it an import is a qualified name
    such as `a.b.Class`.
    """

    name: str
    rules: NameRules
    builtins: frozenset[str] = NONE
    imports: str = ""
    module_endings: tuple[str, ...] = ()  # dropped from the name of a module; an earlier one is preferred
    folder_files: frozenset[str] = NONE  # a file of this name stands for its folder


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """`extractor` is a module with the function `outline_of(scan)`. The grammar is the package
    `tree_sitter_NAME`, unless `grammar` names another one. `kinds` are what the language itself calls its
    definitions, where that says more than the kind of the symbol."""

    name: str
    mime_type: str
    endings: tuple[str, ...]
    family: Family
    extractor: str
    kinds: Mapping[str, str] = field(default_factory=dict)  # node type -> kind of the chunk
    grammar: str = ""
    grammar_function: str = "language"  # of the package: gives the tree-sitter language
    file_names: tuple[str, ...] = ()  # in lower case: names that say what a file without an ending is
