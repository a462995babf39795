"""A file that is added, removed or changed reaches the files that name it, and no others."""

import pytest

from codegraph.resolve.layouts import Edit, unlinked
from codegraph.resolve.outlines import outlines as read
from quintet.codegraph.resolve import Project, resolve
from quintet.indexing.link import documents_to_link
from quintet.model.symbols import FileOutline, Mention, Outline

SHOP = ("src", "shop")


def files_of(sources: dict[str, str]) -> list[FileOutline]:
    """Code as its parsers read it; in a document every word is a mention."""
    files = []
    for path, text in sources.items():
        mentions = tuple(Mention(0, "references", (word,), 1) for word in text.split())
        document = FileOutline(f"id of {path}", path, Outline("markdown", mentions=mentions))
        files += [document] if path.endswith(".md") else read({path: text})
    return files


def reached_by(before: dict[str, str], after: dict[str, str], location: tuple[str, ...] = ()) -> set[str]:
    """The paths of the unchanged files that an edit reaches. Files that it does not reach must keep their
    edges."""
    edit = Edit(files_of(before), files_of(after))
    project = Project(edit.after, location)
    found = documents_to_link(project, edit.after, unlinked(edit))
    old, new = resolve(Project(edit.before, location)), resolve(project)
    assert all(old[document] == edges for document, edges in new.items() if document not in found)
    return {path for path, text in after.items() if f"id of {path}" in found and before.get(path) == text}


CHAIN = {
    "low.py": "class Low:\n    def run(self): ...\n",
    "middle.py": "from low import Low as Base\nclass Middle(Base): ...\n",
    "high.py": "from middle import Middle as Top\ndef f():\n    Top().run()\n",
    "apart.py": "def g():\n    g()\n",
}


def test_a_change_reaches_through_renamed_imports_and_base_classes_and_no_further() -> None:
    others = {path: text for path, text in CHAIN.items() if path != "low.py"}
    assert reached_by(CHAIN, others) == {"middle.py", "high.py"}


def test_a_folder_that_becomes_a_package_is_no_longer_read_from() -> None:
    before = {"x/a.py": "import helper\nhelper.f()\n", "x/helper.py": "def f(): ...\n"}
    after = before | {"x/__init__.py": ""}
    assert len(resolve(Project(read(before)))["id of x/a.py"]) == 2
    assert resolve(Project(read(after)))["id of x/a.py"] == ()
    assert reached_by(before, after) == {"x/a.py"}


def test_what_a_new_package_takes_away_is_passed_on_to_those_who_had_it_from_others() -> None:
    before = {
        "x/a.py": "import helper as h\n",
        "x/c.py": "from .a import h\nh.f()\n",
        "x/helper.py": "def f(): ...\n",
    }
    after = before | {"x/__init__.py": ""}
    assert len(resolve(Project(read(before)))["id of x/c.py"]) == 2
    assert [edge.target for edge in resolve(Project(read(after)))["id of x/c.py"]] == ["id of x/a.py"]
    assert reached_by(before, after) == {"x/a.py", "x/c.py"}


def test_a_root_that_becomes_a_package_can_be_imported_by_its_name() -> None:
    before = {
        "a.py": "from shop.b import f as g\n",
        "b.py": "def f(): ...\n",
        "c.py": "from .a import g\ng()\n",
    }
    after = before | {"__init__.py": ""}
    assert resolve(Project(read(before), SHOP))["id of a.py"] == ()
    assert len(resolve(Project(read(after), SHOP))["id of c.py"]) == 2
    assert reached_by(before, after, SHOP) == {"a.py", "c.py"}


@pytest.mark.parametrize("user", ("from shop import f\nf()\n", "import shop\nshop.f()\n"))
def test_what_the_root_takes_in_is_seen_by_those_who_import_it_by_its_name(user: str) -> None:
    before = {"__init__.py": "", "a.py": "def f(): ...\n", "user.py": user}
    after = before | {"__init__.py": "from .a import *\n"}
    documents = [resolve(Project(read(files), SHOP))["id of user.py"] for files in (before, after)]
    assert documents[0] != documents[1]
    assert reached_by(before, after, SHOP) == reached_by(after, before, SHOP) == {"user.py"}


def test_edges_that_went_with_the_root_are_made_again_for_those_who_import_it_by_its_name() -> None:
    files = read({"__init__.py": "", "user.py": "import shop\n", "apart.py": "import os\n"})
    project = Project(files, SHOP)
    assert [edge.target for edge in resolve(project)["id of user.py"]] == ["id of __init__.py"]
    found = documents_to_link(project, files, unlinked(Edit(files, files), "id of __init__.py"))
    assert found == {"id of __init__.py", "id of user.py"}


