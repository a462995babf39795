"""Chunks of source code are whole definitions under their names, in every language and in broken files."""

import pytest

from quintet.codegraph.blocks import MAX_LISTED
from quintet.formats.blocks import Block
from quintet.indexing.parse import parse

FILLER = "x" * 400  # makes a class too long to stay whole

PYTHON = f'''\
"""Doc."""
import a

X = 1

# About f.
@dec
def f():
    def inner():
        pass

class Big(Base):
    """{FILLER}"""
    field = 1

    # About m.
    @property
    def m(self):
        return 1

    late = 2

    async def n(self): ...

class Small:
    def m(self): ...
'''


def outline(path: str, text: str) -> list[tuple[str, str, int, int]]:
    """The blocks, without the lists of members."""
    blocks = [block for block in parse(path, text).blocks if not block.text.startswith("…")]
    return [(b.kind, ".".join(b.heading_path), b.first_line, b.last_line) for b in blocks]


def test_python_is_cut_into_definitions_and_what_lies_between() -> None:
    assert outline("a.py", PYTHON) == [
        ("module", "", 1, 2),
        ("module", "", 4, 4),
        ("function", "f", 6, 10),
        ("class", "Big", 12, 14),
        ("method", "Big.m", 16, 19),
        ("method", "Big.n", 21, 23),
        ("class", "Small", 25, 26),
    ]


