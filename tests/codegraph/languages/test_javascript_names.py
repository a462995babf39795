"""JavaScript and TypeScript: what a module exports, and what a name means where it is used."""

from codegraph.languages.listing import imports, mentions, read, symbols
from quintet.model.symbols import Outline

COMMON = """
const fs = require("fs");
const { join, resolve: absolute = join } = require("path");
const load = require("./load").load;

function read(name) { return fs.readFile(join(name)); }
async function lazy() {
  const late = await import("./late");
  const { run } = await import("./run");
  late.go(); run();
}
var table = {
  /** Reads. */
  read: (x) => load(x),
  write() { return read(1); },
  "quoted key": function () { return absolute(); },
};
table.read(2);
exports.lazy = lazy;
exports.made = function () { return read(); };
module.exports.Thing = class Thing { go() {} };
"""


def typed(text: str) -> Outline:
    return read("typescript", text, "src/cart.ts")


def plain(text: str, path: str = "src/main.js") -> Outline:
    return read("javascript", text, path)


def test_commonjs() -> None:
    outline = plain(COMMON)
    assert imports(outline) == [
        "module: fs - as fs",
        "module: path join as join",
        "module: path resolve as absolute",
        "module: ./load load as load",
        "lazy: ./late - as late",
        "lazy: ./run run as run",
    ]
    assert symbols(outline) == [
        "5 function read private",
        "6 function lazy public",
        "11 variable table private",
        "13 function table.read public",
        "14 function table.write public",
        "15 function table.quoted key public",
        "19 function made public",
        "20 class Thing public",
        "20 method Thing.go public",
    ]
    assert mentions(outline, "calls") == [
        "5 read: fs.readFile name",
        "5 read: join name",
        "9 lazy: late.go name",
        "9 lazy: run name",
        "13 table.read: load name",
        "14 table.write: read name",
        "15 table.quoted key: absolute name",
        "17 module: table.read name",
        "19 made: read name",
    ]
    assert outline.exports == (("lazy", "lazy"), ("made", "made"), ("Thing", "Thing"))
    assert {s.path: s.docstring for s in outline.symbols}["table", "read"] == "Reads."


def test_what_a_commonjs_module_is() -> None:
    assert plain("module.exports = { a, b: c, d() {}, e: 1 };").exports == (
        ("a", "a"),
        ("b", "c"),
        ("d", "d"),
        ("e", "e"),
    )
    assert plain("class A {}\nmodule.exports = A;").exports == (("default", "A"),)
    assert plain("module.exports = function run() {};").exports == (("default", "run"),)
    assert plain("function f(module) { module.exports = 1; }").exports == ()


def test_what_a_file_passes_on() -> None:
    outline = plain(
        """
        export * from "./all";
        export * as group from "./group";
        export { a as b, default as c } from "./some";
        export const one = 1, { two, three: [four] } = made();
        export async function* five() {}
        export default class extends Base {}
        b();
        """
    )
    assert imports(outline) == [
        "module: ./all * as - exported",
        "module: ./group - as group exported",
        "module: ./some a as b exported",
        "module: ./some default as c exported",
    ]
    assert outline.exports == (
        ("one", "one"),
        ("two", "two"),
        ("four", "four"),
        ("five", "five"),
        ("default", "default"),
    )
    assert [symbol.name for symbol in outline.symbols[1:]] == ["one", "two", "four", "five", "default"]
    assert mentions(outline, "calls") == []  # `made` and `b` are bound by nothing in this file


def test_default_exports_without_a_name() -> None:
    assert symbols(plain("export default () => run();\nimport run from './run';")) == [
        "1 function default public"
    ]
    assert symbols(plain("export default { name: 'x', data() {}, set: (x) => x };")) == [
        "1 variable default public",
        "1 function default.data public",
        "1 function default.set public",
    ]


def test_a_parameter_or_local_hides_what_has_its_name() -> None:
    text = """
    import { a, b, c, d, e, f } from "./names";
    function one(a, { b, x: c = a }, ...d) { a(); b(); c(); d(); e(); }
    function two() {
      if (true) { let e = 1; var f = 2; e(); }
      e(); f();
      for (const a of []) a();
      try { } catch (b) { b(); }
      const c = () => 1;
      c();
      (d => d())(1);
    }
    const three = function f() { f(); };
    """
    assert mentions(plain(text), "calls") == [
        "2 one: e name",
        "5 two: e name",
        "9 two: c name",
    ]
    assert [found.path for found in plain(text).symbols if found.name == "c"] == [("two", "c")]


def test_a_type_is_lost_when_a_variable_is_assigned_anew_anywhere() -> None:
    text = """
    import { Pool } from "./pool";
    function reset() { shared = null; }
    const fixed = new Pool();
    let shared = new Pool();
    fixed.go(); shared.go();
    """
    assert mentions(plain(text), "calls") == [
        "3 module: Pool name",
        "4 module: Pool name",
        "5 module: Pool.go type",
        "5 module: go unknown",
    ]


def test_dynamic_calls_give_no_mention() -> None:
    text = """
    import { table } from "./table";
    function f(name, key) { table[name](); name()(); import(key); require(key); "".concat(key); }
    """
    outline = plain(text)
    assert mentions(outline, "calls") == []
    assert imports(outline) == ["module: ./table table as table"]


def test_a_script_without_modules_shares_its_names() -> None:
    outline = plain("function show() { other(); }\nconst LIMIT = 1;")
    assert symbols(outline) == ["1 function show public", "2 variable LIMIT public"]
    assert mentions(outline, "calls") == ["1 show: other name"]


def test_generics_hide_types_of_their_name() -> None:
    text = """
    import { T, Box } from "./types";
    export function wrap<T>(value: T): Box<T> { return value as T; }
    export class Held<T> extends Box<T> { get(): T { return this.value; } }
    """
    assert mentions(typed(text), "references") == ["2 wrap: Box name"]
    assert mentions(typed(text), "extends") == ["3 Held: Box name"]


def test_mixins_are_bases_nobody_knows() -> None:
    outline = plain("import { mix, A } from './m';\nclass B extends mix(A) {}")
    assert mentions(outline, "extends") == ["2 B: mix unknown"]
    assert mentions(outline, "calls") == ["2 B: mix name"]
