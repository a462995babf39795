"""Each language is declared once, in its folder, by names that its grammar knows."""

import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest

from quintet.codegraph import languages
from quintet.codegraph.grammar import kind_ids
from quintet.codegraph.language import Language
from quintet.codegraph.languages.registry import FAMILIES, LANGUAGES
from quintet.codegraph.layout import COMMENTS, IMPORTS
from quintet.codegraph.resolve.imports import import_resolver
from quintet.formats.registry import BY_EXTENSION, BY_NAME


def test_every_folder_of_a_language_is_registered() -> None:
    folders = {file.parent.name for file in Path(languages.__file__).parent.glob("*/__init__.py")}
    assert {language.name for language in LANGUAGES} == folders | {"tsx"}


def test_no_file_name_means_two_things() -> None:
    endings = list(chain.from_iterable(language.endings for language in LANGUAGES)) + list(BY_EXTENSION)
    names = list(chain.from_iterable(language.file_names for language in LANGUAGES)) + list(BY_NAME)
    assert sorted(set(endings)) == sorted(endings)
    assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_the_grammar_of_a_language_has_every_node_type_that_is_declared(language: Language) -> None:
    assert sorted(language.kinds.keys() - kind_ids(language).keys()) == []


def test_every_node_type_of_comments_and_imports_is_in_some_grammar() -> None:
    known = set(chain.from_iterable(kind_ids(language) for language in LANGUAGES))
    assert sorted((COMMENTS | IMPORTS) - known) == []


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_a_family_has_a_resolver_of_imports(family: str) -> None:
    assert import_resolver(family) is import_resolver(family)


def test_the_declarations_load_no_grammar_and_no_extractor() -> None:
    program = (
        "import sys, quintet.codegraph.languages.registry;"
        "print([name for name in sys.modules if name.startswith('tree_sitter') or name.endswith('.extract')])"
    )
    ran = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
