"""`quintet related` and `quintet map` as a person types them."""

import json
from pathlib import Path

import pytest

from cli.conftest import Quintet, command

FILES = {
    "shop/prices.py": (
        '"""Prices."""\n\nfrom shop.tax import with_tax\n\n\n'
        "def total(cart):\n    return with_tax(sum(cart))\n"
    ),
    "shop/tax.py": "def with_tax(amount):\n    return amount * 2\n",
    "shop/cart.py": (
        "from shop.prices import total\n\n\nclass Cart:\n    def pay(self):\n        return total([])\n\n\n"
        "class Gift:\n    def pay(self):\n        return 0\n"
    ),
    "guide.md": "# Guide\n\nHow prices are made: [tax](shop/tax.py).\n",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shop")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    done = command("index", "--embedder", "none", cwd=folder)
    assert done.code == 0, done.err
    return folder


@pytest.fixture
def shop(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(made)
    return made


def test_callers_are_listed_nearest_first_with_the_step_that_led_there(quintet: Quintet, shop: Path) -> None:
    done = quintet("related", "with_tax", "--callers", "--depth", "2")
    assert done.code == 0
    assert done.out.splitlines() == [
        "shop.tax.with_tax  function  shop/tax.py:1",
        "  1  shop.prices.total  function  shop/prices.py:6  total calls with_tax at shop/prices.py:7",
        "  2  shop.cart.Cart.pay  method  shop/cart.py:5  pay calls total at shop/cart.py:6",
    ]


@pytest.mark.parametrize(
    "reference", ("total", "prices.total", "shop.prices.total", "shop::prices::total", "shop/prices.py:7")
)
def test_a_symbol_may_be_named_in_many_ways(quintet: Quintet, shop: Path, reference: str) -> None:
    done = quintet("related", reference, "--dependencies", "--json")
    answer = json.loads(done.out)
    assert answer["start"]["name"] == "shop.prices.total"
    assert [one["name"] for one in answer["neighbours"]] == ["shop.tax.with_tax"]


def test_a_symbol_may_be_named_behind_its_root(quintet: Quintet, shop: Path) -> None:
    plain = quintet("related", "shop.tax.with_tax", "--callers")
    assert quintet("related", f"{shop.name}.shop.tax.with_tax", "--callers") == plain
    assert plain.code == 0


def test_json_tells_the_whole_way(quintet: Quintet, shop: Path) -> None:
    answer = json.loads(quintet("related", "Cart.pay", "--dependencies", "--depth", "2", "--json").out)
    assert (answer["strategy"], answer["depth"], answer["possible"], answer["more"]) == (
        "dependencies",
        2,
        False,
        False,
    )
    far = answer["neighbours"][-1]
    assert (far["name"], far["distance"], far["confidence"]) == ("shop.tax.with_tax", 2, "exact")
    assert [(step["from"], step["relation"], step["to"], step["line"]) for step in far["steps"]] == [
        ("shop.cart.Cart.pay", "calls", "shop.prices.total", 6),
        ("shop.prices.total", "calls", "shop.tax.with_tax", 7),
    ]


def test_a_document_is_related_to_what_it_names(quintet: Quintet, shop: Path) -> None:
    answer = json.loads(quintet("related", "guide.md", "--json").out)
    assert [(one["name"], one["steps"][0]["relation"]) for one in answer["neighbours"]] == [
        ("shop.tax", "references")
    ]


def test_an_ambiguous_name_gives_the_candidates_and_no_guess(quintet: Quintet, shop: Path) -> None:
    done = quintet("related", "pay")
    assert done.code == 2 and done.out == ""
    assert (
        "method shop.cart.Cart.pay at shop/cart.py:5; method shop.cart.Gift.pay at shop/cart.py:10"
        in done.err
    )
    error = json.loads(quintet("related", "pay", "--json").out)["error"]
    assert [one["name"] for one in error["details"]["candidates"]] == [
        "shop.cart.Cart.pay",
        "shop.cart.Gift.pay",
    ]


def test_an_unknown_name_gives_near_ones(quintet: Quintet, shop: Path) -> None:
    done = quintet("related", "totals")
    assert done.code == 3
    assert "no symbol or document is called 'totals'; similar names: total" in done.err


def test_nothing_around_is_no_match(quintet: Quintet, shop: Path) -> None:
    done = quintet("related", "with_tax", "--dependencies")
    assert done.code == 1
    assert "no dependencies within 1; --possible follows guesses too" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    (
        (("--callers", "--dependencies"), "--callers and --dependencies were given; choose one of them"),
        (("--depth", "0"), "depth is 0; it must be a whole number from 1 to 10"),
        (("--depth", "11"), "depth is 11; it must be"),
        (("--limit", "0"), "limit is 0; it must be a whole number from 1 to 1000"),
    ),
)
def test_what_cannot_be_asked_is_refused(
    quintet: Quintet, shop: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = quintet("related", "total", *arguments)
    assert done.code == 2 and message in done.err


@pytest.mark.parametrize(
    "reference", ("", "  ", "::", "a" * 5000, "\x00", "../../etc/passwd:1", "*", "total'; --")
)
def test_strange_references_are_refused_in_one_line(quintet: Quintet, shop: Path, reference: str) -> None:
    done = quintet("related", reference)
    assert done.code in (2, 3) and done.err.count("\n") == 1


def test_a_limit_says_that_there_is_more(quintet: Quintet, shop: Path) -> None:
    done = quintet("related", "total", "--related", "--limit", "1")
    assert done.code == 0 and len(done.out.splitlines()) == 2
    assert "the first 1 are shown; raise --limit for more" in done.err


def test_a_map_shows_what_much_points_at_first(quintet: Quintet, shop: Path) -> None:
    done = quintet("map")
    assert done.code == 0 and done.err == ""
    assert done.out.startswith("shop/tax.py\n    1  def with_tax(amount)\n")
    assert "shop/cart.py\n    4  class Cart\n    5      def pay(self)\n    9  class Gift\n" in done.out


def test_a_definition_in_a_map_stands_behind_what_it_is_inside_of(
    quintet: Quintet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "types.ts").write_text("export interface Item { price: number; age: number }\n", "utf-8")
    (tmp_path / "count.go").write_text(
        "package count\n\ntype Counter struct{}\n\nfunc New() {}\n\nfunc (c *Counter) Add() {}\n", "utf-8"
    )
    monkeypatch.chdir(tmp_path)
    assert quintet("index", "--embedder", "none").code == 0
    assert quintet("map", "types.ts").out.splitlines()[1:] == [
        "    1  interface Item",
        "    1      age: number",
        "    1      price: number",
    ]
    assert quintet("map", "count.go").out.splitlines()[1:] == [
        "    3  Counter struct",
        "    7      func (c *Counter) Add()",
        "    5  func New()",
    ]


def test_a_map_keeps_to_its_budget_and_says_what_is_left_out(quintet: Quintet, shop: Path) -> None:
    for budget in (1, 4, 12, 20):
        done = quintet("map", "--budget", str(budget))
        assert len(done.out) <= 4 * budget
        assert done.code == (0 if done.out else 1)
        assert f"of 10 files and definitions; raise --budget above {budget} for more" in done.err


def test_a_map_is_the_same_every_time_and_changes_with_a_query(quintet: Quintet, shop: Path) -> None:
    plain = quintet("map", "--json").out
    assert quintet("map", "--json").out == plain
    asked = json.loads(quintet("map", "--query", "Gift", "--json", "--budget", "20").out)
    assert (json.loads(plain)["files"][0]["path"], asked["files"][0]["path"]) == (
        "shop/tax.py",
        "shop/cart.py",
    )
    assert asked["tokens"] <= 20 and asked["shown"] < asked["total"]


def test_a_query_that_finds_nothing_is_said(quintet: Quintet, shop: Path) -> None:
    done = quintet("map", "--query", "zebra")
    assert done.code == 0
    assert "nothing was found for 'zebra', so the map is ranked without it [query_unfound]" in done.err


def test_a_map_of_some_paths_holds_only_those(quintet: Quintet, shop: Path) -> None:
    answer = json.loads(quintet("map", "shop/cart.py", "guide.md", "--json").out)
    assert sorted(file["path"] for file in answer["files"]) == ["guide.md", "shop/cart.py"]
    whole = json.loads(quintet("map", ".", "--json").out)
    assert len(whole["files"]) == len(FILES)
    assert quintet("map", "nowhere").code == 3


@pytest.mark.parametrize("budget", ("0", "-1", "100001"))
def test_a_budget_out_of_range_is_refused(quintet: Quintet, shop: Path, budget: str) -> None:
    done = quintet("map", "--budget", budget)
    assert done.code == 2 and "it must be a whole number of tokens from 1 to 100000" in done.err


def test_forget_all_empties_the_index(quintet: Quintet, library: Path) -> None:
    assert quintet("index", "--embedder", "none").code == 0
    assert quintet("forget").code == 2 and quintet("forget", "docs", "--all").code == 2
    assert quintet("forget", "--all").out == "forgot 4 documents\n"
    assert "the index is empty" in quintet("search", "cache").err
    assert quintet("related", "cache_answer").code == 3


def test_doctor_tells_of_the_graph_and_finds_what_is_loose(quintet: Quintet, library: Path) -> None:
    import apsw

    assert quintet("index", "--embedder", "none").code == 0
    assert "graph     5 nodes, 1 edges" in quintet("doctor").out
    connection = apsw.Connection(str(library / ".quintet" / "index.db"))
    connection.execute("DELETE FROM symbols WHERE parent IS NOT NULL")
    connection.close()
    done = quintet("doctor")
    assert done.code == 6 and "1 of 1 edges to no node" in done.out


@pytest.mark.parametrize("line", (0, 99999))
def test_a_line_that_a_file_does_not_have_is_an_error(quintet: Quintet, shop: Path, line: int) -> None:
    done = quintet("related", f"shop/tax.py:{line}")
    assert (done.code, done.out) == (3, "")
    assert f"there is no line {line} in shop/tax.py; its lines are 1 to 2" in done.err
    assert quintet("related", "shop/tax.py").code == quintet("related", "shop/prices.py:1").code == 0
