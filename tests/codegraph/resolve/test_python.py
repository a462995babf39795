"""Small Python projects, with their edges listed by hand."""

import pytest

from codegraph.resolve.outlines import edges, outlines
from quintet.codegraph.resolve import Project, resolve
from quintet.model.symbols import node_ids


def test_a_call_leads_from_the_caller_to_the_called_and_never_back() -> None:
    project = {"a.py": "from b import g\ndef f():\n    g()\n", "b.py": "def g():\n    pass\n"}
    assert edges(project) == ["calls a.py:f -> b.py:g exact", "imports a.py -> b.py:g exact"]


def test_recursion_is_an_edge_to_itself() -> None:
    assert edges({"a.py": "def f():\n    f()\n"}) == ["calls a.py:f -> a.py:f exact"]


def test_mutual_imports_resolve_in_both_files() -> None:
    project = {
        "a.py": "import b\ndef f():\n    b.g()\n",
        "b.py": "import a\ndef g():\n    a.f()\n",
    }
    assert edges(project) == [
        "calls a.py:f -> b.py:g exact",
        "calls b.py:g -> a.py:f exact",
        "imports a.py -> b.py exact",
        "imports b.py -> a.py exact",
    ]


def test_a_parameter_or_inner_function_hides_the_name_outside() -> None:
    project = {
        "a.py": """
            from b import g, h
            def hidden(g):
                g()
            def inner():
                def h():
                    pass
                h()
            """,
        "b.py": "def g(): ...\ndef h(): ...\n",
    }
    assert edges(project, "calls") == ["calls a.py:inner -> a.py:inner.h exact"]


def test_names_come_through_two_packages_and_aliases() -> None:
    project = {
        "src/shop/__init__.py": "from .api import Order as Purchase\nfrom shop.api import *\n",
        "src/shop/api/__init__.py": "from .order import Order, make as build\n__all__ = ['build']\n",
        "src/shop/api/order.py": "class Order:\n    def pay(self): ...\ndef make(): ...\n",
        "tests/test_it.py": """
            import shop
            from shop import Purchase as Bought, build
            def test_it():
                Bought().pay()
                build()
                shop.Purchase()
            """,
    }
    assert edges(project, "calls") == [
        "calls tests/test_it.py:test_it -> src/shop/api/order.py:Order exact",
        "calls tests/test_it.py:test_it -> src/shop/api/order.py:Order.pay exact",
        "calls tests/test_it.py:test_it -> src/shop/api/order.py:make exact",
    ]


def test_methods_are_found_through_a_base_in_another_file() -> None:
    project = {
        "base.py": "class Base:\n    def run(self): ...\n    def stop(self): ...\n",
        "middle.py": "import base\nclass Middle(base.Base):\n    def stop(self):\n        super().stop()\n",
        "kid.py": """
            from middle import Middle
            class Kid(Middle):
                def run(self):
                    super().run()
                    self.stop()
            """,
    }
    assert edges(project, "calls", "extends") == [
        "calls kid.py:Kid.run -> base.py:Base.run exact",
        "calls kid.py:Kid.run -> middle.py:Middle.stop exact",
        "calls middle.py:Middle.stop -> base.py:Base.stop exact",
        "extends kid.py:Kid -> middle.py:Middle exact",
        "extends middle.py:Middle -> base.py:Base exact",
    ]


def test_the_left_base_wins_and_a_shared_one_comes_last() -> None:
    project = {
        "a.py": """
            class Top:
                def run(self): ...
            class Left(Top): ...
            class Right(Top):
                def run(self): ...
            class Both(Left, Right):
                def go(self):
                    self.run()
            """
    }
    assert edges(project, "calls") == ["calls a.py:Both.go -> a.py:Right.run exact"]


def test_a_method_behind_a_foreign_base_is_not_exact() -> None:
    project = {
        "a.py": """
            from elsewhere import Foreign
            class Ours:
                def run(self): ...
            class Kid(Foreign, Ours):
                def go(self):
                    self.run()
            """
    }
    assert edges(project, "calls") == ["calls a.py:Kid.go -> a.py:Ours.run likely"]


