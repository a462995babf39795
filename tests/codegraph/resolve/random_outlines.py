"""Outlines of any content, and chains of imports: projects before and after an edit."""

from dataclasses import replace

from hypothesis import strategies as st

from codegraph.resolve.layouts import Edit
from quintet.model.symbols import FileOutline, Import, Mention, Outline, Symbol

NAMES = ("a", "b", "c", "Base", "Kid", "run")
PATHS = {
    "python": ("a.py", "b.py", "pkg/__init__.py", "pkg/a.py", "src/pkg/b.py", "pkg/sub/a.py", "__init__.py"),
    "typescript": ("a.ts", "a/index.ts", "b.js", "lib/a.ts", "lib/b/index.js", "a.d.ts"),
    "rust": ("src/lib.rs", "src/main.rs", "src/a.rs", "src/a/b.rs", "b/src/lib.rs", "tests/run.rs"),
    "go": ("main.go", "a/x.go", "a/y.go", "b/a/z.go"),
    "java": ("a/Base.java", "a/Kid.java", "b/Run.java"),
    "csharp": ("Base.cs", "b/Kid.cs", "b/Run.cs"),
    "php": ("Base.php", "b/Kid.php", "b/run.php"),
    "c": ("a.h", "a.c", "b.h", "b.c", "lib/a.h", "lib/c.c"),
    "ruby": ("a.rb", "lib/b.rb", "lib/a.rb"),
    "bash": ("a.sh", "lib/a.sh", "b.sh"),
    "markdown": ("README.md", "docs/a.md"),
}
MODULES = {
    "python": ("a", "b", "pkg", "pkg.a", "pkg.b", "pkg.sub.a", ""),
    "typescript": ("./a", "../a", "./b", "./lib/b", "lib/a", "./a.js", "..", "@/lib/b"),
    "rust": ("crate::a", "a", "super", "self::a", "b", "b::a", "crate", "lib", "lib::a", "crate::a::Base"),
    "go": ("x.org/p/a", "x.org/b/a", "x.org/p", "a"),
    "java": ("a", "b", "a.Base", "b.Kid"),
    "csharp": ("a", "b", "a.Base"),
    "php": ("a\\Base", "b", "a", "run.php"),
    "c": ("a.h", "b.h", "lib/a.h"),
    "ruby": ("a", "b", "./a"),
    "bash": ("a.sh", "./lib/a.sh", "$DIR/b.sh"),
    "markdown": ("",),
}


@st.composite
def symbols(draw: st.DrawFn) -> tuple[Symbol, ...]:
    found = [Symbol("module", (), 1, 99)]
    for line in range(draw(st.integers(0, 4))):
        name = draw(st.sampled_from(NAMES))
        kind = draw(st.sampled_from(("function", "class", "class", "variable", "method", "module")))
        inside = draw(st.integers(0, len(found) - 1))
        away = kind == "method" and draw(st.booleans())
        path = (draw(st.sampled_from(NAMES)), name) if away else (*found[inside].path, name)
        shown = draw(st.sampled_from(("public", "private")))
        found.append(Symbol(kind, path, line + 2, line + 2, 0 if away else inside, visibility=shown))
    return tuple(found)


@st.composite
def outlines(draw: st.DrawFn, language: str) -> Outline:
    if language == "markdown":
        return Outline(language, mentions=draw(st.lists(document_mentions(), max_size=3).map(tuple)))
    defined = draw(symbols())
    owners = st.integers(0, len(defined) - 1)
    names = st.sampled_from(NAMES)
    imports = st.builds(
        Import,
        owners,
        st.just(1),
        st.sampled_from(MODULES[language]),
        st.integers(0, 2) if language == "python" else st.just(0),
        st.sampled_from(("", "*", *NAMES, "default")),
        st.sampled_from(("", *NAMES)),
        st.booleans(),
    )
    mentions = st.builds(
        Mention,
        owners,
        st.sampled_from(("calls", "extends", "references", "implements")),
        st.lists(names, min_size=1, max_size=3).map(tuple),
        st.integers(2, 4),
        st.sampled_from(("name", "name", "self", "super", "type", "unknown")),
    )
    return Outline(
        language,
        defined,
        draw(st.lists(imports, max_size=3).map(tuple)),
        draw(st.lists(mentions, max_size=4).map(tuple)),
        draw(st.sampled_from(("", "a", "b", "a.b"))),
        draw(st.lists(st.tuples(st.sampled_from((*NAMES, "default")), names), max_size=2).map(tuple)),
    )


@st.composite
def document_mentions(draw: st.DrawFn) -> Mention:
    paths = st.sampled_from(("a.py", "../a.py", "pkg/a.py", "src/lib.rs", "docs/a.md", "a.h", "nowhere.md"))
    path = draw(st.one_of(paths.map(lambda p: (p,)), st.lists(st.sampled_from(NAMES), min_size=1).map(tuple)))
    return Mention(0, "references", path, draw(st.integers(1, 9)))


@st.composite
def projects(draw: st.DrawFn, language: str) -> list[FileOutline]:
    known = ("markdown", language)
    paths = draw(st.lists(st.sampled_from([p for k in known for p in PATHS[k]]), unique=True, max_size=6))
    return [FileOutline(path, path, draw(outlines(language_of(path, language)))) for path in sorted(paths)]


def language_of(path: str, language: str) -> str:
    return "markdown" if path.endswith(".md") else language


