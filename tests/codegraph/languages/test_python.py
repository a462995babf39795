"""Python: expected symbols, imports and mentions, listed by hand."""

from codegraph.languages.listing import imports, mentions, read, symbols
from quintet.model.symbols import Outline

SHOP = '''
"""Orders and their prices.

More words.
"""
from __future__ import annotations

import json
from typing import Protocol, overload

from .stock import Stock, count as count_items
from . import prices

LIMIT: int = 10
_cache = {}
double = lambda x: prices.of(x) * 2


class Seller(Protocol):
    def sell(self, item: str) -> None: ...


@prices.registered
class Order(prices.Priced, Seller):
    """One order."""

    kind = "order"
    stock: Stock

    def __init__(self, stock: Stock, seller: Seller | None = None):
        self.stock = stock
        self._seller = seller
        self.lines = Lines()
        self.extra = Lines()
        self.extra = None

    @property
    def first(self) -> Line:
        return self.lines.first()

    @staticmethod
    def parse(text, Order):
        return Order(json.loads(text))

    @classmethod
    async def load(cls, path):
        await cls.check(path)
        return cls.parse(path, cls)

    def __total(self):
        """Sum.

        Of all.
        """
        self.stock.take(LIMIT)
        self._seller.sell("a")
        self.extra.clear()
        self.first.price()
        super().total()
        return sum(map(double, self.lines))

    def _again(self):
        def inner():
            return self.__total() or inner()

        return inner()


class Lines(list):
    def first(self): return self[0]


class Line:
    def price(self): return 1


def total(orders: list[Order], main=LIMIT) -> int:
    order = Order(main)
    order.load("x")
    Order(1).parse("y", 2)
    for order2 in orders:
        order2.load("z")
    return total(orders) + count_items()


@overload
def main(a: int) -> int: ...
@overload
def main(a: str) -> "Order": ...
def main(a):
    return total([])


if __name__ == "__main__":
    main(1)
'''


def python(text: str, path: str = "pkg/shop.py") -> Outline:
    return read("python", text, path)


def calls(text: str) -> list[str]:
    return mentions(python(text), "calls")


def test_every_definition_is_a_symbol_with_its_place_and_visibility() -> None:
    assert symbols(python(SHOP)) == [
        "13 variable LIMIT public",
        "14 variable _cache private",
        "15 function double public",
        "18 interface Seller public",
        "19 method Seller.sell public",
        "22 class Order public",
        "26 variable Order.kind public",
        "27 variable Order.stock public",
        "29 method Order.__init__ public",
        "36 method Order.first public",
        "40 method Order.parse public",
        "44 method Order.load public",
        "49 method Order.__total private",
        "61 method Order._again protected",
        "62 function Order._again.inner public",
        "68 class Lines public",
        "69 method Lines.first public",
        "72 class Line public",
        "73 method Line.price public",
        "76 function total public",
        "85 function main public",
        "87 function main public",
        "89 function main public",
    ]


def test_signatures_docstrings_and_lines() -> None:
    outline = python(SHOP)
    found = {symbol.path: symbol for symbol in outline.symbols}
    assert outline.symbols[0].docstring == "Orders and their prices."
    assert outline.symbols[0].last_line == 94
    order = found["Order",]
    assert (order.signature, order.docstring) == ("class Order(prices.Priced, Seller)", "One order.")
    assert (order.first_line, order.last_line) == (22, 65)
    assert found["Order", "load"].signature == "async def load(cls, path)"
    assert found["Order", "__total"].docstring == "Sum."
    assert found["LIMIT",].signature == "LIMIT: int = 10"
    assert found["total",].signature == "def total(orders: list[Order], main=LIMIT) -> int"


def test_imports_are_listed_with_level_and_alias() -> None:
    outline = python(SHOP)
    assert imports(outline) == [
        "module: json - as json exported",
        "module: typing Protocol as Protocol exported",
        "module: typing overload as overload exported",
        "module: stock Stock as Stock exported",
        "module: stock count as count_items exported",
        "module:  prices as prices exported",
    ]
    assert [found.level for found in outline.imports] == [0, 0, 0, 1, 1, 1]


