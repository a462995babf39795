"""A small project for each language, with its edges listed by hand."""

from codegraph.resolve.outlines import edges, listed
from quintet.model.symbols import FileOutline, Import, Mention, Outline, Symbol


def test_rust_modules_uses_and_impls_in_other_files() -> None:
    project = {
        "src/lib.rs": """
            pub mod shapes;
            pub use shapes::Circle;
            pub fn area(c: &Circle) -> f64 { c.area() }
            #[cfg(test)]
            mod tests {
                use super::*;
                #[test]
                fn t() { area(&Circle::new()); }
            }
            """,
        "src/shapes.rs": """
            use crate::math::square;
            pub trait Shape { fn area(&self) -> f64; }
            pub struct Circle { r: f64 }
            impl Circle { pub fn new() -> Self { Circle { r: 1.0 } } }
            impl Shape for Circle { fn area(&self) -> f64 { square(self.r) } }
            """,
        "src/math.rs": "pub fn square(x: f64) -> f64 { helper(x) }\nfn helper(x: f64) -> f64 { x * x }\n",
        "src/extra.rs": """
            use crate::shapes::Circle;
            impl Circle { pub fn grow(&self) -> f64 { self.area() } }
            fn go(c: Circle) { c.grow(); std::mem::drop(c); }
            """,
    }
    assert edges(project, "calls", "imports", "implements") == [
        "calls src/extra.rs:Circle.grow -> src/shapes.rs:Circle.area exact",
        "calls src/extra.rs:go -> src/extra.rs:Circle.grow exact",
        "calls src/lib.rs:area -> src/shapes.rs:Circle.area exact",
        "calls src/lib.rs:tests.t -> src/lib.rs:area exact",
        "calls src/lib.rs:tests.t -> src/shapes.rs:Circle.new exact",
        "calls src/math.rs:square -> src/math.rs:helper exact",
        "calls src/shapes.rs:Circle.area -> src/math.rs:square exact",
        "implements src/shapes.rs:Circle -> src/shapes.rs:Shape exact",
        "imports src/extra.rs -> src/shapes.rs:Circle exact",
        "imports src/lib.rs -> src/shapes.rs exact",
        "imports src/lib.rs -> src/shapes.rs:Circle exact",
        "imports src/shapes.rs -> src/math.rs:square exact",
    ]


def test_go_packages_are_folders() -> None:
    project = {
        "cmd/app/main.go": """
            package main
            import ("fmt"; "example.org/shop/internal/store"; "example.org/other/json")
            func main() { s := store.Open(); s.Close(); fmt.Println(helper()); json.Dump() }
            """,
        "cmd/app/help.go": 'package main\nfunc helper() string { return "x" }\n',
        "internal/store/store.go": """
            package store
            type Store struct{}
            func Open() *Store { return &Store{} }
            """,
        "internal/store/close.go": """
            package store
            func (s *Store) Close() { s.flush() }
            func (s *Store) flush() { s.flush() }
            """,
        "json/json.go": "package json\nfunc Dump() {}\n",
    }
    assert edges(project, "calls") == [
        "calls cmd/app/main.go:main -> cmd/app/help.go:helper exact",
        "calls cmd/app/main.go:main -> internal/store/close.go:Store.Close likely",
        "calls cmd/app/main.go:main -> internal/store/store.go:Open exact",
        "calls cmd/app/main.go:main -> json/json.go:Dump likely",
        "calls internal/store/close.go:Store.Close -> internal/store/close.go:Store.flush exact",
        "calls internal/store/close.go:Store.flush -> internal/store/close.go:Store.flush exact",
    ]


