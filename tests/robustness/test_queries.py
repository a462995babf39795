"""Nothing a person types may raise, lose a leg or make a body that cannot be sent."""

import json
import random
from collections.abc import Iterator
from itertools import product

import pytest

import quintet
from quintet import Index, UsageError
from robustness.strange import FRAGMENTS, ODD, OPERATORS, WORDS, strange_queries

SEED = 5
TOTAL = 20_000
LONG = 100_000  # characters

REQUESTS = [
    *(("quintet", {"mode": mode}) for mode in ("lexical", "semantic", "hybrid")),
    *(("rifflux", {"mode": mode}) for mode in ("lexical", "semantic", "hybrid")),
    *(("harness", {"mode": mode}) for mode in ("keyword", "semantic", "hybrid")),
    *(("knowledge", {"search_method": mode}) for mode in ("keyword", "semantic", "hybrid")),
    ("knowledge", {"search_method": "hybrid", "query_preprocessing": "normalize"}),
    ("mcb", {}),
    ("mcb", {"graph_expansion": {"related": {"radius": 1}}}),
    *(("cfs", {"mode": mode}) for mode in ("lexical", "semantic", "hybrid")),
    *((name, {"syntax": "fts5"}) for name in ("quintet", "rifflux", "harness", "knowledge", "mcb", "cfs")),
]
LEXICAL = [
    (name, params)
    for name, params in REQUESTS
    if "semantic" not in params.values() and "syntax" not in params
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """Sixty documents: two of each word, with others around it."""
    base = tmp_path_factory.mktemp("queries")
    files = base / "files"
    files.mkdir()
    for number, (word, side) in enumerate(product(WORDS, ("plain", "second"))):
        (files / f"{number:02d}.md").write_text(
            f"# Page {number}\n\nThe {word} of the {side} page.\n", "utf-8"
        )
    (files / "60.txt").write_text("What is X? A and B, not C near D.\n", "utf-8")
    (files / "61.txt").write_text("\U0001f50d \U0001f50e emoji only in name\n", "utf-8")
    with quintet.open(base / "index", embedder="hashing") as opened:
        assert opened.sync([files]).problems == []
        yield opened


def _ask(index: Index, query: str, contract: str, params: dict[str, object]) -> str | None:
    """What is found, as text that was sent and received; None where the request is refused."""
    try:
        response = index.search(query, contract, **params)
    except UsageError as error:
        assert error.code in {"bad_query", "embeddings_unavailable"}
        assert error.message.splitlines() == [error.message]
        error.message.encode("utf-8")
        return None
    sent = json.dumps(response.wire(), ensure_ascii=False, allow_nan=False).encode("utf-8")
    return json.dumps(json.loads(sent), ensure_ascii=False)


@pytest.mark.usefixtures("untraced")
def test_twenty_thousand_hostile_queries_raise_nothing_but_usage_errors(index: Index) -> None:
    chance = random.Random(SEED)
    for number, query in enumerate(strange_queries(chance, TOTAL)):
        contract, params = REQUESTS[number % len(REQUESTS)]
        answer = _ask(index, query, contract, {**params, "limit": 3})
        assert answer is not None or params.get("syntax") == "fts5" or not _searchable(query, params), repr(
            query
        )


def _searchable(query: str, params: dict[str, object]) -> bool:
    if params.get("query_preprocessing") == "normalize":
        return any(char.isalnum() for char in query)
    return bool(query.replace("\0", " ").strip())


@pytest.mark.parametrize(("contract", "params"), LEXICAL)
def test_a_word_that_is_in_a_document_finds_it_whatever_stands_around_it(
    index: Index, contract: str, params: dict[str, object]
) -> None:
    chance = random.Random(SEED)
    junk = [one for one in (*OPERATORS, *FRAGMENTS, *ODD) if '"' not in one]
    for word in WORDS:
        for _ in range(6):
            before, behind = chance.choice(junk), chance.choice(junk)
            query = f"{before} {word} {behind}"
            answer = index.search(query, contract, **params, limit=20)
            assert word in json.dumps(answer.wire(), ensure_ascii=False), query
            assert not {note["code"] for note in answer.notes} & {"no_searchable_terms", "leg_failed"}


@pytest.mark.parametrize(("contract", "params"), LEXICAL)
def test_an_unclosed_quote_does_not_hide_the_word_behind_it(
    index: Index, contract: str, params: dict[str, object]
) -> None:
    for query in ('"lantern', 'lantern"', '"lantern" "', '" lantern', '"""lantern', "'lantern"):
        assert "The lantern of" in (_ask(index, query, contract, params) or ""), query


@pytest.mark.parametrize(("contract", "params"), REQUESTS[:16])
def test_a_hundred_thousand_characters_are_answered(
    index: Index, contract: str, params: dict[str, object]
) -> None:
    for unit in (
        "lantern harbour ",
        "lantern.",
        "lantern検索",
        "a ",
        "検索",
        '"lantern harbour" ',
        "\U0001f50d",
        "\0 x",
    ):
        query = "page " + (unit * LONG)[:LONG]
        answer = index.search(query, contract, **params)
        assert json.dumps(answer.wire(), allow_nan=False)


def test_one_phrase_of_a_hundred_thousand_characters_is_answered(index: Index) -> None:
    for contract, params in LEXICAL:
        index.search('"' + ("the page of the " * LONG)[: LONG - 2] + '"', contract, **params)


def test_a_capped_query_says_so(index: Index) -> None:
    words = " ".join(f"word{number}" for number in range(1_000))
    codes = [note["code"] for note in index.search(words, "rifflux").notes]
    assert codes == ["terms_capped", "query_cut"]


@pytest.mark.parametrize("query", ["", " ", "\t\n", "\0", "\0 \0", "\u3000"])
def test_a_blank_query_is_refused_with_what_to_do(index: Index, query: str) -> None:
    with pytest.raises(UsageError, match="give at least one word") as caught:
        index.search(query)
    assert caught.value.code == "bad_query"


def test_a_query_without_any_word_is_answered_with_a_note(index: Index) -> None:
    for query in ("???", '"', "!!", "(", "*", "\ufffd"):
        response = index.search(query, "rifflux", mode="lexical")
        assert response.body["results"] == []
        assert [note["code"] for note in response.notes] == ["no_searchable_terms"], query


def test_a_lone_surrogate_is_echoed_as_the_replacement_character(index: Index) -> None:
    assert index.search("lantern \ud800", "rifflux").body["query"] == "lantern \ufffd"


@pytest.mark.parametrize("command", ["*reads", "*id", "*"])
def test_a_command_of_fts5_itself_is_not_a_query(index: Index, command: str) -> None:
    with pytest.raises(UsageError, match="not valid FTS5"):
        index.search(command, "rifflux", syntax="fts5")


def test_an_overlong_phrase_is_looked_up_by_its_beginning(index: Index) -> None:
    response = index.search('"' + "the lantern of the plain page " * 1_000 + '"', "cfs", mode="lexical")
    assert [note["code"] for note in response.notes] == ["terms_capped", "phrase_not_found"]


def test_bad_fts5_syntax_names_the_position(index: Index) -> None:
    with pytest.raises(UsageError) as caught:
        index.search("lantern AND", "rifflux", syntax="fts5")
    assert caught.value.code == "bad_query"
    assert caught.value.details == {"position": len("lantern AND")}