PACKAGE = {
    "shop/__init__.py": "",
    "shop/cart.py": "import os\nfrom shop import prices\nfrom . import tax\n",
    "shop/prices.py": "import shop\nclass Price:\n    def __init__(self): ...\n",
    "user.py": "import shop.cart\nfrom shop.prices import Price\nimport os\n",
}


@pytest.mark.parametrize(
    ("path", "text", "readers"),
    (
        ("shop/gift.py", "import os\nfrom shop import prices\ndef wrap(): ...\n", set()),
        ("shop/tax.py", "", {"shop/cart.py"}),
        ("shop/tax/__init__.py", "", {"shop/cart.py"}),
        ("shop/tax/rate.py", "", {"shop/cart.py"}),  # the first file of a folder
        ("other/__init__.py", "import shop\n", set()),
        ("lib/shop/more.py", "", {"user.py", "shop/cart.py", "shop/prices.py"}),  # a second `shop`
        ("__init__.py", "", {"user.py", "shop/cart.py", "shop/prices.py"}),  # `shop` is read from the root
    ),
)
def test_a_file_that_comes_or_goes_reaches_those_who_name_it_or_what_it_defines(
    path: str, text: str, readers: set[str]
) -> None:
    with_it = {**PACKAGE, path: text}
    assert reached_by(PACKAGE, with_it) == reached_by(with_it, PACKAGE) == readers


def test_a_second_file_of_a_folder_reaches_nobody_who_only_names_the_folder() -> None:
    user = {"user.py": "from shop import tax\n", "shop/__init__.py": ""}
    first, second = {"shop/tax/rate.py": ""}, {"shop/tax/more.py": ""}
    assert reached_by(user, user | first) == reached_by(user | first, user) == {"user.py"}
    assert reached_by(user | first, user | first | second) == set()
    assert reached_by(user | first, user | second) == set()
    assert reached_by(user, user | first | second) == {"user.py"}


def test_a_name_that_many_have_reaches_only_documents_and_those_who_name_its_class() -> None:
    many = "".join(f"class C{number}:\n    def run(self): ...\n" for number in range(9))
    before = {
        "many.py": many,
        "caller.py": "def f(x):\n    x.run()\n",
        "kid.py": "class Kid(Base): ...\n",
        "README.md": "run",
    }
    base = {"base.py": "class Base:\n    def run(self): ...\n"}
    assert reached_by(before, before | base) == {"kid.py", "README.md"}
    few = before | {"many.py": many[: many.index("class C8")]}
    assert reached_by(few, few | base) == {"kid.py", "README.md", "caller.py"}
    functions = before | {"many.py": "def run(): ...\n" * 9}  # no method is meant by these
    assert reached_by(functions, functions | base) == {"kid.py", "README.md", "caller.py"}
    user = {"base.py": "class Base: ...\n", "user.py": "from base import Base, run\nBase.run()\nrun()\n"}
    assert reached_by(before | user, before | user | base) == {"kid.py", "README.md", "user.py"}
    module = {"base.py": "class Base: ...\ndef run(): ...\n"}
    assert reached_by(functions | user, functions | user | module) >= {"README.md", "user.py"}
    renamed = before | {"many.py": many.replace("C8", "C9")}
    assert reached_by(before, renamed) == {"README.md", "caller.py"}  # what changed is not counted


@pytest.mark.parametrize(
    ("files", "path", "text", "reader"),
    (
        ({"a.py": "from . import b\n"}, "__init__.py", "", "a.py"),
        (
            {"b.py": "from c import *\n", "a.py": "from b import x\nx()\n", "d.py": "def x(): ...\n"},
            *("c.py", "", "a.py"),
        ),
        ({"a.c": "#include <a.h>\n"}, "lib/a.h", "", "a.c"),
        ({"a.ts": 'import { f } from "./lib/index";\n'}, "lib/index.ts", "", "a.ts"),
        ({"a.ts": 'import { f } from ".";\n'}, "index.ts", "", "a.ts"),
        ({"b.ts": 'import { f } from "./a.js";\n'}, "a.ts", "", "b.ts"),
        ({"lib/a.ts": 'import { f } from ".";\n'}, "lib/index.ts", "", "lib/a.ts"),
        ({"lib/b.ts": 'import { f } from "../a/index";\n'}, "a.ts", "", "lib/b.ts"),
        ({"b.ts": 'import { f } from "a/index.ts";\n'}, "a.d.ts", "", "b.ts"),
        ({"lib/a.ts": 'import { f } from "./index.js";\n'}, "lib.ts", "", "lib/a.ts"),
        ({"b.ts": 'import { f } from "./user.service.js";\n'}, "user.service.ts", "", "b.ts"),
        ({"a.sh": "source lib/b.sh/$X\n"}, "lib/b.sh", "", "a.sh"),
        ({"a.rb": 'require "lib/b.rb/."\n'}, "lib/b.rb", "", "a.rb"),
        ({"tests/t.rs": "use own::f;\n", "src/a.rs": ""}, "src/lib.rs", "", "tests/t.rs"),
        (
            {"r.go": "package root\n", "a/a.go": 'package a\nimport "o.org/root"\n'},
            *("r_test.go", "package root_test\n", "a/a.go"),
        ),
        (
            {"p/A.java": "package p;\nimport q.*;\n", "q/B.java": "package q;\n"},
            *("C.java", "package q;\n", "p/A.java"),
        ),
        ({"tests/t.rs": "fn t() { own::f(); }\n", "src/a.rs": ""}, "src/lib.rs", "", "tests/t.rs"),
        (
            {"src/a.rs": "fn t() { my_b::c::f(); }\n", "my-b/src/c.rs": "pub fn f() {}\n"},
            *("my-b/src/lib.rs", "pub use other::*;\n", "src/a.rs"),
        ),
        ({"a.rs": "use crate::f;\n"}, "lib.rs", "", "a.rs"),
        ({"src/a/b.rs": "use super::f;\n"}, "src/a.rs", "", "src/a/b.rs"),
        ({"README.md": "docs/a.md"}, "docs/a.md", "", "README.md"),
        ({"README.md": "docs/a.md/."}, "docs/a.md", "", "README.md"),
    ),
)
def test_a_file_is_seen_by_those_who_name_it_as_their_language_does(
    files: dict[str, str], path: str, text: str, reader: str
) -> None:
    with_it = {**files, path: text}
    assert reader in reached_by(files, with_it)
    assert reader in reached_by(with_it, files)