def test_java_packages_bases_and_overloads() -> None:
    project = {
        "a/Base.java": """
            package a;
            public class Base { void run() {} void run(int x) {} static void help() {} }
            """,
        "a/Kid.java": """
            package a;
            class Kid extends Base implements Runnable {
                void go() { run(); super.run(); help(); this.go(); }
            }
            """,
        "b/Use.java": """
            package b;
            import a.Kid;
            import java.util.List;
            class Use {
                void use(Kid k, List l) { k.go(); k.run(); a.Base.help(); l.add(1); }
                void add(int x) {}
            }
            """,
    }
    assert edges(project, "calls", "imports", "extends", "implements") == [
        "calls a/Kid.java:Kid.go -> a/Base.java:Base.help exact",
        "calls a/Kid.java:Kid.go -> a/Base.java:Base.run exact",
        "calls a/Kid.java:Kid.go -> a/Kid.java:Kid.go exact",
        "calls b/Use.java:Use.use -> a/Base.java:Base.help exact",
        "calls b/Use.java:Use.use -> a/Base.java:Base.run exact",
        "calls b/Use.java:Use.use -> a/Kid.java:Kid.go exact",
        "extends a/Kid.java:Kid -> a/Base.java:Base exact",
        "imports b/Use.java -> a/Kid.java:Kid exact",
    ]


def test_c_calls_reach_the_definition_behind_a_header() -> None:
    project = {
        "util.h": "int add(int a, int b);\n",
        "util.c": """
            #include "util.h"
            static int inner(int a) { return a; }
            int add(int a, int b) { return inner(a) + b; }
            """,
        "all.h": '#include "util.h"\n',
        "main.c": '#include <stdio.h>\n#include "all.h"\nint main(void) { printf("x"); return add(1, 2); }\n',
        "other.c": "int lone(void) { return add(1, 2); }\nstatic int inner(void) { return 1; }\n",
    }
    assert edges(project, "calls", "imports") == [
        "calls main.c:main -> util.c:add exact",
        "calls other.c:lone -> util.c:add likely",
        "calls util.c:add -> util.c:inner exact",
        "imports all.h -> util.h exact",
        "imports main.c -> all.h exact",
        "imports util.c -> util.h exact",
    ]


def test_cpp_classes_are_defined_in_two_files() -> None:
    project = {
        "shape.hpp": """
            namespace geo {
            class Shape { public: virtual double area(); void draw() { area(); } };
            class Circle : public Shape { public: double area() override; double r(); };
            }
            """,
        "shape.cpp": """
            #include "shape.hpp"
            namespace geo {
            double Shape::area() { return 0; }
            double Circle::area() { return r() + Shape::area(); }
            double Circle::r() { return 1; }
            }
            """,
        "main.cpp": """
            #include "shape.hpp"
            using namespace geo;
            int main() { Circle c; c.area(); geo::Shape s; s.draw(); }
            """,
    }
    assert edges(project, "calls", "extends") == [
        "calls main.cpp:main -> shape.cpp:geo.Circle.area exact",
        "calls main.cpp:main -> shape.hpp:geo.Shape.draw exact",
        "calls shape.cpp:geo.Circle.area -> shape.cpp:geo.Circle.r exact",
        "calls shape.cpp:geo.Circle.area -> shape.cpp:geo.Shape.area exact",
        "calls shape.hpp:geo.Shape.draw -> shape.cpp:geo.Shape.area exact",
        "extends shape.hpp:geo.Circle -> shape.hpp:geo.Shape exact",
    ]


def test_csharp_namespaces_and_partial_classes() -> None:
    project = {
        "A.cs": "namespace Shop.Model;\npublic partial class Item { public void Buy() { Check(); } }\n",
        "A2.cs": "namespace Shop.Model;\npublic partial class Item { void Check() {} }\n",
        "B.cs": """
            using Shop.Model;
            namespace Shop.Web;
            public class Page : Item, IPage { public void Show(Item i) { i.Buy(); base.Buy(); } }
            public interface IPage {}
            """,
    }
    assert edges(project, "calls", "implements") == [
        "calls A.cs:Item.Buy -> A2.cs:Item.Check exact",
        "calls B.cs:Page.Show -> A.cs:Item.Buy exact",
        "implements B.cs:Page -> B.cs:IPage exact",
    ]


