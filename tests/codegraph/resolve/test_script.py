"""JavaScript and TypeScript projects, with their edges listed by hand."""

from codegraph.resolve.outlines import edges


def test_names_come_through_two_index_files() -> None:
    project = {
        "app.ts": "import { Hello, shout } from './src';\nnew Hello().greet();\nshout('');\n",
        "src/index.ts": "export { Greeter as Hello } from './greet';\nexport * from './util';\n",
        "src/greet.ts": "export class Greeter { greet() { return this.name(); } name() { return 1; } }\n",
        "src/util/index.ts": "export function shout(x: string) { return x; }\n",
    }
    assert edges(project, "calls", "imports") == [
        "calls app.ts -> src/greet.ts:Greeter exact",
        "calls app.ts -> src/greet.ts:Greeter.greet exact",
        "calls app.ts -> src/util/index.ts:shout exact",
        "calls src/greet.ts:Greeter.greet -> src/greet.ts:Greeter.name exact",
        "imports app.ts -> src/greet.ts:Greeter exact",
        "imports app.ts -> src/util/index.ts:shout exact",
        "imports src/index.ts -> src/greet.ts:Greeter exact",
        "imports src/index.ts -> src/util/index.ts exact",
    ]


def test_default_exports_and_namespace_objects_are_followed() -> None:
    project = {
        "a.ts": "import main, * as all from './b.js';\nexport function f() { main(); all.side(); }\n",
        "b.ts": "export default function start() { side(); }\nexport function side() { side(); }\n",
    }
    assert edges(project, "calls") == [
        "calls a.ts:f -> b.ts:side exact",
        "calls a.ts:f -> b.ts:start exact",
        "calls b.ts:side -> b.ts:side exact",
        "calls b.ts:start -> b.ts:side exact",
    ]


def test_common_modules_are_required() -> None:
    project = {
        "a.js": "const b = require('./b');\nconst { g } = require('./b');\nfunction f() { b.g(); g(); }\n",
        "b.js": "function g() {}\nmodule.exports = { g };\n",
    }
    assert edges(project, "calls") == ["calls a.js:f -> b.js:g exact"]


def test_packages_are_foreign_and_a_bare_path_is_only_likely() -> None:
    project = {
        "src/a.ts": "import { Router } from 'express';\nimport { go } from 'lib/go';\nRouter(); go();\n",
        "src/lib/go.ts": "export function go() {}\nexport class Router {}\n",
    }
    assert edges(project, "calls") == ["calls src/a.ts -> src/lib/go.ts:go likely"]


def test_a_class_extends_one_of_another_file() -> None:
    project = {
        "a.ts": """
            import { Base } from './b';
            export class Kid extends Base { run() { super.run(); this.stop(); } }
            """,
        "b.ts": "export class Base { run() {} stop() {} }\n",
    }
    assert edges(project, "calls", "extends") == [
        "calls a.ts:Kid.run -> b.ts:Base.run exact",
        "calls a.ts:Kid.run -> b.ts:Base.stop exact",
        "extends a.ts:Kid -> b.ts:Base exact",
    ]
