"""Names that need no import: of the same package, a base class or an included file."""

from codegraph.resolve.outlines import edges


def test_c_macros_and_variables_come_from_an_included_header() -> None:
    project = {
        "inc/limits.h": "#define MAX 3\n#define TWICE(x) ((x) * 2)\nextern int shared;\n",
        "src/limits.c": '#include "../inc/limits.h"\nint shared = 1;\n',
        "src/use.c": '#include "../inc/limits.h"\nint use(void) { return TWICE(MAX) + shared; }\n',
        "src/apart.c": "int apart(void) { return TWICE(1); }\n",
    }
    assert edges(project) == [
        "calls src/apart.c:apart -> inc/limits.h:TWICE likely",
        "calls src/use.c:use -> inc/limits.h:TWICE exact",
        "imports src/limits.c -> inc/limits.h exact",
        "imports src/use.c -> inc/limits.h exact",
        "references src/use.c:use -> inc/limits.h:MAX exact",
        "references src/use.c:use -> src/limits.c:shared exact",
    ]


def test_a_go_value_may_stand_in_another_file_of_the_package() -> None:
    project = {
        "a/a.go": "package a\nfunc start() { enlist(worker, limit) }\n",
        "a/b.go": "package a\nvar limit = 1\nfunc worker() {}\nfunc enlist(f func(), n int) {}\n",
        "b/b.go": "package b\nvar limit = 2\nfunc worker() {}\n",
    }
    assert edges(project) == [
        "calls a/a.go:start -> a/b.go:enlist exact",
        "references a/a.go:start -> a/b.go:limit exact",
        "references a/a.go:start -> a/b.go:worker exact",
    ]


def test_java_constructors_constants_and_annotations_of_the_same_package() -> None:
    project = {
        "a/Base.java": "package a;\nclass Base { Base(int n) { } }\n",
        "a/Colour.java": "package a;\nenum Colour { RED }\n",
        "a/Mark.java": "package a;\n@interface Mark { }\n",
        "a/Kid.java": """
            package a;
            class Kid extends Base {
                @Mark Colour best = Colour.RED;
                Kid() { super(1); }
            }
            """,
        "b/Colour.java": "package b;\nenum Colour { RED }\n",
    }
    assert edges(project) == [
        "calls a/Kid.java:Kid.Kid -> a/Base.java:Base.Base exact",
        "extends a/Kid.java:Kid -> a/Base.java:Base exact",
        "references a/Kid.java:Kid.best -> a/Colour.java:Colour exact",
        "references a/Kid.java:Kid.best -> a/Colour.java:Colour.RED exact",
        "references a/Kid.java:Kid.best -> a/Mark.java:Mark exact",
    ]


def test_csharp_constructors_constants_and_attributes_of_the_same_namespace() -> None:
    project = {
        "Base.cs": "namespace A;\nclass Base { public Base(int n) { } }\nenum Colour { Red }\n",
        "Mark.cs": "namespace A;\nclass MarkAttribute : Attribute { }\n",
        "Kid.cs": """
            namespace A;
            [Mark]
            class Kid : Base {
                Kid() : base(1) { }
                int F() { return (int)Colour.Red; }
            }
            """,
    }
    assert edges(project) == [
        "calls Kid.cs:Kid.Kid -> Base.cs:Base.Base exact",
        "extends Kid.cs:Kid -> Base.cs:Base exact",
        "references Kid.cs:Kid -> Mark.cs:MarkAttribute exact",
        "references Kid.cs:Kid.F -> Base.cs:Colour.Red exact",
    ]


def test_php_constants_of_the_class_its_parent_and_the_same_namespace() -> None:
    project = {
        "Base.php": "<?php\nnamespace A;\nclass Base { const LIMIT = 1; }\nenum Colour { case Red; }\n",
        "Kid.php": r"""
            <?php
            namespace A;
            class Kid extends Base {
                const OWN = 2;
                static function make() { return new static(); }
                function f() { return [self::OWN, self::LIMIT, parent::LIMIT, Colour::Red]; }
            }
            """,
    }
    assert edges(project) == [
        "calls Kid.php:Kid.make -> Kid.php:Kid exact",
        "extends Kid.php:Kid -> Base.php:Base exact",
        "references Kid.php:Kid.f -> Base.php:Base.LIMIT exact",
        "references Kid.php:Kid.f -> Base.php:Colour.Red exact",
        "references Kid.php:Kid.f -> Kid.php:Kid.OWN exact",
    ]


def test_what_a_c_file_keeps_to_itself_is_not_guessed_elsewhere() -> None:
    project = {
        "a.cpp": "const int limit = 1;\nstatic int help() { return limit; }\nint run() { return help(); }\n",
        "b.cpp": "int other() { return limit + help() + run(); }\n",
    }
    assert edges(project) == [
        "calls a.cpp:run -> a.cpp:help exact",
        "calls b.cpp:other -> a.cpp:run likely",
        "references a.cpp:help -> a.cpp:limit exact",
    ]


def test_a_cpp_base_constructor_is_only_referred_to_where_another_file_has_the_class() -> None:
    project = {
        "shop.hpp": "class Base { public: Base(int n); };\nclass Shop : Base { Shop(); int size_; };\n",
        "shop.cpp": '#include "shop.hpp"\nShop::Shop() : Base(1), size_(2) {}\n',
    }
    assert edges(project, "calls", "references") == [
        "references shop.cpp:Shop.Shop -> shop.hpp:Base exact",
        "references shop.cpp:Shop.Shop -> shop.hpp:Shop.size_ exact",
    ]