def test_php_namespaces_and_static_calls() -> None:
    project = {
        "src/Model/Item.php": r"""
            <?php
            namespace Shop\Model;
            class Item {
                public function buy() { $this->check(); self::make(); }
                private function check() {}
                public static function make() {}
            }
            function helper() {}
            """,
        "src/Web/Page.php": r"""
            <?php
            namespace Shop\Web;
            use Shop\Model\Item;
            use Vendor\Thing;
            class Page extends Item {
                public function show(Item $i) { $i->buy(); parent::buy(); \Shop\Model\helper(); new Thing(); }
            }
            """,
        "src/Model/Thing.php": "<?php\nnamespace Shop\\Model;\nclass Thing {}\n",
    }
    assert edges(project, "calls", "imports", "extends") == [
        "calls src/Model/Item.php:Item.buy -> src/Model/Item.php:Item.check exact",
        "calls src/Model/Item.php:Item.buy -> src/Model/Item.php:Item.make exact",
        "calls src/Web/Page.php:Page.show -> src/Model/Item.php:Item.buy exact",
        "calls src/Web/Page.php:Page.show -> src/Model/Item.php:helper exact",
        "extends src/Web/Page.php:Page -> src/Model/Item.php:Item exact",
        "imports src/Web/Page.php -> src/Model/Item.php:Item exact",
    ]


def test_shell_functions_come_from_sourced_files() -> None:
    project = {
        "lib/log.sh": 'log() { echo "$1"; }\n',
        "lib/all.sh": "source ./log.sh\n",
        "run.sh": "source ./lib/all.sh\nmain() { log hi; ls; main; }\nmain\n",
        "other.sh": "log x\n",
    }
    assert edges(project, "calls", "imports") == [
        "calls other.sh -> lib/log.sh:log likely",
        "calls run.sh -> run.sh:main exact",
        "calls run.sh:main -> lib/log.sh:log exact",
        "calls run.sh:main -> run.sh:main exact",
        "imports lib/all.sh -> lib/log.sh exact",
        "imports run.sh -> lib/all.sh exact",
    ]


def test_ruby_constants_are_global_and_classes_reopened() -> None:
    module = Symbol("module", (), 1, 9)
    shop = Symbol("module", ("Shop",), 1, 9, 0)
    item = Symbol("class", ("Shop", "Item"), 2, 8, 1)
    files = [
        FileOutline(
            "item",
            "lib/shop/item.rb",
            Outline("ruby", (module, shop, item, Symbol("method", ("Shop", "Item", "buy"), 3, 4, 2))),
        ),
        FileOutline(
            "more",
            "lib/shop/more.rb",
            Outline("ruby", (module, shop, item, Symbol("method", ("Shop", "Item", "sell"), 3, 4, 2))),
        ),
        FileOutline(
            "page",
            "lib/shop/page.rb",
            Outline(
                "ruby",
                (
                    module,
                    shop,
                    Symbol("class", ("Shop", "Page"), 2, 9, 1),
                    Symbol("method", ("Shop", "Page", "show"), 3, 8, 2),
                ),
                (Import(0, 1, "shop/item"), Import(0, 1, "json")),
                (
                    Mention(2, "extends", ("Item",), 2),
                    Mention(3, "calls", ("buy",), 4, "self"),
                    Mention(3, "calls", ("sell",), 5),
                    Mention(3, "calls", ("Shop", "Item", "sell"), 6),
                    Mention(3, "calls", ("JSON", "parse"), 7),
                ),
            ),
        ),
    ]
    assert listed(files, "calls", "imports", "extends") == [
        "calls lib/shop/page.rb:Shop.Page.show -> lib/shop/item.rb:Shop.Item.buy exact",
        "calls lib/shop/page.rb:Shop.Page.show -> lib/shop/more.rb:Shop.Item.sell exact",
        "extends lib/shop/page.rb:Shop.Page -> lib/shop/item.rb:Shop.Item possible",
        "extends lib/shop/page.rb:Shop.Page -> lib/shop/more.rb:Shop.Item possible",
        "imports lib/shop/page.rb -> lib/shop/item.rb exact",
    ]
