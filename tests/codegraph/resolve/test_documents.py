"""Mentions in documents lead to the files and definitions they mean."""

from codegraph.resolve.outlines import listed, outlines
from quintet.model.symbols import FileOutline, Mention, Outline

CODE = {
    "src/shop/order.py": "class Order:\n    def pay(self): ...\ndef make(): ...\n",
    "src/shop/cart.py": "class Cart:\n    def pay(self): ...\n",
    "src/shop/sync.py": "",
}


def edges(path: str, *named: tuple[str, ...]) -> list[str]:
    mentions = tuple(Mention(0, "references", name, 1) for name in named)
    files = [*outlines(CODE), FileOutline("guide", "docs/guide.md", Outline("markdown"))]
    files.append(FileOutline("document", path, Outline("markdown", mentions=mentions)))
    return [line.removeprefix(f"references {path} -> ") for line in listed(files)]


def test_a_link_is_read_from_the_document_then_from_the_root() -> None:
    assert edges("docs/more.md", ("guide.md",)) == ["docs/guide.md exact"]
    assert edges("docs/more.md", ("../src/shop/cart.py",)) == ["src/shop/cart.py exact"]
    assert edges("docs/more.md", ("/docs/guide.md",)) == ["docs/guide.md exact"]
    assert edges("docs/more.md", ("src/shop/cart.py",)) == ["src/shop/cart.py exact"]


def test_a_bare_file_name_is_likely_and_a_link_out_of_the_root_is_nothing() -> None:
    assert edges("README.md", ("sync.py",)) == ["src/shop/sync.py likely"]
    assert edges("README.md", ("../../etc/sync.py",), ("./sync.py",)) == []


def test_a_dotted_name_is_exact_if_it_ends_one_whole_name() -> None:
    assert edges("README.md", ("Order", "pay")) == ["src/shop/order.py:Order.pay exact"]
    assert edges("README.md", ("shop", "order", "make")) == ["src/shop/order.py:make exact"]
    assert edges("README.md", ("shop", "order")) == ["src/shop/order.py exact"]
    assert edges("README.md", ("json", "make")) == []


def test_one_name_is_likely_if_unique_and_possible_if_not() -> None:
    assert edges("README.md", ("Cart",)) == ["src/shop/cart.py:Cart likely"]
    assert edges("README.md", ("pay",)) == [
        "src/shop/cart.py:Cart.pay possible",
        "src/shop/order.py:Order.pay possible",
    ]
