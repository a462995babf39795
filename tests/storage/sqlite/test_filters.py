"""Filters as SQL: globs and scopes, each field, and how conditions combine."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from quintet.filters.fields import FILTER
from quintet.model.documents import Chunk, Document, digest
from quintet.model.filters import AllOf, AnyOf, Condition, Expression, Filter, Not
from quintet.ports.reading import Root
from quintet.ports.writing import Entry
from quintet.storage.sqlite.filters import glob_match, in_package, is_module, words_within
from quintet.storage.sqlite.store import SqliteStore


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("a.md", "a.md"),
        ("*.md", "a.md"),
        ("docs/*.md", "docs/a.md"),
        ("docs/**", "docs/a/b.md"),
        ("docs/**/b.md", "docs/b.md"),
        ("docs/**/b.md", "docs/x/y/b.md"),
        ("**/b.md", "b.md"),
        ("**", "a/b/c"),
        ("a?c.md", "abc.md"),
        ("*.{md,txt}", "a.txt"),
        ("{docs,src}/**", "src/x/y"),
        ("{a,b{c,d}}.md", "bd.md"),
        ("a{b.md", "a{b.md"),
        ("a}b.md", "a}b.md"),
        ("a,b.md", "a,b.md"),
        ("[x].md", "[x].md"),
        ("a+b(c).md", "a+b(c).md"),
        ("*", ".hidden"),
        ("日本/*.md", "日本/語.md"),
        ("a\nb", "a\nb"),
        ("***", "a/b"),
    ],
)
def test_a_glob_matches(pattern: str, path: str) -> None:
    assert glob_match(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*.md", "docs/a.md"),
        ("docs/*", "docs/a/b.md"),
        ("docs/**", "docs"),
        ("docs/**", "mydocs/a"),
        ("a?c.md", "a/c.md"),
        ("a?c.md", "ac.md"),
        ("*.{md,txt}", "a.rst"),
        ("[ab].md", "a.md"),
        ("A.md", "a.md"),
        ("a.md", "a_md"),
        ("a", "a/b"),
        ("", "a"),
    ],
)
def test_a_glob_does_not_match(pattern: str, path: str) -> None:
    assert not glob_match(pattern, path)


def test_every_path_matches_itself_as_a_glob_unless_it_holds_a_wildcard() -> None:
    for path in ("a b.md", "x^y$.z|w", "a\\b", "π/√.md", "-", "~/.x", "%_", "'\""):
        assert not re.search(r"[*?{]", path)
        assert glob_match(path, path)


@pytest.mark.parametrize("package", ["src/app", "src.app", "/src/app/"])
def test_a_package_is_a_folder_and_all_below_it(package: str) -> None:
    assert in_package(package, "src/app/a.py")
    assert in_package(package, "src/app/deep/a.py")
    assert not in_package(package, "src/application/a.py")
    assert not in_package(package, "src/app.py")


@pytest.mark.parametrize("module", ["app.views", "app/views", "views", "src.app.views"])
def test_a_module_is_a_file_without_its_ending(module: str) -> None:
    assert is_module(module, "src/app/views.py")
    assert is_module(module, "src/app/views/__init__.py")
    assert is_module(module, "src/app/views/index.ts")
    assert not is_module(module, "src/app/reviews.py")
    assert not is_module(module, "src/app/views/detail.py")


DEEP: Any = []
for _ in range(500):
    DEEP = [DEEP]
DOCUMENTS: dict[str, dict[str, Any]] = {
    "docs/a.md": {"tags": ["red", "blue"], "prio": 3, "draft": True, "owner": "ann", "size": 1.5},
    "docs/deep/b.md": {"tags": "red", "prio": "3", "draft": "true", "mixed": [1, "x", False]},
    "src/c.py": {},
    "src/d{1}.py": {"deep": DEEP},
    "\U0010ffff/e": {"tags": None, "nested": {"owner": "ann"}},
}
CONTENTS = {
    "docs/a.md": "Undefined run_all(x) in foo-bar baz",
    "docs/deep/b.md": "def run_all(X): CAFÉ cafe\u0301s are \u03b1\u0301",
    "src/c.py": "straße ﬁle 検索エンジン test",
    "src/d{1}.py": "run all the things",
    "\U0010ffff/e": "",
}


def document(path: str, number: int) -> Entry:
    language = "python" if path.endswith(".py") else None
    found = Document(
        "shelf", path, f"Title {number}", "text/plain", language, 1, number * 10**9, "", DOCUMENTS[path]
    )
    texts = (CONTENTS[path], "second")
    return Entry(
        found,
        tuple(Chunk(digest(path, str(at)), found.id, at, text, "", 1, 1) for at, text in enumerate(texts)),
        0,
    )


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteStore]:
    """Five documents of two chunks each; the second chunks all say "second"."""
    made = SqliteStore(tmp_path_factory.mktemp("filters") / "index")
    made.create()
    with made.writer(0) as writer, writer.batch():
        writer.put_root(Root("shelf", "/shelf"))
        for number, path in enumerate(DOCUMENTS):
            writer.put(document(path, number))
    yield made
    made.close()


def selected(store: SqliteStore, filter: Filter) -> set[str]:
    """Chunks as PATH#SEQUENCE; what `select` and `passing` say must agree."""
    with store.snapshot() as snapshot:
        rows = snapshot.catalog.select(filter)
        every = {
            row: (chunk_id, f"{path}#{sequence}")
            for row, chunk_id, path, sequence in snapshot.catalog._connection.execute(
                "SELECT c.row, c.id, d.path, c.sequence FROM chunks c JOIN documents d ON d.row = c.document"
            )
        }
        assert rows is not None
        assert rows.tolist() == sorted(rows.tolist())
        passing = snapshot.catalog.passing(filter, [chunk_id for chunk_id, _ in every.values()])
    assert passing == {every[row][0] for row in rows.tolist()}
    return {every[row][1] for row in rows.tolist()}


