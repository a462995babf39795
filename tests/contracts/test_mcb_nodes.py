"""Spec 002 ranks code nodes: which node a chunk of a real source file is."""

import apsw
import pytest

import quintet
from contracts.conftest import Library
from contracts.fixed import results
from quintet.indexing.document import PARSERS

LONG = "x" * 400  # makes a class too long to stay whole

COMMENTED = {
    "a.py": f'''\
import os

# About one.
@os.cache
def one():
    return 1


# Its only value.
VALUE = 3

class Big:
    """{LONG}"""

    # About two.
    def two(self):
        return 2
''',
    "a.js": f"""\
import x from './x.js';

/** About one. */
export function one() {{
  return 1;
}}

// About three.
const three = () => {{
  return 3;
}};

class Big {{
  // {LONG}
  field = 1;

  /** About two. */
  two() {{
    return 2;
  }}
}}
""",
    "a.ts": f"""\
import {{ x }} from './x';

/** About one, for text. */
export function one(a: string): string;
/** About one, for numbers. */
export function one(a: number): number;

/** About one. */
export function one(a: any): any {{
  return x(a);
}}

@Component({{ selector: 'x' }})
export class Big {{
  // {LONG}
  field = 1;

  constructor(private readonly box: Box) {{
    this.field = 2;
  }}

  two(a: string): void;
  two(a: number): void;
  // About two.
  @log()
  two(a: any): void {{
    x(a);
  }}
}}
""",
    "a.rs": f"""\
use std::fmt;

/// About one.
#[inline]
pub fn one() -> i32 {{
    1
}}

/// About Big.
#[derive(Debug)]
pub struct Big {{
    field: i32,
}}

// One method.
impl fmt::Display for Big {{
    fn fmt(&self) -> i32 {{ 3 }}
}}

impl Big {{
    fn new() -> Big {{ Big {{ field: 1 }} }}
    fn drop(&self) {{}}
}}

impl Big {{
    // {LONG}
    const LIMIT: i32 = 3;

    /// About two.
    #[must_use]
    fn two(&self) -> i32 {{
        2
    }}
}}
""",
    "a.go": """\
package a

// One is first.
func One() int {
	return 1
}

// Big is a type.
type Big struct {
	field int
}

// Two is a method.
func (b *Big) Two() int {
	return 2
}
""",
    "Big.java": f"""\
package a;

/** About Big: {LONG} */
@Deprecated
public class Big {{
    int field;

    /** About one. */
    @Override
    public int one() {{
        return 1;
    }}

    // About one of a number.
    public int one(int a) {{
        return a;
    }}

    /** About two. */
    public int two() {{
        return 2;
    }}
}}
""",
    "Big.cs": f"""\
using System;

namespace A {{
    /// <summary>About Big: {LONG}</summary>
    [Serializable]
    public class Big {{
        int field;

        /// <summary>About one.</summary>
        [Obsolete]
        public int One() {{
            return 1;
        }}

        // About two.
        public int Two() {{
            return 2;
        }}
    }}
}}
""",
    "a.c": """\
#include <stdio.h>

/* About one. */
static int one(void) {
    return 1;
}

// About Big.
struct Big {
    int field;
};
""",
    "a.cpp": f"""\
#include <vector>

// About one.
template <class T>
T one(T a) {{
    return a;
}}

namespace n {{

/// About Big: {LONG}
class Big {{
public:
    // About two.
    int two() {{
        return 2;
    }}
}};

}}
""",
    "a.rb": f"""\
require 'set'

# About one.
def one
  1
end

# About Big: {LONG}
class Big
  # About two.
  def two
    2
  end
end
""",
    "a.php": f"""\
<?php
namespace A;

/** About one. */
function one() {{
    return 1;
}}

/** About Big: {LONG} */
#[Attribute]
class Big {{
    /** About making one. */
    public function __construct(private int $field) {{
        $this->field = 1;
    }}

    /** About two. */
    #[Pure]
    public function two() {{
        return 2;
    }}
}}
""",
    "a.sh": """\
set -e

# About one.
one() {
  echo 1
}
""",
}

# By the kind and name of a chunk, the name of its node.
SHOWN = {
    "a.py": ["one one", "Big Big", "Big.two two"],
    "a.js": ["one one", "three three", "Big Big", "Big.two two"],
    "a.ts": ["one one", "Big Big", "Big.constructor constructor", "Big.two two"],
    "a.rs": ["one one", "Big Big", "Big.fmt Big", "Big Big", "Big.LIMIT Big", "Big.two two"],
    "a.go": ["One One", "Big Big", "Big.Two Two"],
    "Big.java": ["a.Big Big", "a.Big.one one", "a.Big.one one", "a.Big.two two"],
    "Big.cs": ["A.Big Big", "A.Big.One One", "A.Big.Two Two"],
    "a.c": ["one one", "Big Big"],
    "a.cpp": ["one one", "n.Big Big", "n.Big.two two"],
    "a.rb": ["one one", "Big Big", "Big.two two"],
    "a.php": ["A.one one", "A.Big Big", "A.Big.__construct __construct", "A.Big.two two"],
    "a.sh": ["one one"],
}