def test_a_class_that_extends_itself_ends() -> None:
    project = {"a.py": "class A(B):\n    def f(self):\n        self.g()\nclass B(A): ...\n"}
    assert edges(project) == ["extends a.py:A -> a.py:B exact", "extends a.py:B -> a.py:A exact"]


def test_unknown_receivers_are_likely_if_one_class_has_it_and_possible_if_several() -> None:
    project = {
        "a.py": """
            class A:
                def only(self): ...
                def shared(self): ...
            class B:
                def shared(self): ...
                def append(self, x): ...
            def f(x):
                x.only()
                x.shared()
                x.append(1)
                x.nowhere()
            """
    }
    assert edges(project, "calls") == [
        "calls a.py:f -> a.py:A.only likely",
        "calls a.py:f -> a.py:A.shared possible",
        "calls a.py:f -> a.py:B.append possible",
        "calls a.py:f -> a.py:B.shared possible",
    ]


def test_more_than_eight_candidates_are_none() -> None:
    classes = "".join(f"class C{n}:\n    def shared(self): ...\n" for n in range(9))
    assert edges({"a.py": f"{classes}def f(x):\n    x.shared()\n"}, "calls") == []


def test_what_is_imported_from_outside_is_never_taken_for_ours() -> None:
    project = {
        "a.py": """
            import json
            from requests import get
            from yaml import *
            def f():
                get()
                json.dumps({})
                print(len([]))
            """,
        "pkg/__init__.py": "",
        "pkg/json.py": "def dumps(x): ...\n",
        "pkg/net.py": "import json\ndef get():\n    json.dumps(1)\ndef print(): ...\n",
    }
    assert edges(project) == []


def test_equal_names_in_two_packages_stay_apart() -> None:
    project = {
        "one/__init__.py": "",
        "one/util.py": "def f(): ...\n",
        "one/a.py": "from .util import f\nf()\n",
        "two/__init__.py": "",
        "two/util.py": "def f(): ...\n",
        "two/a.py": "from two.util import f\nf()\n",
    }
    assert edges(project, "calls") == [
        "calls one/a.py -> one/util.py:f exact",
        "calls two/a.py -> two/util.py:f exact",
    ]


def test_a_name_bound_twice_is_possible_in_each_meaning() -> None:
    project = {
        "a.py": "try:\n    from fast import f\nexcept ImportError:\n    from slow import f\nf()\n",
        "fast.py": "def f(): ...\n",
        "slow.py": "def f(): ...\n",
    }
    assert edges(project, "calls") == ["calls a.py -> fast.py:f possible", "calls a.py -> slow.py:f possible"]


def lines_called(text: str) -> list[tuple[int, str]]:
    """The first line and the confidence of everything in a file that the file itself calls."""
    (file,) = outlines({"a.py": text})
    lines = dict(zip(node_ids(file.document_id, file.outline), file.outline.symbols, strict=True))
    found = [edge for edge in resolve(Project([file]))[file.document_id] if edge.relation == "calls"]
    return sorted((lines[edge.target].first_line, edge.confidence) for edge in found)


OVERLOADS = """
from typing import overload
@overload
def f(x: int): ...
@overload
def f(x: str): ...
def f(x):
    pass
"""


@pytest.mark.parametrize(
    "marked",
    (OVERLOADS, OVERLOADS.replace("from typing import overload", "import typing").replace("@", "@typing.")),
)
def test_typed_overloads_are_one_and_the_edge_goes_to_what_is_run(marked: str) -> None:
    assert lines_called(marked + "f(1)\n") == [(6, "exact")]


def test_what_is_defined_twice_is_possible_in_each_meaning() -> None:
    assert lines_called("def f(): ...\ndef f(): ...\nf()\n") == [(1, "possible"), (2, "possible")]
    branches = "if x:\n    def f(): ...\nelse:\n    def f(): ...\nf()\n"
    assert lines_called(branches) == [(2, "possible"), (4, "possible")]