def documents(store: SqliteStore, given: Any) -> list[str]:
    found = selected(store, FILTER.accept(given))  # type: ignore[arg-type]
    return sorted({one.rpartition("#")[0] for one in found})


A, B, C, D, E = DOCUMENTS


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("path:docs/**", [A, B]),
        ("path:docs/*", [A]),
        ("path:{docs/deep,src}/*", [B, C, D]),
        ("path:src/d?1?.py", [D]),
        ("path:src/c.py", [C]),
        ("path:**/*.md", [A, B]),
        ("path:\U0010ffff/*", [E]),
        ("path:\U0010ffff*/**", [E]),
        ("path:\ud7ff*", []),
        ("mime:text/plain", [A, B, C, D, E]),
        ("mime:text/html", []),
        ("lang:python", [C, D]),
        ("-lang:python", [A, B, E]),
        ("root:shelf", [A, B, C, D, E]),
        ("-root:shelf", []),
        ('title:"Title 2"', [C]),
        ({"after": 2000}, [D, E]),
        ("before:1970-01-01T00:00:02", [A, B]),
        ("tag:red", [A, B]),
        ("tag:blue", [A]),
        ("-tag:red", [C, D, E]),
        ("tag:Red", []),
        ("meta.tags:red", [A, B]),
        ("meta.owner:ann", [A]),
        ("meta.prio:3", [A, B]),
        ({"meta.prio": 3}, [A]),
        ({"meta.prio": 3.0}, [A]),
        ("meta.size:1.5", [A]),
        ("meta.size<2", [A]),
        ("meta.size <= 1.5 meta.size >= 1.5", [A]),
        ("meta.size>1.5", []),
        ("meta.prio<4", [A]),
        ({"meta.prio": {">": 2, "<=": 3}}, [A]),
        ("-meta.prio<4", [B, C, D, E]),
        ("meta.mixed<2", [B]),
        ("meta.owner<2026-01-01", []),
        ("meta.deep<1", []),
        ("meta.draft:true", [A, B]),
        ({"meta.draft": True}, [A]),
        ({"meta.draft": False}, []),
        ("meta.mixed:1", [B]),
        ("meta.mixed:false", [B]),
        ({"meta.mixed": False}, [B]),
        ("meta.nested:ann", []),
        ("meta.absent:x", []),
        ("-meta.absent:x", [A, B, C, D, E]),
        ("meta.deep:x", []),
        ("contains:run_all(", [A, B]),
        ("contains:ndef", [A]),
        ("contains:RUN_ALL", []),
        ("icontains:RUN_ALL(X", [A, B]),
        ("icontains:café", [B]),
        ("icontains:STRASSE", [C]),
        ("icontains:FILE", [C]),
        ("contains:検索", [C]),
        ('contains:"foo-bar b"', [A]),
        ("contains:second", [A, B, C, D, E]),
        ("tag:red -meta.draft:true", []),
        ("tag:blue OR lang:python", [A, C, D]),
        ("lang:python OR contains:foo", [A, C, D]),
        ("-(lang:python OR contains:second)", [A, B, E]),
        ("-(lang:python contains:second) path:src/*", [C, D]),
        ({"not": {"or": [{"lang": "python"}, {"tag": "red"}]}}, [E]),
    ],
)
def test_a_filter_finds_its_documents(store: SqliteStore, given: Any, expected: list[str]) -> None:
    assert documents(store, given) == sorted(expected)