def test_a_definition_stands_alone_and_knows_its_name() -> None:
    block = parse("a.py", "def f():\n    return 1\n").blocks[0]
    expected = Block("def f():\n    return 1", 1, 2, ("f",), "function", "f", alone=True)
    assert block == expected._replace(signature="def f()", defined_at=1)


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.js", "/** d */\nexport default function f() {}\n", [("function", "f", 1, 2)]),
        (
            "a.js",
            "let x = 1;\nexport const g = async () => {\n};\n",
            [("module", "", 1, 1), ("function", "g", 2, 3)],
        ),
        (
            "a.ts",
            "export interface I {\n a: string;\n}\nenum E { A }\n",
            [("interface", "I", 1, 3), ("enum", "E", 4, 4)],
        ),
        ("a.ts", "@Dec()\nexport class A { m() {} }\n", [("class", "A", 1, 2)]),
        ("a.ts", "namespace N {\n  function f() {}\n}\n", [("function", "N.f", 1, 3)]),
        ("a.tsx", "const A = () => <p>x</p>;\n", [("function", "A", 1, 1)]),
        ("a.rs", "/// d\n#[derive(A)]\npub struct S { a: i32 }\n", [("struct", "S", 1, 3)]),
        (
            "a.rs",
            "mod m {\n  fn g() {}\n}\nmod n;\n",
            [("function", "m.g", 1, 4)],
        ),
        ("a.go", "package a\n\n// F is.\nfunc F() {}\n", [("module", "", 1, 1), ("function", "F", 3, 4)]),
        (
            "a.go",
            "func (s *S[T]) M() {}\ntype S struct { a int }\n",
            [("method", "S.M", 1, 1), ("struct", "S", 2, 2)],
        ),
        ("A.java", "/** d */\n@Ann\npublic class A { void m() {} }\n", [("class", "A", 1, 3)]),
        ("a.c", "/* d */\nstatic int *f(int a) { return 0; }\n", [("function", "f", 1, 2)]),
        (
            "a.c",
            "typedef struct { int b; } T;\ntypedef int U;\n",
            [("struct", "T", 1, 2)],
        ),
        (
            "a.h",
            "#ifndef H\nint f() { return 1; }\n#endif\n",
            [("module", "", 1, 1), ("function", "f", 2, 3)],
        ),
        ("a.h", "namespace n {\nclass A { };\n}\n", [("class", "n.A", 1, 3)]),
        (
            "a.cpp",
            "template <class T>\nT f(T a) { return a; }\nint &A::p() {}\n",
            [("function", "f", 1, 2), ("method", "A.p", 3, 3)],
        ),
        ("a.cs", "namespace N {\n [At]\n class A { }\n}\n", [("class", "N.A", 1, 4)]),
        (
            "a.rb",
            "module M\n  # doc\n  class A\n  end\nend\n",
            [("class", "M.A", 1, 5)],
        ),
        ("a.php", "<?php\n/** d */\nfunction f() {}\n", [("module", "", 1, 1), ("function", "f", 2, 3)]),
        (
            "a.sh",
            "#!/bin/sh\n\n# d\nf() { echo; }\nX=1\n",
            [("module", "", 1, 1), ("function", "f", 3, 5)],
        ),
    ],
)
def test_each_language_names_its_definitions(
    path: str, text: str, expected: list[tuple[str, str, int, int]]
) -> None:
    assert outline(path, text) == expected


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.py", "if X:\n    def f(): ...\nelse:\n    def f(): ...\n", [" 1-1", "f 2-2", "f 3-4"]),
        ("a.py", f"class A:  # {FILLER}\n    def m(self): ...\n", ["A 1-1", "A.m 2-2"]),
        ("a.js", "exports.f = function () {\n};\n", ["f 1-2"]),
        (
            "a.js",
            "const api = {\n  run() {},\n\n  stop: () => {},\n};\n",
            [" 1-1", "api.run 2-2", "api.stop 4-5"],
        ),
        ("a.ts", "function f(a: A): A;\n// b\nfunction f(a: B): B;\nfunction f(a) {}\n", ["f 1-4"]),
        ("a.ts", "test('x', () => {\n  class A {}\n  function f() {}\n});\n", [" 1-4"]),
        ("a.rb", "describe 'x' do\n  def helper\n  end\nend\n", [" 1-4"]),
        ("a.c", f"typedef struct a {{\n  int {FILLER};\n}} b;\n", ["b 1-3"]),
        ("a.c", "int f(void);\n#define G(x) x\nint h(void) { return 1; }\n", [" 1-2", "h 3-3"]),
        (
            "a.cpp",
            f"class A {{\n  int {FILLER};\n  A() = default;\n  int m() {{}}\n}};\n",
            ["A 1-3", "A.m 4-5"],
        ),
        ("a.cpp", f"class A {{\n  int {FILLER};\n  struct B {{ int b; }};\n}};\n", ["A 1-2", "A.B 3-4"]),
        ("a.go", "type (\n\tA struct{}\n\t// of B\n\tB struct{}\n)\n", [" 1-1", "A 2-2", "B 3-5"]),
        ("a.rs", "macro_rules! m {\n  () => {};\n}\nfn f();\n", ["m 1-4"]),
        ("a.php", "<?php\nnamespace N\\M {\n  function f() {}\n}\n", [" 1-1", "N\\M.f 2-4"]),
    ],
)
def test_what_a_file_defines_is_cut_out_wherever_it_stands_but_not_out_of_functions(
    path: str, text: str, expected: list[str]
) -> None:
    assert [f"{name} {first}-{last}" for _, name, first, last in outline(path, text)] == expected


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.py", "# of f\n# too\ndef f():\n    # of g\n    def g(): ...\n", {"f": 2, "f.g": 0}),
        ("a.py", "x = 1  # of x\ny = 2\n", {"x": 0, "y": 0}),
        ("a.py", "class A:  # of A\n    x = 1\n    # of y\n    y = 2\n", {"A": 0, "A.x": 0, "A.y": 1}),
        ("a.py", "class A:\n    # of x\n    x = 1\n", {"A": 0, "A.x": 1}),
        ("a.ts", "enum E {\n  // of A\n  A,\n}\n", {"E": 0, "E.A": 1}),
        ("a.rs", "/// a\n#[b]\nstruct S;\n", {"S": 2}),
        ("a.c", "/* a\n   b */ int x;\n", {"x": 1}),
        ("a.c", "/* a */ int x;\n/* b */ int y;\n/* c */ // d\nint z;\n", {"x": 0, "y": 0, "z": 1}),
        ("a.ts", "/** a */\nfunction f(a: A): A;\nfunction f(a) {}\n", {"f": 2}),
    ],
)
def test_a_symbol_knows_how_many_rows_above_belong_to_it(
    path: str, text: str, expected: dict[str, int]
) -> None:
    found = parse(path, text).outline
    assert found is not None
    assert {".".join(symbol.path): symbol.above for symbol in found.symbols[1:]} == expected


