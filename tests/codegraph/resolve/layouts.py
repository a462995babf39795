"""Small projects whose files name one another as each language does, and edits that move files."""

from dataclasses import dataclass, replace

from hypothesis import strategies as st

from quintet.codegraph.resolve.project import home_of
from quintet.model.symbols import FileOutline, Import, Mention, Outline, Symbol
from quintet.ports.writing import Unlinked

LOCATION = ("src", "pkg")  # with an `__init__.py` the root is the package that others import from
LAYOUTS = {
    "python": (
        *("a.py", "b.py", "__init__.py", "pkg/__init__.py", "pkg/a.py", "pkg/c.pyi", "pkg/sub/d.py"),
        *("pkg/sub/__init__.py", "src/pkg/b.py", "src/e/__init__.py", "src/e/f.py", "lib/a/g.py", "lib/h.py"),
    ),
    "typescript": (
        *("a.ts", "a/index.ts", "b.js", "lib/a.ts", "lib/b/index.js", "a.d.ts", "index.ts", "lib/index.ts"),
        *("lib/b/c.ts", "d/e.js", "lib.ts", "lib/b.c.ts", "index/f.ts"),
    ),
    "rust": (
        *("src/lib.rs", "src/main.rs", "src/a.rs", "src/a/b.rs", "src/c/mod.rs", "my-b/src/lib.rs", "d.rs"),
        *("my-b/src/e.rs", "tests/f.rs", "my-b/tests/g.rs", "lib.rs", "h/src/i.rs", "src/c/j.rs"),
    ),
    "go": ("r.go", "s.go", "a/x.go", "a/y.go", "b/a/z.go", "b/w.go", "c/d/v.go"),
    "java": ("A.java", "p/B.java", "p/C.java", "p/q/D.java", "r/q/E.java", "r/F.java"),
    "csharp": ("A.cs", "p/B.cs", "p/C.cs", "p/q/D.cs", "r/q/E.cs"),
    "php": ("A.php", "p/B.php", "p/C.php", "p/q/D.php", "r/q/E.php"),
    "c": ("a.h", "a.c", "b.h", "b.c", "lib/a.h", "lib/c.c", "include/d.h", "lib/sub/e.h"),
    "ruby": ("a.rb", "lib/b.rb", "lib/a.rb", "lib/c/d.rb", "e.rb"),
    "bash": ("a.sh", "lib/a.sh", "b.sh", "lib/c.sh"),
}
CROWDS = {"python": "crowd.py", "typescript": "crowd.ts"}
DOCUMENTS = ("README.md", "docs/a.md")
_SEPARATORS = {"rust": "::", "php": "\\"}
_PACKAGED = ("java", "csharp", "php")
_COMMON = ("run", "Base")  # so that several files define one name


@dataclass(frozen=True)
class Edit:
    before: list[FileOutline]
    after: list[FileOutline]


def unlinked(edit: Edit, *lost: str) -> list[Unlinked]:
    """What the store remembers of an edit: that edges of `lost` or removed files went with their symbols."""
    old, new = ({file.document_id: file for file in files} for files in (edit.before, edit.after))
    return [
        Unlinked(
            document,
            (old | new)[document].path,
            old[document].outline if document in old else None,
            document in old and (document in lost or document not in new),
        )
        for document in sorted(old.keys() | new.keys())
        if document in lost or old.get(document) != new.get(document)
    ]


def package_of(language: str, path: str) -> str:
    folders = path.split("/")[:-1]
    if language == "go":
        return folders[-1] if folders else "root" if path == "r.go" else "root_test"
    return ".".join(folders) if language in _PACKAGED else ""


def own_names(path: str) -> tuple[str, str, str]:
    """A class, a function and a method that only this file defines."""
    tag = "".join(letter for letter in path if letter.isalpha())
    return f"K{tag}", f"f{tag}", f"m{tag}"


