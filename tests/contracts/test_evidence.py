"""What facts about code say to a query."""

from collections.abc import Sequence

from quintet.contracts.evidence import ELSEWHERE, INSIDE, CodeEvidence, superseded
from quintet.contracts.intent import read_intent
from quintet.model.results import Facts

TRACEBACK = "Traceback (most recent call last):\n  File \"src/app.py\", line 3, in run\nKeyError: 'x'"


def as_they_are(words: Sequence[str]) -> list[str]:
    return list(words)


def fact(
    path: str = "src/a.py", name: str = "", kind: str = "function", heading: str = "", *, code: bool = True
) -> Facts:
    return Facts(path, path, 0, 1, 0, path, "Fresh", name, kind, heading, code)


def scores(query: str, signal: str, **facts: Facts) -> dict[str, float]:
    evidence = CodeEvidence(read_intent(query), as_they_are)
    return {hit.chunk_id: hit.score for hit in getattr(evidence, signal)(facts)}


def test_the_path_counts_by_the_words_that_it_shares_with_the_query() -> None:
    found = scores(
        "cache eviction", "path", a=fact("src/cache.py"), b=fact("src/cache/lru.py"), c=fact("b.py")
    )
    name = 2 * (1 / 2) * 1 / (1 / 2 + 1)  # half of the query, all of the name
    assert found == {"a": name, "b": 0.5 * (1 / 2)}


def test_the_beginning_of_a_word_counts_less_than_the_word() -> None:
    found = scores(
        "configuration", "path", a=fact("config.py"), b=fact("con.py"), c=fact("configurations.py")
    )
    assert found == {"a": 0.7, "c": 0.7}


def test_a_word_counts_once_in_the_folder_and_the_name_of_a_file() -> None:
    both, name = fact("cache/cache.py"), fact("cache.py")
    assert scores("cache", "path", both=both, name=name) == {"both": 1.0, "name": 1.0}


def test_words_that_only_begin_alike_do_not_match() -> None:
    assert scores("configuration", "path", a=fact("confirmation.py")) == {}
    assert scores("db", "path", a=fact("db.py"), b=fact("dbs.py")) == {"a": 1.0}, "too short to begin a word"


def test_a_path_in_the_query_counts_whatever_kind_of_file_it_is() -> None:
    found = scores(
        "docs/guide.md", "path", a=fact("site/docs/guide.md", code=False), b=fact("guide.md", code=False)
    )
    assert found == {"a": 1.0}


def test_a_module_in_dots_is_the_path_of_a_file() -> None:
    files = {
        "module": fact("src/shop/cart/items.py"),
        "package": fact("src/shop/cart/items/__init__.py"),
        "ruby": fact("lib/Cart/Items.rb"),
        "other": fact("src/shop/order/total.py"),
    }
    found = scores("shop.cart.items", "path", **files)
    assert found["module"] == found["package"] == 1.0 > found["ruby"]
    assert scores("Cart::Items.total", "path", ruby=files["ruby"]) == {"ruby": 1.0}, "total is a member"
    assert scores("items.total", "path", module=files["module"])["module"] < 1.0, "one part names no file"


def test_prose_has_no_path_words() -> None:
    assert scores("guide", "path", a=fact("guide.md", code=False)) == {}


def test_a_type_goes_before_its_constructor_and_another_type_of_that_name() -> None:
    found = scores(
        "Store.Cache",
        "definition",
        type=fact(name="Cache", kind="class", heading="Store > Cache"),
        constructor=fact(name="Cache", kind="method", heading="Store > Cache > Cache"),
        other=fact(name="Cache", kind="class", heading="Other > Cache"),
        none=fact(name="get"),
        prose=fact(),
    )
    assert found == {"type": 1.0, "constructor": 0.7, "other": 0.8}