@pytest.mark.parametrize(
    ("path", "head", "method"),
    [
        ("a.js", "class A {", "  m() {\n  }"),
        ("a.ts", "abstract class A {", "  m = () => {\n  };"),
        ("a.rs", "impl<T> Tr for A<T> {", "  fn m(&self) {\n  }"),
        ("A.java", "class A {", "  @Override\n  void m() { }"),
        ("a.cpp", "class A {", "  int m() const {\n  }"),
        ("a.cs", "class A {", "  public void m()\n  { }"),
        ("a.php", "class A {", "  public function m() {\n  }"),
    ],
)
def test_a_long_class_is_its_head_and_its_methods_with_the_closing_bracket(
    path: str, head: str, method: str
) -> None:
    opening = "<?php " if path == "a.php" else ""
    text = f"{opening}{head}\n  // {FILLER}\n\n  /** d */\n{method}\n}}\n"
    head, members, *blocks = parse(path, text).blocks
    assert [(b.heading_path, b.first_line, b.last_line) for b in (head, *blocks)] == [
        (("A",), 1, 2),
        (("A", "m"), 4, 7),
    ]
    assert (blocks[0].kind, blocks[0].name, blocks[0].alone) == ("method", "m", True)
    assert members.text.split("\n")[0] == "…" and "m" in members.text.split("\n")[1]


def test_the_head_of_a_file_or_class_is_followed_by_a_list_of_its_members() -> None:
    lists = [block for block in parse("a.py", PYTHON).blocks if block.text.startswith("…")]
    assert [block.text.split("\n") for block in lists] == [
        ["…", "def f()", "class Big(Base)", "class Small"],
        ["…", "    def m(self)", "    async def n(self)"],
    ]
    assert [(block.heading_path, block.name, block.tight) for block in lists] == [
        ((), "", True),
        (("Big",), "", True),
    ]


def test_a_list_of_members_names_each_once_and_has_an_end() -> None:
    methods = "".join(f"    def member_{at % 60}(self): ...\n" for at in range(120))
    blocks = parse("a.py", f"class Long:\n    # {FILLER}\n\n{methods}").blocks
    listed = next(block.text for block in blocks if block.text.startswith("…"))
    assert listed.count("member_7(") == 1
    assert len(listed) <= MAX_LISTED + 2


@pytest.mark.parametrize(
    ("between", "joins"),
    [
        ("LIMIT = 3", True),
        ("# " + "a comment " * 40, True),
        ("import json\nfrom os import path\n" * 12, True),
        ("TABLE = [\n" + "    'a row of the table',\n" * 12 + "]", False),
    ],
)
def test_lines_that_say_little_join_the_definition_below_them(between: str, joins: bool) -> None:
    blocks = parse("a.py", f"def f():\n    return 1\n\n{between}\n\ndef g():\n    return 2\n").blocks
    assert [block.name for block in blocks] == (["f", "g"] if joins else ["f", "", "g"])
    assert between.strip() in blocks[1].text


def test_lines_that_say_little_at_the_end_join_the_definition_above_them() -> None:
    blocks = parse("a.js", "function f() {\n  return 1;\n}\n\nmodule.exports = f;\n").blocks
    assert [(block.name, block.first_line, block.last_line) for block in blocks] == [("f", 1, 5)]


def test_a_broken_file_still_names_what_can_be_read() -> None:
    assert ("function", "g", 3, 4) in outline("a.py", "def f(:\n\ndef g():\n    pass\n")


def test_many_files_can_be_read_in_one_process() -> None:
    first = outline("a.py", PYTHON)
    assert all(outline("a.py", PYTHON) == first for _ in range(300))


def test_two_definitions_on_one_line_are_one_block() -> None:
    assert outline("a.js", "function a() {} function b() {\n}\n") == [("function", "a", 1, 2)]


@pytest.mark.parametrize(
    "path",
    [
        *("a.java", "a.cs", "a.go", "a.sh", "a.js", "a.cpp"),
        *("a.swift", "a.kt", "a.scala", "a.ex", "a.lua", "a.hs", "a.zig"),
    ],
)
@pytest.mark.parametrize(
    "unit", ["{[", "a<b<", "'\"`", "a(b(c<d>", "if (x) ", "<<EOF\n", "function f() {}\n"]
)
def test_hostile_source_is_read_without_loss(path: str, unit: str) -> None:
    text = unit * (100_000 // len(unit))
    blocks = [block for block in parse(path, text).blocks if not block.text.startswith("…")]
    assert sum(len(block.text.split()) for block in blocks) == len(text.split())