def spellings(language: str, importer: str, path: str) -> list[tuple[str, int]]:
    """How `importer` may write the module or file at `path`, and the leading dots of Python."""
    folders = importer.split("/")[:-1]
    home = home_of(path, language, package_of(language, path))
    if language in ("c", "ruby", "bash", "typescript"):
        return _paths(language, folders, path, home)
    separator = _SEPARATORS.get(language, "/" if language == "go" else ".")
    tails = [
        (separator.join(name[start:]), 0) for name in (home, home[:-1]) for start in range(len(name) + 1)
    ]
    if language == "python":
        tails += [(".".join((*LOCATION[-1:], *home)), 0)]
        tails += [
            (".".join(home[kept:]), len(folders) - kept + 1)
            for kept in range(len(folders) + 1)
            if tuple(folders[:kept]) == home[:kept]
        ]
    if language == "go":
        tails += [(f"o.org/{text}", 0) for text, _ in tails if text] + [("o.org/root", 0)]
    if language == "rust":
        inside = "::".join(home[1:] if home[:1] == ("src",) else home)
        below = "::".join(part.replace("-", "_") for part in home if part != "src")
        last = home[-1] if home else ""
        heads = ("crate", "super", "self", f"crate::{inside}", f"super::{last}", f"self::{last}")
        tails += [(text.removesuffix("::"), 0) for text in (*heads, below, f"own::{last}")]
    if language in _PACKAGED:
        tails += [(separator.join((*home, own_names(path)[0])), 0)]
    return [(text, level) for text, level in tails if text or level]


def _paths(language: str, folders: list[str], path: str, home: tuple[str, ...]) -> list[tuple[str, int]]:
    parts = path.split("/")
    up = "../" * len(folders)
    texts = [up + path, "./" + up + path, "/".join(parts[-2:])]
    if language == "typescript":
        texts += [up + "/".join(home) or ".", "./" + up + "/".join(home), "@/" + "/".join(home)]
        plain = path.rsplit(".", 1)[0]
        texts += [plain, "./" + up + plain, "./" + up + "/".join(home) + ".js", "./index", "..", "@/index"]
    else:
        texts += [parts[-1], path, path.removesuffix(".rb"), parts[-1].removesuffix(".rb")]
        texts += [f"<{parts[-1]}>", f"<{path}>"] if language == "c" else [f"$DIR/{path}", f"{path}/$X"]
        texts += ["", "..", f"{up}{path}/."]
    return [(text, 0) for text in texts]


@st.composite
def outlines(draw: st.DrawFn, language: str, path: str, known: tuple[str, ...]) -> Outline:
    """A file that defines names of its own, imports others as `known` and mentions what they define."""
    kind, function, method = own_names(path)
    defined = [Symbol("module", (), 1, 99)]
    if draw(st.booleans()):
        name = draw(st.sampled_from((kind, kind, "Base")))
        opened = draw(st.sampled_from(("class", "module"))) if language == "ruby" else "class"
        defined.append(Symbol(opened, (name,), 2, 9, 0))
        if draw(st.booleans()):
            defined.append(Symbol("method", (name, draw(st.sampled_from((method, "run")))), 3, 4, 1))
    if draw(st.booleans()):
        shown = draw(st.sampled_from(("public", "private")))
        name = draw(st.sampled_from((function, "run")))
        defined.append(Symbol("function", (name,), 5, 6, 0, visibility=shown))
    imports, words = [], [symbol.name for symbol in defined[1:]]
    for other in draw(st.lists(st.sampled_from(known), min_size=1, max_size=3)):
        module, level = draw(st.sampled_from(spellings(language, path, other)))
        below = home_of(other, language, package_of(language, other))[-2:]
        name = draw(st.sampled_from(("", "*", "default", *own_names(other)[:2], *_COMMON, *below)))
        aliases = ("", name, f"x{function}") if name not in ("*", "default") else ("",)
        alias = draw(st.sampled_from(aliases))
        imports.append(Import(0, 1, module, level, name, alias, draw(st.booleans())))
        words += [alias] * 2 if alias else [*own_names(other)[:2], *_COMMON]
        words += [module.replace("::", ".").split(".")[0]] if language in ("python", "rust") else []
    if language == "rust" and words and draw(st.booleans()):
        away = draw(st.sampled_from(words))
        defined.append(Symbol("method", (away or "Base", method), 7, 8, 0))
    mentions = draw(st.lists(mentioned(language, known, tuple(words), len(defined)), min_size=1, max_size=4))
    classes = [m._replace(relation="extends", base="name") for m in mentions[:1] if len(defined) > 1]
    mentions += [m._replace(owner=1) for m in classes if defined[1].kind in ("class", "module")]
    inside = st.sampled_from([word for word in words if word] or ["run"])
    outside = st.sampled_from(("default", *_COMMON, f"y{function}"))
    exports = draw(st.lists(st.tuples(outside, inside), max_size=1)) if language == "typescript" else ()
    return Outline(
        language, tuple(defined), tuple(imports), tuple(mentions), package_of(language, path), tuple(exports)
    )


