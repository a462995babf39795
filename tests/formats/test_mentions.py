"""Documents: the paths and symbols they name, listed by hand."""

from textwrap import dedent

import pytest

from quintet.formats.mentions import MAX_MENTIONS
from quintet.indexing.parse import parse
from quintet.model.symbols import Outline

MARKDOWN = """\
# Using `parse_code`

See [the guide](docs/guide.md#first), [its source](../src/main.py#L10 "title") and
[elsewhere](https://example.com/a.py), [mail](mailto:a@example.com), [here](#below), [licence](LICENSE).
![chart](img/chart%20one.png) and <a href='notes/a.html?x=1'>a page</a>, [a reference][ref].

It calls `Index.search()` and `quintet.indexing.sync`, never `None`, `x`, `GET`, `a b` or `--flag`.
Files: `src/foo/bar.py`, `foo.py:12`, ``tests/test_a.py::test_b``, `[x](in/code.md)`, `Chunk`, `DEFAULT_K`,
`camelCase`, `Vec::push`, `https://example.com/x.py`, `__init__`.

- `sync.py` in a list
- `sync.py` again

| `table/cell.ts` | words |
|---|---|

```python
hidden.in_a.fence()
```

[ref]: ./other/place.rst
"""


def outline(path: str, text: str) -> Outline:
    found = parse(path, text).outline
    assert found is not None
    return found


def named(path: str, text: str) -> list[str]:
    """`line path`; the elements of a symbol's name are joined by a space."""
    found = outline(path, dedent(text)).mentions
    assert {(m.owner, m.relation, m.base) for m in found} <= {(0, "references", "name")}
    return [f"{m.line} {' '.join(m.path)}" for m in sorted(found, key=lambda m: (m.line, m.path))]


def test_markdown_names_paths_and_symbols() -> None:
    assert named("README.md", MARKDOWN) == [
        "1 parse_code",
        "3 ../src/main.py",
        "3 docs/guide.md",
        "4 ./LICENSE",
        "5 img/chart one.png",
        "5 notes/a.html",
        "7 Index search",
        "7 quintet indexing sync",
        "8 Chunk",
        "8 DEFAULT_K",
        "8 foo.py",
        "8 src/foo/bar.py",
        "8 tests/test_a.py",
        "9 Vec push",
        "9 camelCase",
        "11 sync.py",
        "14 table/cell.ts",
        "21 ./other/place.rst",
    ]


def test_a_document_has_mentions_and_no_symbols() -> None:
    found = outline("README.md", MARKDOWN)
    assert (found.language, found.symbols, found.imports) == ("markdown", (), ())


def test_line_numbers_count_the_front_matter() -> None:
    assert named("a.md", "---\ntitle: x\n---\n\n`a_b`\n") == ["5 a_b"]


def test_rst_names_paths_and_symbols() -> None:
    text = """\
    Title
    =====

    See :doc:`usage`, :doc:`the guide </guide/start>` and :py:func:`~pkg.mod.run`.
    A ``sync.py:12`` or `a file <../a/b.txt>`_, :class:`Foo <pkg.Foo>`, :ref:`some-label`.

    .. autoclass:: pkg.Bar
       :members:

    .. literalinclude:: ../examples/a.py

    .. _there: other.rst

    .. code-block:: python

       hidden.in_a.block()
    """
    assert named("docs/index.rst", text) == [
        "4 /guide/start.rst",
        "4 pkg mod run",
        "4 usage.rst",
        "5 ../a/b.txt",
        "5 pkg Foo",
        "5 sync.py",
        "7 pkg Bar",
        "10 ../examples/a.py",
        "12 other.rst",
    ]
    assert outline("docs/index.rst", text).language == "rst"


def test_html_names_paths_and_symbols() -> None:
    text = """\
    <p>See <a href="../src/a.py#L10">a</a>, <a href="https://example.com/z.py">b</a>
    and <code>Foo<b>.bar</b>()</code>, <code>a&#95;b</code>.</p>
    <pre><code>hidden.in_a.block()</code></pre>
    <img src="pic/one.svg"><script src="app.js">var x = '<a href="no/such.js">'</script>
    """
    assert named("page.html", text) == [
        "1 ../src/a.py",
        "2 Foo bar",
        "2 a_b",
        "4 app.js",
        "4 pic/one.svg",
    ]


def test_paths_and_symbols_cannot_be_confused() -> None:
    for mention in outline("README.md", MARKDOWN).mentions:
        is_path = "/" in mention.path[0] or "." in mention.path[0]
        assert not is_path or len(mention.path) == 1
        assert is_path or not any("." in name or "/" in name for name in mention.path)


@pytest.mark.parametrize("name", ["a.md", "a.rst", "a.html"])
@pytest.mark.parametrize(
    "unit", ["`", "[](", "](a", "<a href='", "`a_b` ", ":x:`", "``a", "<code>", "a.b", "`a<"]
)
def test_hostile_documents_are_read_in_bounded_work(name: str, unit: str) -> None:
    assert len(outline(name, unit * (200_000 // len(unit))).mentions) <= MAX_MENTIONS


def test_a_document_gives_a_bounded_number_of_mentions() -> None:
    text = "\n\n".join(f"`name_{number}`" for number in range(MAX_MENTIONS + 10))
    assert len(outline("a.md", text).mentions) == MAX_MENTIONS
