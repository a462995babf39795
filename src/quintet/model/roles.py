"""What a file is for, as its path says: source, tests, examples, documentation, a change log, the build, code
that somebody else or a program wrote, or code that newer code replaces."""

import re
from functools import lru_cache
from typing import Literal

Role = Literal[
    "source", "test", "example", "docs", "changelog", "build", "generated", "vendored", "superseded"
]

_FLAGS = re.IGNORECASE
# The first that matches decides. Folder names are those of the common build tools of each language.
_PATTERNS: tuple[tuple[Role, re.Pattern[str]], ...] = (
    (
        "vendored",
        re.compile(r"(?:^|/)(?:vendor|vendored|third[_-]?party|external|deps|node_modules)/", _FLAGS),
    ),
    (
        "generated",
        re.compile(
            r"(?:^|/)(?:generated|autogen)/|[._-](?:pb|generated|gen|min)\.\w+$|_pb2(?:_grpc)?\.pyi?$", _FLAGS
        ),
    ),
    (
        "test",
        re.compile(
            r"(?:^|/)(?:tests?|testing|testdata|__tests__|specs?|fixtures?|mocks?|e2e)/"
            r"|(?:^|/)(?:tests?[_-][^/]*|conftest\.py)$|[._-](?:tests?|specs?)\.\w+$|(?-i:[a-z](?:Tests?|Specs?))\.\w+$"
            r"|(?-i:[a-z]Suite)\.scala$|(?:^|/)src/(?-i:[a-z]+Test)/",
            _FLAGS,
        ),
    ),
    (
        "changelog",
        re.compile(
            r"(?:^|/)(?:change[_-]?logs?|changes|(?:version[_-]?)?history|news|whats[_-]?new|releases?)"
            r"(?:[_-][^/.]*)?(?:\.(?:mdx?|markdown|rst|adoc|txt|html?|[0-9]+))*$",
            _FLAGS,
        ),
    ),
    (
        "build",
        re.compile(r"(?:^|/)(?:setup|conf|noxfile|tasks)\.py$|(?:^|/)(?:gulp|grunt|rake)file[^/]*$", _FLAGS),
    ),
    ("example", re.compile(r"(?:^|/)(?:examples?|samples?|demos?|benchmarks?|bench)/", _FLAGS)),
    ("superseded", re.compile(r"(?:^|/)(?:deprecated|legacy|obsolete)/", _FLAGS)),
)
_ANY = re.compile("|".join(pattern.pattern for _, pattern in _PATTERNS), _FLAGS)  # most files match none
_DOCS = re.compile(r"(?:^|/)(?:docs?|documentation|site)/|\.(?:md|mdx|rst|adoc|txt)$", _FLAGS)
_PROSE = re.compile(r"\.(?:md|mdx|markdown|rst|adoc|txt|html?|ipynb|pdf|docx|pptx|epub)$", _FLAGS)


@lru_cache(maxsize=16_384)
def role_of(path: str) -> Role:
    """
    >>> role_of("src/app.py"), role_of("tests/app.py"), role_of("app_test.go"), role_of("CHANGES.rst")
    ('source', 'test', 'test', 'changelog')
    """
    if _ANY.search(path):
        return next(role for role, pattern in _PATTERNS if pattern.search(path))
    return "docs" if _DOCS.search(path) else "source"


def is_prose(path: str) -> bool:
    """Whether the file is written for readers, as its ending says.

    >>> is_prose("docs/guide.md"), is_prose("docs/logo.svg")
    (True, False)
    """
    return _PROSE.search(path) is not None
