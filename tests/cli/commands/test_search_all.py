"""`quintet search-all`: code and memory in one list."""

import json
from pathlib import Path

import pytest

import quintet as engine
from cli.conftest import Quintet, on_terminal


@pytest.fixture
def both(library: Path, quintet: Quintet) -> Path:
    assert quintet("index", "--embedder", "hashing").code == 0
    with engine.open(library / ".quintet") as index:
        index.memory.remember("the cache was cold on monday", tags=["cold"])
        index.memory.remember("cache answers for five minutes", "decision", about=["src/store.py"])
    return library


def test_results_of_both_kinds_stand_in_their_one_order(both: Path, quintet: Quintet) -> None:
    done = quintet("search-all", "cache answers")
    body = json.loads(quintet("search-all", "cache answers", "--json").out)
    assert (done.code, done.err) == (0, "")
    heads = [line for line in done.out.splitlines() if line[:4].strip().rstrip(".").isdecimal()]
    places = {one["node"]["id"]: one["node"]["path"] for one in body["code"]}
    places |= {one["id"]: f"{one['kind']}  {one['id']}" for one in body["memory"]}
    assert len(heads) == len(body["hybrid_rank"])
    for number, (head, one) in enumerate(zip(heads, body["hybrid_rank"], strict=True), 1):
        assert head.startswith(f"{number:>2}. {places[one['id']]}")
    assert "    about src/store.py: unchanged" in done.out.splitlines()
    assert done.out.count("\n\n") == len(heads) - 1


def test_the_document_is_the_body_with_status_and_notes(both: Path, quintet: Quintet) -> None:
    done = quintet("search-all", "cache", "--json", "--limit", "1", "--code", "filters=path:src/**")
    with engine.open(both / ".quintet") as index:
        expected = index.search_all(
            "cache", code={"limit": 1, "filters": "path:src/**"}, memory={"limit": 1}
        ).wire()
    assert done.out == json.dumps(expected, ensure_ascii=False) + "\n"
    assert (len(expected["code"]), len(expected["memory"])) == (1, 1)  # type: ignore[arg-type]


def test_each_half_takes_its_own_parameters(both: Path, quintet: Quintet) -> None:
    done = quintet("search-all", "cache", "--json", "--code", "k=2", "--memory", 'tags=["cold"]')
    body = json.loads(done.out)
    assert len(body["code"]) == 2
    assert [one["tags"] for one in body["memory"]] == [["cold"]]


def test_finding_nothing_is_told_from_having_nothing(both: Path, quintet: Quintet, tmp_path: Path) -> None:
    nothing = ("--code", "filters=path:nowhere/**", "--memory", "kind=task")
    assert (quintet("search-all", "x", *nothing).code, quintet("search-all", "x", *nothing).out) == (1, "")
    assert "no match" in quintet("search-all", "x", *nothing).err
    empty = tmp_path / "empty" / ".quintet"
    engine.open(empty, "hashing").close()
    done = quintet("search-all", "x", "--db", str(empty))
    assert (done.code, done.out) == (3, "")
    assert "never indexed: run 'quintet index'" in done.err
    assert quintet("search-all", "x", "--db", str(tmp_path / "none")).code == 3


def test_a_half_without_anything_is_noted(library: Path, quintet: Quintet) -> None:
    quintet("index", "--embedder", "hashing")
    done = quintet("search-all", "cache")
    assert done.code == 0
    assert "note: memory: nothing was ever stored [never_indexed]\n" in done.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--code", "limit"], "--code is 'limit'; it must be name=value"),
        (["--memory", "=3"], "--memory is '=3'; it must be name=value"),
        (["--code", "mode=hybrid"], "contract mcb has no modes"),
        (["--limit", "2", "--code", "limit=3"], "limit was given twice"),
        (["--limit", "0"], "from 1 to 1000"),
        (["--code", "query=x"], "query is not a parameter"),
        (["--memory", "kind=idea"], "one of decision"),
    ],
)
def test_a_wrong_command_says_what_would_be_right(
    both: Path, quintet: Quintet, arguments: list[str], says: str
) -> None:
    done = quintet("search-all", "x", *arguments)
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert done.err.count("\n") == 1


def test_among_several_roots_a_place_begins_with_its_root(
    both: Path, quintet: Quintet, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "more.md").write_text("# More\n\nA cache of maps.\n", "utf-8")
    quintet("index", str(other))
    assert "other/more.md:1-3" in quintet("search-all", "cache of maps", "--limit", "3").out


def test_on_a_terminal_nothing_remembered_acts_on_it(both: Path) -> None:
    with engine.open(both / ".quintet") as index:
        index.memory.remember("a zeppelin \x1b]0;title\x07 flies")
    done = on_terminal("search-all", "zeppelin", cwd=both)
    assert done.code == 0
    assert "\x1b]0;" not in done.out
    assert "\\x1b]0;title\\x07" in done.out
