"""PHP: constructs that are easily mistaken for others."""

from codegraph.languages.listing import mentions, read


def calls(text: str) -> list[str]:
    return mentions(read("php", text, "src/Shop.php"), "calls")


def test_a_php_variable_shadows_no_function() -> None:
    text = r"""
    <?php
    function helper($n) { return $n ? helper($n - 1) : 0; }
    function run($helper) { $helper(); helper(1); $helper->go(); }
    """
    assert calls(text) == ["2 helper: helper name", "3 run: go unknown", "3 run: helper name"]


def test_dynamic_php_calls_name_no_method() -> None:
    text = r"""
    <?php
    class A {
        function run() {}
        function go($name, $class) {
            $this->$name();
            $name();
            $class::run();
            new $class();
            call_user_func([$this, 'run']);
        }
    }
    """
    assert calls(text) == ["7 A.go: run unknown", "9 A.go: call_user_func name"]


def test_php_closures_keep_this_and_the_types_of_their_own_parameters() -> None:
    text = r"""
    <?php
    class A {
        function run(Item $one) {
            $each = fn (Box $one) => $one->go() && $this->run($one);
            $one->go();
        }
    }
    """
    assert calls(text) == ["4 A.run: Box.go type", "4 A.run: run self", "5 A.run: Item.go type"]


def test_php_points_from_the_subclass_to_its_base() -> None:
    text = r"""
    <?php
    class Base { const A = 1; function run() { return static::A; } }
    class Kid extends Base { const B = parent::A; function run() { parent::run(); return new self(); } }
    """
    outline = read("php", text, "a.php")
    assert mentions(outline, "extends") == ["3 Kid: Base name"]
    assert mentions(outline, "calls") == ["3 Kid.run: Kid name", "3 Kid.run: run super"]
    assert mentions(outline, "references") == ["2 Base.run: A self", "3 Kid.B: A super"]


def test_php_names_of_the_same_namespace_need_no_use() -> None:
    text = r"""
    <?php
    namespace Acme;
    class A {
        #[Column]
        public Item $best;
        function f() { return [Colour::Red, Item::class]; }
    }
    """
    assert mentions(read("php", text, "a.php"), "references") == [
        "4 A.best: Column name",
        "5 A.best: Item name",
        "6 A.f: Colour.Red type",
        "6 A.f: Item name",
    ]