def test_what_is_called_and_on_what() -> None:
    assert calls(SHOP) == [
        "15 double: prices.of name",
        "32 Order.__init__: Lines name",
        "33 Order.__init__: Lines name",
        "38 Order.first: Lines.first type",
        "42 Order.parse: json.loads name",
        "46 Order.load: check self",
        "47 Order.load: parse self",
        "54 Order.__total: Stock.take type",
        "55 Order.__total: Seller.sell type",
        "56 Order.__total: clear unknown",
        "57 Order.__total: Line.price type",
        "58 Order.__total: total super",
        "63 Order._again.inner: __total self",
        "63 Order._again.inner: inner name",
        "65 Order._again: inner name",
        "77 total: Order name",
        "78 total: Order.load type",
        "79 total: Order name",
        "79 total: Order.parse type",
        "81 total: load unknown",
        "82 total: count_items name",
        "82 total: total name",
        "90 main: total name",
        "94 module: main name",
    ]


def test_what_is_extended_and_referred_to() -> None:
    outline = python(SHOP)
    assert mentions(outline, "extends") == [
        "18 Seller: Protocol name",
        "23 Order: Seller name",
        "23 Order: prices.Priced name",
        "68 Lines: list name",
    ]
    assert mentions(outline, "references") == [
        "22 Order: prices.registered name",
        "27 Order: Stock name",
        "29 Order.__init__: Seller name",
        "29 Order.__init__: Stock name",
        "37 Order.first: Line name",
        "54 Order.__total: LIMIT name",
        "59 Order.__total: double name",
        "76 total: LIMIT name",
        "76 total: Order name",
        "85 main: overload name",
        "87 main: overload name",
        "88 main: Order name",
    ]


def test_conditional_local_dotted_and_star_imports() -> None:
    text = """
    try:
        import fast.json as json
    except ImportError:
        import json
    import a.b.c
    from ..deep.er import *
    from . import (x as y,
                   z)

    def f():
        from late import thing
        thing(); a.b.c.d(); starred(); print()

    def g():
        thing()
    """
    outline = python(text)
    assert imports(outline) == [
        "module: fast.json - as json exported",
        "module: json - as json exported",
        "module: a.b.c - as - exported",
        "module: deep.er * as - exported",
        "module:  x as y exported",
        "module:  z as z exported",
        "f: late thing as thing",
    ]
    assert [found.level for found in outline.imports] == [0, 0, 0, 2, 1, 1, 0]
    # A star may bring in anything, so names that nothing binds are kept.
    assert mentions(outline, "calls") == [
        "12 f: a.b.c.d name",
        "12 f: print name",
        "12 f: starred name",
        "12 f: thing name",
        "15 g: thing name",
    ]


def test_without_a_star_a_name_that_nothing_binds_is_built_in() -> None:
    assert calls("print(len(undefined()))") == []


def test_what_a_package_lists_is_exported() -> None:
    outline = python("from .a import A\n__all__ = ['A', \"b\"]\n", "pkg/__init__.py")
    assert outline.exports == (("A", "A"), ("b", "b"))
    assert imports(outline) == ["module: a A as A exported"]


def test_tests_are_known_by_file_and_name() -> None:
    text = """
    class TestA:
        def test_x(self): ...
        def helper(self): ...

    class Other(unittest.TestCase): ...
    def test_y(): ...
    def make(): ...
    """
    outline = python(text, "tests/test_shop.py")
    assert outline.symbols[0].is_test
    assert symbols(outline) == [
        "1 class TestA public test",
        "2 method TestA.test_x public test",
        "3 method TestA.helper public",
        "5 class Other public test",
        "6 function test_y public test",
        "7 function make public",
    ]
    assert not any(symbol.is_test for symbol in python(text, "shop.py").symbols)