@st.composite
def mentioned(
    draw: st.DrawFn, language: str, known: tuple[str, ...], words: tuple[str, ...], owners: int
) -> Mention:
    other = draw(st.sampled_from(known))
    home = home_of(other, language, package_of(language, other))
    heads = [word for word in words if word] * 2 + [*home[-1:], *own_names(other), *_COMMON]
    heads += ["crate", "self", "super", "own", "my_b"] if language == "rust" else []
    steps = st.sampled_from((*home, *own_names(other), *_COMMON))
    path = (draw(st.sampled_from(heads)), *draw(st.lists(steps, max_size=2)))
    base = draw(st.sampled_from(("name", "name", "name", "self", "super", "type", "unknown")))
    relation = draw(st.sampled_from(("calls", "calls", "references")))
    return Mention(draw(st.integers(0, owners - 1)), relation, path, draw(st.integers(2, 4)), base)


@st.composite
def documents(draw: st.DrawFn, known: tuple[str, ...], language: str) -> Outline:
    """Markdown that links to files and names definitions and modules."""
    mentions = []
    for other in draw(st.lists(st.sampled_from(known), max_size=3)):
        home = home_of(other, language, package_of(language, other))
        texts = ((other,), (f"../{other}",), (other.rsplit("/", 1)[-1],), (f"/{other}",), (f"{other}/.",))
        kind, function, _ = own_names(other)
        names = ((kind,), (*home[-1:], function), home[-2:] or ("run",), ("Base", "run"), ("run",))
        mentions.append(Mention(0, "references", draw(st.sampled_from((*texts, *names))), 1))
    return Outline("markdown", (), (), tuple(mentions))


def crowd(language: str, count: int) -> Outline:
    """A file with just enough definitions of one name that nothing is guessed by it, or just too few."""
    defined = [Symbol("module", (), 1, 99)]
    for number in range(count):
        defined.append(Symbol("function", ("run",), 2, 2, 0))
        defined.append(Symbol("class", (f"C{number}",), 2, 2, 0))
        defined.append(Symbol("method", (f"C{number}", "run"), 2, 2, len(defined) - 1))
    return Outline(language, tuple(defined))


@st.composite
def trimmed(draw: st.DrawFn, outline: Outline) -> Outline:
    """The outline without one import, export or mention: a change that shows under few names."""
    fields = [field for field in ("imports", "exports", "mentions") if getattr(outline, field)]
    field = draw(st.sampled_from(fields))
    kept = list(getattr(outline, field))
    kept.pop(draw(st.integers(0, len(kept) - 1)))
    return replace(outline, **{field: tuple(kept)})


@st.composite
def moves(draw: st.DrawFn, language: str) -> Edit:
    """One or two files are added, removed, renamed or rewritten."""
    possible = LAYOUTS[language][: draw(st.sampled_from((4, None)))]  # in a small project little hides a miss
    known = tuple(draw(st.lists(st.sampled_from(possible), min_size=2, max_size=8, unique=True)))
    files = [FileOutline(path, path, draw(outlines(language, path, known))) for path in known]
    for path in draw(st.lists(st.sampled_from(DOCUMENTS), max_size=1)):
        files.append(FileOutline(path, path, draw(documents((*known, *DOCUMENTS), language))))
    files = draw(st.permutations(files))
    if language in CROWDS and draw(st.booleans()):
        path = CROWDS[language]
        files.append(FileOutline(path, path, crowd(language, draw(st.integers(7, 10)))))
    after = list(files)
    for file in files[: draw(st.sampled_from((1, 1, 2)))]:
        after.remove(file)
        free = sorted({*LAYOUTS[language]} - {other.path for other in (*files, *after)})
        what = draw(st.sampled_from(("remove", "remove", "rename", "change", "trim", "trim")))
        if file.outline.language == "markdown" or what == "remove":
            continue
        if what == "rename" and free:
            after.append(_renamed(file, language, draw(st.sampled_from(free))))
        elif what == "trim":
            after.append(replace(file, outline=draw(trimmed(file.outline))))
        else:
            after.append(replace(file, outline=draw(outlines(language, file.path, known))))
    return draw(st.sampled_from((Edit(files, after), Edit(after, files))))


def _renamed(file: FileOutline, language: str, path: str) -> FileOutline:
    return FileOutline(path, path, replace(file.outline, package=package_of(language, path)))