@st.composite
def random_edits(draw: st.DrawFn) -> Edit:
    """A project before and after a file was added, changed, removed or renamed."""
    language = draw(st.sampled_from([language for language in PATHS if language != "markdown"]))
    before = draw(projects(language))
    path = draw(st.sampled_from(PATHS[language]))
    rest = [file for file in before if file.path != path]
    old = next((file for file in before if file.path == path), None)
    what = draw(st.sampled_from(("put", "put", "remove", "rename")))
    if what == "put":
        return Edit(before, [*rest, FileOutline(path, path, draw(outlines(language)))])
    free = sorted(set(PATHS[language]) - {file.path for file in before})
    if what == "rename" and old is not None and free:
        path = draw(st.sampled_from(free))
        return Edit(before, [*rest, FileOutline(path, path, old.outline)])
    return Edit(before, rest)


# Where a module of that text can be read from every other file.
LINKED = {
    "python": {
        "a.py": "a",
        "pkg/__init__.py": "pkg",
        "pkg/b.py": "pkg.b",
        "pkg/sub/c.py": "pkg.sub.c",
        "d.py": "d",
    },
    "typescript": {"a.ts": "./a", "b/index.ts": "./b", "c.ts": "./c", "d.js": "./d.js"},
    "rust": {
        "src/lib.rs": "crate",
        "src/a.rs": "crate::a",
        "src/a/b.rs": "crate::a::b",
        "src/c/mod.rs": "crate::c",
    },
    "go": {
        "m/a/x.go": "o.org/m/a",
        "m/b/y.go": "o.org/m/b",
        "m/c/z.go": "o.org/m/c",
        "m/a/v.go": "o.org/m/a",
    },
    "java": {"A.java": "pa", "B.java": "pb", "C.java": "pc", "D.java": "pd"},
    "csharp": {"A.cs": "pa", "B.cs": "pb", "C.cs": "pc", "D.cs": "pd"},
    "php": {"A.php": "pa", "B.php": "pb", "C.php": "pc", "D.php": "pd"},
    "c": {"a.h": "a.h", "b.h": "b.h", "c.h": "c.h", "c.c": "c.c", "b.c": "b.c"},
    "ruby": {"a.rb": "a", "b.rb": "b", "c.rb": "c"},
    "bash": {"a.sh": "./a.sh", "b.sh": "./b.sh", "c.sh": "./c.sh"},
}
POOL = tuple(f"n{number}" for number in range(80))  # many: a name met by chance hides a missing link


@st.composite
def linked_outline(draw: st.DrawFn, language: str, module: str, known: dict[str, tuple[str, ...]]) -> Outline:
    """A file that imports what others bind and mentions what it binds, so that chains form."""
    pool = st.sampled_from(POOL)
    defined = [Symbol("module", (), 1, 99)]
    for name in draw(st.lists(pool, min_size=1, max_size=2, unique=True)):
        kinds = ("class", "function", "module") if language == "ruby" else ("class", "function")
        shown = draw(st.sampled_from(("public", "public", "private")))
        defined.append(Symbol(draw(st.sampled_from(kinds)), (name,), 2, 9, 0, visibility=shown))
        if defined[-1].kind != "function" and draw(st.booleans()):
            member = (name, draw(pool))
            defined.append(Symbol("method", member, 3, 4, len(defined) - 1))
    imports = []
    others = st.sampled_from([*list(known)[-1:] * 3, *known]) if known else st.nothing()
    for other in draw(st.lists(others, min_size=1, max_size=2)) if known else ():
        name = draw(st.sampled_from((*known[other], *known[other], "*", "")))
        alias = "" if name == "*" else draw(st.sampled_from((name, draw(pool))))
        imports.append(Import(0, 1, other, name=name, alias=alias, exported=True))
    bound = [symbol.name for symbol in defined if len(symbol.path) == 1] + [
        i.alias for i in imports if i.alias
    ]
    mentions = []
    for _ in range(draw(st.integers(1, 3))):
        path = (draw(st.sampled_from((*bound[::-1], draw(pool)))), *draw(st.lists(pool, max_size=1)))
        owner = draw(st.integers(0, len(defined) - 1))
        is_class = owner > 0 and defined[owner].kind in ("class", "module")
        relation = draw(st.sampled_from(("extends", "extends", "calls"))) if is_class else "calls"
        base = draw(st.sampled_from(("name", "name", "self", "type"))) if relation == "calls" else "name"
        mentions.append(Mention(owner, relation, path[:1] if base == "self" else path, 3, base))
    exports = ((draw(pool), draw(st.sampled_from(bound))),) if language == "typescript" else ()
    package = module if language in ("java", "csharp", "php") else ""
    return Outline(language, tuple(defined), tuple(imports), tuple(mentions), package, exports)


@st.composite
def linked_edits(draw: st.DrawFn) -> Edit:
    language = draw(st.sampled_from(sorted(LINKED)))
    paths = draw(st.permutations(sorted(LINKED[language])))
    known: dict[str, tuple[str, ...]] = {}
    before = []
    for path in paths:
        module = LINKED[language][path]
        outline = draw(linked_outline(language, module, known))
        before.append(FileOutline(path, path, outline))
        aliases = tuple(i.alias for i in outline.imports if i.alias)
        outside = tuple(name for name, _ in outline.exports)
        known[module] = tuple(s.name for s in outline.symbols if len(s.path) == 1) + aliases + outside
    changed = draw(st.sampled_from((*before[:2], *before)))
    rest = [file for file in before if file is not changed]
    if draw(st.booleans()):
        return Edit(before, rest)
    known.pop(LINKED[language][changed.path], None)
    outline = draw(linked_outline(language, LINKED[language][changed.path], known))
    return Edit(before, [*rest, replace(changed, outline=outline)])