KIDS = {"src/a.rs": "pub struct Kid {}\n", "src/b.rs": "pub struct Kid {}\n"}
PAYING = "impl Kid {\n    pub fn pay(&self) {}\n}\n"


@pytest.mark.parametrize(
    ("files", "path", "old", "new", "reader"),
    (
        (  # the class of another file has its base from an import of everything
            {
                "a/Base.java": "package a;\nclass Base { void pay() {} }\n",
                "p/R.java": "package p;\nclass R { void f(Kid k) { k.pay(); } }\n",
            },
            "p/F.java",
            "package p;\nimport a.*;\nclass Kid extends Base {}\n",
            "package p;\nclass Kid extends Base {}\n",
            "p/R.java",
        ),
        (  # a method is written away from its type, which everything is imported with
            KIDS | {"src/r.rs": "use crate::a::Kid;\nfn f(k: Kid) { k.pay(); }\n"},
            "src/g.rs",
            "use crate::a::*;\n" + PAYING,
            "use crate::b::*;\n" + PAYING,
            "src/r.rs",
        ),
        (  # or which has another name there
            KIDS | {"src/r.rs": "use crate::a::Kid;\nfn f(k: Kid) { k.pay(); }\n"},
            "src/g.rs",
            "use crate::a::Kid as K;\n" + PAYING.replace("Kid", "K"),
            "use crate::b::Kid as K;\n" + PAYING.replace("Kid", "K"),
            "src/r.rs",
        ),
        (  # a definition belongs to the declaration that its file includes
            {
                "decl.h": "int f(void);\n",
                "r.c": '#include "decl.h"\nint g(void) { return f(); }\n',
            },
            "other.c",
            '#include "decl.h"\nint f(void) { return 1; }\n',
            "int f(void) { return 1; }\n",
            "r.c",
        ),
        (  # a class is called like the namespace
            {
                "many.php": "<?php\n" + "".join(f"class C{n} {{ function pay() {{}} }}\n" for n in range(9)),
                "r.php": "<?php\nnamespace App\\Foo;\nfunction g() { pay(); }\n",
            },
            "Foo.php",
            "<?php\nnamespace App;\nclass Foo {}\n",
            "<?php\nnamespace App;\nclass Foo { function pay() {} }\n",
            "r.php",
        ),
        (  # a list of names says what everything is
            {"a.py": "from b import *\ng()\n", "c.py": "from a import g\n"},
            *(
                "b.py",
                "def f(): ...\ndef g(): ...\n",
                "def f(): ...\ndef g(): ...\n__all__ = ['f']\n",
                "c.py",
            ),
        ),
        (  # a module that is called is its default
            {"a.js": 'const f = require("./b");\nf();\n'},
            "b.js",
            "function go() {}\nexport { go };\n",
            "function go() {}\nexport { go };\nexport default go;\n",
            "a.js",
        ),
    ),
)
def test_what_a_file_takes_from_elsewhere_is_seen_by_those_who_do_not_name_it(
    files: dict[str, str], path: str, old: str, new: str, reader: str
) -> None:
    before, after = files | {path: old}, files | {path: new}
    document = f"id of {reader}"
    assert resolve(Project(read(before)))[document] != resolve(Project(read(after)))[document]
    assert reader in reached_by(before, after)
    assert reader in reached_by(after, before)
