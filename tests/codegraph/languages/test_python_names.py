"""Python: what a name means where it is used, and the type of its value."""

from codegraph.languages.listing import mentions, read, symbols
from quintet.model.symbols import Outline


def python(text: str, path: str = "pkg/shop.py") -> Outline:
    return read("python", text, path)


def calls(text: str) -> list[str]:
    return mentions(python(text), "calls")


def references(text: str) -> list[str]:
    return mentions(python(text), "references")


def test_a_parameter_or_local_hides_what_has_its_name() -> None:
    text = """
    from tools import helper, other

    def work(): ...

    def a(work, *other, **helper):
        work(); other(); helper()

    def b():
        work()
        work = 1

    def c():
        for work in ():
            work()
        with open("x") as helper:
            helper()
        try: ...
        except ValueError as other:
            other()

    def d():
        work()
    """
    assert calls(text) == ["22 d: work name"]
    assert references(text) == []


def test_a_comprehension_has_names_of_its_own_but_a_walrus_is_the_functions() -> None:
    text = """
    def item(): ...
    def last(): ...

    def f(rows):
        found = [item() for item in rows if (last := item)]
        item()
        return last()
    """
    assert calls(text) == ["6 f: item name"]


def test_lambda_parameters_hide_names_only_inside() -> None:
    text = """
    def key(): ...
    def f(rows):
        rows.sort(key=lambda key: key())
        key()
    """
    assert calls(text) == ["3 f: sort unknown", "4 f: key name"]


def test_patterns_capture_names_and_refer_to_classes() -> None:
    text = """
    from shapes import Point, Colour
    def x(): ...
    def rest(): ...

    def f(value):
        match value:
            case Point(x=0, y=x) | [x, *rest]:
                x(); rest()
            case Colour.RED as y:
                y()
            case {"k": Point() as p, **more}:
                p(); more()
    """
    assert calls(text) == []
    assert references(text) == ["7 f: Point name", "9 f: Colour.RED name"]


def test_global_and_nonlocal_names_are_those_outside() -> None:
    text = """
    def f():
        global state
        state = 1
        g = lambda: 2
        def h():
            nonlocal g
            g = 3
            g()
        return state

    state = 0
    """
    outline = python(text)
    assert symbols(outline) == [
        "1 function f public",
        "4 function f.g public",
        "5 function f.h public",
        "11 variable state public",
    ]
    assert mentions(outline, "references") == ["9 f: state name"]
    assert mentions(outline, "calls") == []


def test_names_of_a_class_are_not_seen_in_its_methods() -> None:
    text = """
    def save(): ...

    class A:
        def save(self):
            save()

        alias = save
    """
    assert calls(text) == ["5 A.save: save name"]


def test_a_type_holds_only_if_every_assignment_agrees() -> None:
    text = """
    from db import Pool, Other, make

    pool = Pool()

    def f(given: Pool, maybe: "Pool | None", either: Pool | Other, items: list[Pool]):
        one = Pool(); one.go()
        two = Pool(); two = Other(); two.go()
        three = make(); three.go()
        given.go(); maybe.go(); either.go(); items.go(); pool.go()
        four: Pool = make(); four.go()
        five = given; five.go()

    def g() -> Pool: ...

    def h(Pool):
        x = Pool(); x.go()
        y = g(); y.go()
    """
    assert calls(text) == [
        "3 module: Pool name",
        "6 f: Pool name",
        "6 f: Pool.go type",
        "7 f: Other name",
        "7 f: Pool name",
        "7 f: go unknown",
        "8 f: go unknown",
        "8 f: make name",
        "9 f: Pool.go type",
        "9 f: Pool.go type",
        "9 f: Pool.go type",
        "9 f: go unknown",
        "10 f: Pool.go type",
        "10 f: make name",
        "11 f: Pool.go type",
        "16 h: go unknown",
        "17 h: g name",
        "17 h: go unknown",
    ]


def test_an_annotated_name_that_is_given_something_else_may_be_anything() -> None:
    text = """
    from db import Pool, make

    def f(a: Pool, b: Pool, c: Pool):
        a = make(); a.go()
        b = Pool(); b.go()
        for c in a: c.go()
        d: Pool = Pool(); d = make(); d.go()
        e: Pool
        e = make(); e.go()
    """
    assert [line for line in calls(text) if "go" in line] == [
        "4 f: go unknown",
        "5 f: Pool.go type",
        "6 f: go unknown",
        "7 f: go unknown",
        "9 f: Pool.go type",
    ]


def test_self_in_a_class_inside_a_method_is_not_its_own() -> None:
    text = """
    class Outer:
        def run(self):
            class Inner:
                def go(this):
                    this.step(); self.stop()
    """
    assert calls(text) == ["5 Outer.run.Inner.go: step self", "5 Outer.run.Inner.go: stop unknown"]


def test_dynamic_calls_give_no_mention() -> None:
    text = """
    import handlers
    def f(name, table):
        getattr(handlers, name)()
        table[name]()
        eval("g()")
        (lambda: 1)()
        "".join(table)
    """
    assert calls(text) == []
    assert references(text) == ["3 f: handlers name"]


def test_type_parameters_and_aliases() -> None:
    text = """
    from m import Base, T
    type Pairs[K] = dict[K, Base]
    def first[T: Base](rows: list[T]) -> T: return T()
    class Box[T](Base[T]): ...
    """
    outline = python(text)
    assert symbols(outline) == [
        "2 class Pairs public",
        "3 function first public",
        "4 class Box public",
    ]
    assert mentions(outline, "calls") == []
    assert mentions(outline, "extends") == ["4 Box: Base name"]


def test_a_base_class_that_is_computed_is_unknown() -> None:
    outline = python("from m import make\nclass A(make(1), metaclass=make): ...\n")
    assert mentions(outline, "extends") == ["2 A: make unknown"]
    assert mentions(outline, "calls") == ["2 A: make name"]


def test_annotations_in_quotes_and_decorators_refer() -> None:
    text = """
    from m import A, B, mark
    class C:
        @mark(1)
        def f(self, a: "A", b: "list[B]") -> None: ...
    """
    assert references(text) == ["4 C.f: A name", "4 C.f: B name"]
    assert calls(text) == ["3 C.f: mark name"]
