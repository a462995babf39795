"""What a query is read as, and what it names."""

import pytest

from quintet.contracts.intent import (
    MAX_NAMES,
    MAX_WORDS,
    Name,
    is_pasted,
    looks_like_code,
    read_intent,
    title_of,
    words_of,
)

TRACEBACK = "Traceback (most recent call last):\n  File \"src/app.py\", line 3, in run\nKeyError: 'x'"


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("HTTPAdapter", "symbol"),
        ("prepare_body", "symbol"),
        ("Rack::Builder", "symbol"),
        ("`Cache.get()`", "symbol"),
        ("src/requests/adapters.py", "path"),
        ("adapters.py:120", "path"),
        (TRACEBACK, "traceback"),
        ("    at Object.run (lib/core/Axios.js:40:5)", "traceback"),
        ("KeyError: 'user' is missing", "error"),
        ("fatal: not a git repository", "error"),
        ('"time to live"', "phrase"),
        ("word " * 61, "issue"),
        ("Title\n\nIt fails\nwith this\n", "issue"),
        ("how long does an entry live", "words"),
        ("retry", "words"),
        ("C++", "words"),
        ("what is e.g. a cache", "question"),
    ],
)
def test_a_query_is_read_for_what_it_is(query: str, kind: str) -> None:
    assert read_intent(query).kind == kind


def test_words_are_split_inside_names_and_stop_words_are_left_out() -> None:
    assert words_of("How is the HTTPAdapter of urllib3 closed?") == (
        "http",
        "adapter",
        "urllib",
        "3",
        "closed",
    )
    assert words_of("how to") == ("how", "to"), "nothing else is left"
    assert words_of("$$$") == ()


def test_long_text_has_bounded_words_and_names() -> None:
    intent = read_intent(" ".join(f"name_{at}x word{at}" for at in range(500)))
    assert len(intent.words) <= MAX_WORDS and len(intent.names) == MAX_NAMES


@pytest.mark.parametrize("unit", ["A", "a.", "a/", "a-", "a@", "\n", "_", "::", "at a (", '"', "`a`", "0."])
def test_the_longest_query_is_read_in_linear_time(unit: str) -> None:
    """In quadratic time this would not end."""
    assert read_intent((unit * 200_000)[:200_000]).kind


def test_names_are_identifiers_that_look_like_code_with_what_is_around_them() -> None:
    assert read_intent("Rack::Builder").names == (Name("Builder", ("Rack",)),)
    assert read_intent("retry").names == (Name("retry"),), "a single word is a name"
    assert read_intent("how does retry work").names == ()
    assert read_intent("how does `retry` call run() in Session").names == (
        Name("retry"),
        Name("run"),
        Name("Session"),
    )


def test_paths_are_files_with_a_known_ending() -> None:
    assert read_intent("see src/app.py:30 and README.md, not e.g. this or 3.14").paths == (
        "src/app.py",
        "README.md",
    )


@pytest.mark.parametrize(
    ("query", "roles"),
    [
        ("how is retry tested", ()),
        ("retry tests", ("test",)),
        ("the changelog of version 2", ("changelog",)),
        ("readme", ("docs",)),
    ],
)
def test_a_query_asks_for_roles_by_name(query: str, roles: tuple[str, ...]) -> None:
    assert read_intent(query).roles == roles


def test_pasted_text_has_a_title_unless_the_next_line_goes_on() -> None:
    assert is_pasted(TRACEBACK) and not is_pasted("why does it fail")
    assert title_of("It fails\n\nSteps:\n1. run") == "It fails"
    assert title_of("The query was wrapped\nafter some words\nand goes on\n") == ""
    assert title_of("one line") == "" and title_of("x" * 201 + "\nY") == ""


@pytest.mark.parametrize(
    ("word", "is_code"), [("getUser", True), ("a_b", True), ("end.", False), ("The", False)]
)
def test_names_of_code_are_told_by_their_shape(word: str, is_code: bool) -> None:
    assert looks_like_code(word) is is_code


@pytest.mark.parametrize(
    "query",
    [
        "how to merge two calendars",
        "can it read zip files",
        "is there a way to stop",
        "where are my keys kept",
    ],
)
def test_who_wants_to_do_something_asks_a_question(query: str) -> None:
    assert read_intent(query).kind == "question"


@pytest.mark.parametrize(
    "query", ["how jobs are stored", "I/O loop", "scan folders", "whyever", "mycache youth"]
)
def test_who_wants_to_know_how_code_works_asks_no_question(query: str) -> None:
    assert read_intent(query).kind == "words"


@pytest.mark.parametrize(
    ("query", "literals"),
    [
        ("HTTPAdapter", ("HTTPAdapter",)),
        ("Cache.get", ("get",)),
        ("how wraps_all handles Quantity arguments", ("wraps_all",)),
        ("Cannot convert from 'meter' to 'second'", ("Cannot convert from",)),
        ("KeyError: no job by the id of (17) was found", ("no job by the id of", "was found")),
        ("KeyError: 17", ()),
        ("src/app.py", ()),
        (TRACEBACK, ()),
        ("evict old entries", ()),
        ("fox", ()),
    ],
)
def test_names_and_the_fixed_parts_of_a_message_are_looked_up_word_for_word(
    query: str, literals: tuple[str, ...]
) -> None:
    assert read_intent(query).literals == literals


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("a.py:12", ("a.py", 12)),
        ('File "src/a.py", line 7, in f', ("src/a.py", 7)),
        ("see a.py", ("a.py", 0)),
    ],
)
def test_a_path_may_have_a_line(query: str, place: tuple[str, int]) -> None:
    intent = read_intent(query)
    assert list(zip(intent.paths, intent.lines, strict=True)) == [place]