def test_a_method_that_is_defined_twice_is_possible_in_each_meaning() -> None:
    text = "class A:\n    def f(self): ...\n    def f(self): ...\n    def g(self):\n        self.f()\n"
    assert lines_called(text) == [(2, "possible"), (3, "possible")]


def test_each_of_two_classes_of_one_name_has_methods_and_bases_of_its_own() -> None:
    text = """
class Base:
    def h(self): ...
if x:
    class A:
        def f(self): ...
        def g(self):
            self.f()
else:
    class A(Base):
        def f(self): ...
        def g(self):
            self.f()
            self.h()
"""
    assert lines_called(text) == [(2, "exact"), (5, "exact"), (10, "exact")]


def test_what_sets_a_property_is_no_second_meaning_of_it() -> None:
    text = """
class A:
    @property
    def f(self): ...
    @f.setter
    def f(self, value): ...
    def g(self):
        self.f()
"""
    assert lines_called(text) == [(2, "exact")]


@pytest.mark.parametrize(
    "rebinding",
    (
        "def halt():\n    global stop\n    stop = None\n",
        "stop = None\n",
        "for stop in (): ...\n",
        "with x as stop: ...\n",
        "(stop := None)\n",
    ),
)
@pytest.mark.parametrize("first", (True, False))
def test_an_import_that_is_given_another_value_is_not_exact(rebinding: str, first: bool) -> None:
    brought = "from b import stop\n"
    text = (rebinding + brought if first else brought + rebinding) + "def run():\n    stop()\n"
    found = edges({"a.py": text, "b.py": "def stop(): ...\n"}, "calls")
    assert "calls a.py:run -> b.py:stop possible" in found
    assert not [edge for edge in found if edge.endswith("exact")]


def test_stars_that_go_in_a_circle_end() -> None:
    project = {
        "a.py": "from b import *\nfound()\nlost()\n",
        "b.py": "from c import *\n",
        "c.py": "from a import *\ndef found(): ...\n",
    }
    assert edges(project, "calls") == ["calls a.py -> c.py:found exact"]


def test_super_of_a_foreign_base_is_nobody_of_ours() -> None:
    project = {"a.py": "from x import Far\nclass Near(Far):\n    def run(self):\n        super().run()\n"}
    assert edges(project, "calls") == []


PACKAGE = {
    "__init__.py": "from shop.api import order\n",
    "api/__init__.py": "",
    "api/order.py": "def make(): ...\n",
    "web.py": """
        import shop.api.order
        from shop.api.order import make as build
        def f():
            shop.api.order.make()
        def g():
            build()
        """,
}


def test_a_root_that_is_a_package_goes_by_the_name_of_its_folder() -> None:
    assert edges(PACKAGE, "calls", location=("src", "shop")) == [
        "calls web.py:f -> api/order.py:make exact",
        "calls web.py:g -> api/order.py:make exact",
    ]
    assert "imports __init__.py -> api/order.py exact" in edges(PACKAGE, location=("src", "shop"))


def test_a_root_inside_a_package_goes_by_both_names() -> None:
    order = {"__init__.py": "", "make.py": "def f(): ...\n", "b.py": "from shop.order.make import f\nf()\n"}
    assert edges(order, "calls", location=("src", "shop", "order")) == ["calls b.py -> make.py:f exact"]


def test_a_folder_of_the_same_name_that_is_no_package_is_not_meant() -> None:
    scripts = {"random.py": "def f(): ...\n", "b.py": "from numpy.random import f\nf()\n"}
    assert edges(scripts, location=("home", "numpy")) == []
    assert edges(PACKAGE, "calls", location=("src", "store")) == []


def test_what_lies_beside_a_file_comes_before_the_package_around_it() -> None:
    project = {
        "__init__.py": "",
        "b.py": "def f(): ...\n",
        "tools/run.py": "from shop.b import f\nf()\n",
        "tools/shop/__init__.py": "",
        "tools/shop/b.py": "def f(): ...\n",
    }
    assert edges(project, "calls", location=("shop",)) == ["calls tools/run.py -> tools/shop/b.py:f exact"]