def nodes(index: quintet.Index) -> list[tuple[str, str, str, str | None]]:
    """Of each chunk in reading order its file, the node it is of, the chunk's name, and the node's id."""
    database = apsw.Connection(str(index.folder / "index.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return database.execute(
            "SELECT d.path, coalesce(s.qualified_name, '-'), c.name, c.node FROM chunks c "
            "JOIN documents d ON d.row = c.document LEFT JOIN symbols s ON s.id = c.node "
            "ORDER BY d.path, c.sequence"
        ).fetchall()
    finally:
        database.close()


@pytest.mark.requirement("002-R-NODE")
@pytest.mark.parametrize("name", COMMENTED)
def test_what_stands_above_a_definition_belongs_to_its_node(library: Library, name: str) -> None:
    found = nodes(library({name: COMMENTED[name]}))
    module = found[0][1]
    inside = [(node.removeprefix(f"{module}."), chunk) for _, node, chunk, _ in found if node != module]
    assert [f"{node} {chunk}".strip() for node, chunk in inside] == SHOWN[name]


def test_each_of_many_functions_with_a_comment_is_a_result(library: Library) -> None:
    text = "".join(
        f"/// zebra {number}\npub fn f{number}() -> i32 {{\n    {number}\n}}\n\n" for number in range(6)
    )
    found = results(library({"a.rs": text}).search("zebra", "mcb"))
    assert {item["node"]["name"] for item in found} == {f"f{number}" for number in range(6)}
    assert len({item["node"]["id"] for item in found}) == 6


def test_a_function_with_a_comment_is_where_its_edges_are(library: Library) -> None:
    files = {
        "a.ts": (
            "export function target(a: string): string;\nexport function target(a: number): number;\n"
            "/** zebra */\nexport function target(a: any): any {\n  return helper(a);\n}\n\n"
            "// another\nfunction helper(a: any): any {\n  return a;\n}\n"
        ),
        "b.ts": "import { target } from './a';\n\n// uses it\nfunction user() {\n  return target(1);\n}\n",
    }
    index = library(files)
    for strategy, expected in (("callers", "user"), ("dependencies", "helper")):
        found = results(index.search("zebra", "mcb", graph_expansion={strategy: {"depth": 1}}))
        assert [item["node"]["name"] for item in found] == ["target", expected]


def test_a_comment_longer_than_a_chunk_belongs_to_its_function(library: Library) -> None:
    words = "".join(f"# zebra says {number} of what there is to say about it all\n" for number in range(100))
    found = nodes(library({"a.py": f"import os\n\n{words}def f():\n    return os\n"}))
    assert len(found) > 3
    assert {node for _, node, _, _ in found[1:]} == {"a.f"}
    assert [chunk for _, _, chunk, _ in found[1:] if chunk] == ["f"], "only what holds the definition"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.py", "import os\n# about one\nONE = 1\nTWO = 2\n"),
        ("a.c", "// about both\nstatic int one = 1;\nstatic int two = 2;\n"),
        ("a.go", "package a\n\n// about both\nconst (\n\tOne = 1\n\tTwo = 2\n)\n"),
    ],
)
def test_what_packs_several_definitions_is_what_holds_them_all(
    library: Library, name: str, text: str
) -> None:
    assert {node for _, node, _, _ in nodes(library({name: text}))} == {"a"}


def test_signatures_without_a_function_below_stay_where_they_are(library: Library) -> None:
    text = "import { x } from './x';\nexport function one(a: x): x;\n\nexport function two() {\n  x();\n}\n"
    assert [(node, chunk) for _, node, chunk, _ in nodes(library({"a.ts": text}))] == [
        ("a", ""),
        ("a.two", "two"),
    ]


@pytest.mark.parametrize("ending", ["dart", "clj", "sql", "css", "ml", "R", "proto"])
def test_code_that_nobody_can_parse_is_one_node_a_chunk(library: Library, ending: str) -> None:
    text = "\n\n".join(f"zebra {number} " + "word " * 150 for number in range(6))
    index = library({f"a.{ending}": text})
    chunks = len(results(index.search("zebra", "cfs", mode="lexical")))
    found = results(index.search("zebra", "mcb"))
    assert len(found) == chunks > 1
    assert {node for _, _, _, node in nodes(index)} == {None}


def test_an_index_made_before_learns_its_nodes_in_the_next_run(library: Library) -> None:
    index = library({"a.py": COMMENTED["a.py"], "b.sql": "select zebra;\n"})
    right = nodes(index)
    database = apsw.Connection(str(index.folder / "index.db"))
    database.execute("UPDATE chunks SET node = (SELECT id FROM documents WHERE row = document)")
    database.execute(f"UPDATE documents SET shape = replace(shape, '{PARSERS}:', '0:')")
    database.close()
    assert nodes(index) != right
    report = index.sync()
    assert nodes(index) == right
    assert report.indexed == 2