def test_a_name_that_shares_words_counts_half_of_what_they_cover() -> None:
    found = scores("cache size", "definition", a=fact(name="cacheSize"), b=fact(name="cache"))
    assert found == {"a": 0.5, "b": 0.5 * 2 * (1 / 2) * 1 / (1 / 2 + 1)}


def test_a_role_that_is_not_asked_for_is_taken_off() -> None:
    files = {"test": fact("tests/a.py"), "source": fact("a.py"), "docs": fact("docs/a.md")}
    assert scores("cache", "role", **files) == {"test": -1.0}
    assert scores("test", "role", **files) == {}
    assert scores(TRACEBACK, "role", **files) == {"test": -1.0, "docs": -1.0}, "it asks for code"


def test_prose_gains_beside_source_code_if_the_query_is_a_question() -> None:
    prose = {"guide": fact("docs/a.md", code=False), "picture": fact("docs/a.svg", code=False)}
    code = fact("a.py")
    assert scores("how do I fill the cache", "role", **prose, code=code) == {"guide": 1.0}
    assert scores("how the cache is filled", "role", **prose, code=code) == {}, "it asks how code works"
    assert scores("how do I fill the cache", "role", **prose) == {}, "there is no code to stand beside"


def test_code_that_newer_code_replaces_is_taken_off() -> None:
    files = {"old": fact("src/v1/a.py"), "new": fact("src/v2/a.py"), "gone": fact("src/deprecated/b.py")}
    assert scores("parse", "role", **files) == {"old": -1.0, "gone": -1.0}
    assert scores("parse in v1", "role", **files) == {"gone": -1.0}
    assert scores("deprecated parse", "role", **files) == {}


def test_a_folder_of_a_newer_version_beside_it_makes_a_folder_old() -> None:
    paths = ["src/v3/types.ts", "src/v4/core/schemas.ts", "src/v4/mini/schemas.ts", "src/index.ts"]
    assert superseded(paths) == {"src/v3/types.ts"}
    assert superseded(["V1/a.go", "V10/a.go", "V9/a.go"]) == {"V1/a.go", "V9/a.go"}, "by number"
    assert superseded(["a/v1/x.py", "b/v2/x.py"]) == set(), "not beside each other"


def test_a_copy_in_a_version_folder_is_old_if_the_file_also_stands_outside() -> None:
    assert superseded(["pkg/v1/main.py", "pkg/main.py", "pkg/v1/other.py"]) == {"pkg/v1/main.py"}
    assert superseded(["api/v1/main.py"]) == set(), "nothing newer is there"


def test_a_version_that_is_asked_for_is_not_old() -> None:
    paths = ["src/v3/a.ts", "src/v4/a.ts", "src/v2/a.ts"]
    assert superseded(paths, wanted=[3]) == {"src/v2/a.ts"}


def test_the_chunk_with_the_line_that_a_query_gives_goes_before_the_rest_of_its_file() -> None:
    chunks = {f"at {line}": fact("src/a.py")._replace(line=line) for line in (1, 20, 40)}
    assert scores("a.py:25", "path", **chunks, other=fact("src/b.py")) == {
        "at 1": ELSEWHERE,
        "at 20": 1.0,
        "at 40": ELSEWHERE,
    }


def test_chunks_inside_of_what_the_query_names_count_too() -> None:
    method = fact(name="fetch", heading="Store > fetch")
    assert scores("Store", "definition", method=method) == {"method": INSIDE}
    assert scores("Shelf", "definition", method=method) == {}


def test_a_chunk_counts_by_the_share_of_the_literals_that_it_holds() -> None:
    evidence = CodeEvidence(read_intent("KeyError: no such job"), as_they_are)
    facts = {"both": fact(), "one": fact(), "none": fact()}
    hits = evidence.literal(facts, [{"both": 3.0, "one": 1.0}, {"both": 2.0}])
    assert {hit.chunk_id: hit.score for hit in hits} == {"both": 1.0, "one": 0.5}
    assert evidence.literal(facts, []) == []
