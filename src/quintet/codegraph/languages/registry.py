"""Every language that has a grammar. A new one is a folder and a line here: see docs/adding-a-language.md."""

from quintet.codegraph.language import Family, Language
from quintet.codegraph.languages.bash import BASH
from quintet.codegraph.languages.c import C
from quintet.codegraph.languages.cpp import CPP
from quintet.codegraph.languages.csharp import CSHARP
from quintet.codegraph.languages.elixir import ELIXIR
from quintet.codegraph.languages.go import GO
from quintet.codegraph.languages.haskell import HASKELL
from quintet.codegraph.languages.java import JAVA
from quintet.codegraph.languages.javascript import JAVASCRIPT
from quintet.codegraph.languages.kotlin import KOTLIN
from quintet.codegraph.languages.lua import LUA
from quintet.codegraph.languages.php import PHP
from quintet.codegraph.languages.python import PYTHON
from quintet.codegraph.languages.ruby import RUBY
from quintet.codegraph.languages.rust import RUST
from quintet.codegraph.languages.scala import SCALA
from quintet.codegraph.languages.swift import SWIFT
from quintet.codegraph.languages.typescript import TSX, TYPESCRIPT
from quintet.codegraph.languages.zig import ZIG

LANGUAGES: tuple[Language, ...] = (
    PYTHON,
    JAVASCRIPT,
    TYPESCRIPT,
    TSX,
    RUST,
    GO,
    JAVA,
    C,
    CPP,
    CSHARP,
    RUBY,
    PHP,
    BASH,
    SWIFT,
    KOTLIN,
    SCALA,
    ELIXIR,
    LUA,
    HASKELL,
    ZIG,
)
BY_NAME: dict[str, Language] = {language.name: language for language in LANGUAGES}
_BY_ENDING = {ending: language for language in LANGUAGES for ending in language.endings}
_BY_FILE_NAME = {name: language for language in LANGUAGES for name in language.file_names}
ENDINGS: frozenset[str] = frozenset(_BY_ENDING)
FAMILIES: dict[str, Family] = {language.family.name: language.family for language in LANGUAGES}


def language_of(path: str) -> Language | None:
    """The language that a file's name promises.

    >>> language_of("src/Parser.HPP").name, language_of("Rakefile").name, language_of("notes.md")
    ('cpp', 'ruby', None)
    """
    name = path.rpartition("/")[2].lower()
    return _BY_FILE_NAME.get(name) or _BY_ENDING.get(name.rpartition(".")[2] if "." in name else "")