def test_a_condition_on_text_is_about_the_chunk_and_others_about_its_document(store: SqliteStore) -> None:
    assert selected(store, FILTER.accept("lang:python contains:second")) == {f"{C}#1", f"{D}#1"}
    assert selected(store, FILTER.accept("lang:python -contains:second")) == {f"{C}#0", f"{D}#0"}
    assert selected(store, FILTER.accept("tag:blue OR contains:things")) == {f"{A}#0", f"{A}#1", f"{D}#0"}


@pytest.mark.parametrize(
    "value", ["'", "' OR 1=1 --", '"', "?", "%", "*", "\\", "a'); DROP TABLE chunks; --"]
)
@pytest.mark.parametrize(
    "field", ["path", "mime", "lang", "root", "title", "tag", "contains", "icontains", "meta.x", "meta.'"]
)
def test_no_value_is_ever_sql(store: SqliteStore, field: str, value: str) -> None:
    expected = [*DOCUMENTS] if (field, value) == ("path", "**") else []
    assert documents(store, {field: value}) == expected


LITERALS = st.one_of(
    st.text("ab é-検索.", min_size=1, max_size=6),
    st.sampled_from([content for content in CONTENTS.values() if content]).flatmap(
        lambda text: st.tuples(st.integers(0, len(text) - 1), st.integers(1, 12)).map(
            lambda cut: text[cut[0] : cut[0] + cut[1]]
        )
    ),
)


@hypothesis_settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(LITERALS)
@example("\u0301s are")  # begins within a word, though no letter says so
@example("are \u03b1")  # ends before an accent that makes another letter of it
def test_words_that_narrow_a_search_for_text_lose_nothing(store: SqliteStore, literal: str) -> None:
    holding = {f"{path}#0" for path, content in CONTENTS.items() if literal in content}
    holding |= {f"{path}#1" for path in CONTENTS if literal in "second"}
    assert selected(store, Filter((Condition("contains", literal),))) == holding


def test_only_words_that_stay_whole_narrow(store: SqliteStore) -> None:
    with store.snapshot() as snapshot:
        connection = snapshot.catalog._connection
        assert words_within(connection, "TimeoutError") == ""
        assert words_within(connection, "def run_all(") == '{content} : ("run" AND "all")'
        assert words_within(connection, "a bc") == '{content} : ("bc"*)'
        assert words_within(connection, "検索 of 索引") == '{content} : ("of")'


GLOBS = st.text("ds/*?{},.a", min_size=1, max_size=8)


@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(GLOBS)
def test_the_beginning_of_a_glob_loses_no_path(store: SqliteStore, pattern: str) -> None:
    expected = sorted(path for path in DOCUMENTS if glob_match(pattern, path))
    assert documents(store, {"path": pattern}) == expected


FIELDS = st.sampled_from(
    [
        Condition("path", "docs/**"),
        Condition("lang", "python"),
        Condition("tag", "red"),
        Condition("meta.draft", True),
        Condition("meta.size", 2, "<"),
        Condition("contains", "second"),
        Condition("contains", "run all"),
    ]
)
TREES = st.recursive(
    FIELDS,
    lambda part: st.one_of(
        st.builds(Not, part),
        st.lists(part, min_size=1, max_size=3).map(lambda parts: AllOf(tuple(parts))),
        st.lists(part, min_size=1, max_size=3).map(lambda parts: AnyOf(tuple(parts))),
    ),
    max_leaves=8,
)


@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TREES)
def test_any_tree_means_what_its_parts_mean(store: SqliteStore, tree: Expression) -> None:
    every = {f"{path}#{sequence}" for path in DOCUMENTS for sequence in (0, 1)}

    def meant(expression: Expression) -> set[str]:
        match expression:
            case Condition():
                return selected(store, Filter((expression,)))
            case Not(of):
                return every - meant(of)
            case AllOf(parts):
                return set.intersection(*(meant(part) for part in parts))
            case AnyOf(parts):
                return set.union(*(meant(part) for part in parts))

    assert selected(store, Filter((tree,))) == meant(tree)
