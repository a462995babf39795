"""Options that take a number: what is wrong, what is allowed, in the words of the engine."""

from pathlib import Path

import pytest

from cli.conftest import Quintet

NUMBERS = [
    (("search", "x"), "--limit", "limit", 1, 1000),
    (("why", "x", "docs/keys.md"), "--limit", "limit", 1, 1000),
    (("recall", "x"), "--limit", "limit", 1, 1000),
    (("search-all", "x"), "--limit", "limit", 1, 1000),
    (("related", "cache_answer"), "--limit", "limit", 1, 1000),
    (("related", "cache_answer"), "--depth", "depth", 1, 10),
    (("map",), "--budget", "budget", 1, 100_000),
    (("context", "x"), "--budget", "budget", 1, 100_000),
    (("timeline",), "--before", "before", 0, 1000),
    (("timeline",), "--after", "after", 0, 1000),
    (("kb", "documents", "faq"), "--limit", "limit", 1, 1000),
    (("eval", "--self"), "--queries", "--queries", 1, 10_000),
    (("serve",), "--port", "--port", 0, 65_535),
]


@pytest.mark.parametrize(("command", "option", "name", "least", "most"), NUMBERS)
def test_what_is_no_number_or_lies_beyond_is_refused_with_what_is_allowed(
    indexed: Path, quintet: Quintet, command: tuple[str, ...], option: str, name: str, least: int, most: int
) -> None:
    for given, shown in (("many", "'many'"), ("2.5", "'2.5'"), (str(most + 1), str(most + 1))):
        done = quintet(*command, option, given)
        assert (done.code, done.out) == (2, "")
        of = " of tokens" if option == "--budget" else ""
        allowed = f"it must be a whole number{of} from {least} to {most}"
        assert done.err == f"quintet: {name} is {shown}; {allowed} [invalid_parameter]\n"


def test_a_very_long_number_is_cut_where_it_is_shown(indexed: Path, quintet: Quintet) -> None:
    for digits in (4_000, 10_000):
        done = quintet("search", "x", "--limit", "9" * digits)
        assert done.code == 2
        assert len(done.err) < 300
