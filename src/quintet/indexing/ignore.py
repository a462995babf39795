"""Ignore files with git's rules, and what is excluded by default.

We translate patterns to regular expressions ourselves instead of using pathspec, for two reasons. Pathspec's
expressions backtrack without bound on a pattern such as `*a*a*a*a*a*b`, and ignore files are untrusted; the
`(?>…)` below keeps ours bounded. And one expression per file is several times faster than one per line.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from unicodedata import normalize

MAX_PATTERNS = 10_000  # in one ignore file; every file name is matched against all of them


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


VERSION_CONTROL = frozenset((".git", ".hg", ".svn", ".bzr", ".jj", ".pijul", "_darcs", "CVS"))
NEVER = VERSION_CONTROL | {".quintet"}  # not even a `.quintetignore` brings these back
FOLDERS = _words("node_modules bower_components venv __pycache__ site-packages dist build coverage htmlcov")
BUILD_FILES = frozenset(("Cargo.toml", "pom.xml"))  # next to `target`, they mean that it is build output
FILES = _words(
    "package-lock.json npm-shrinkwrap.json pnpm-lock.yaml go.sum packages.lock.json "
    "credentials.json secrets.json secrets.yaml secrets.yml"
)
KEY_NAMES = ("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519")
ENDINGS = _words(
    "lock map "
    "pem key p12 pfx kdbx jks keystore ppk asc gpg "
    "png jpg jpeg gif bmp ico icns tif tiff webp avif heic psd ai eps "
    "mp3 wav flac ogg oga opus m4a aac wma mid "
    "mp4 m4v mkv mov avi webm wmv flv mpg mpeg ogv "
    "zip gz tgz bz2 xz zst lz4 7z rar tar jar war ear whl egg deb rpm apk dmg iso cab crate gem nupkg "
    "ttf otf woff woff2 eot "
    "doc xls ppt odt ods odp mobi "
    "o a so dylib dll exe lib obj pyc pyo pyd class wasm elc beam rlib rmeta pdb bin "
    "db sqlite sqlite3 db3 mdb accdb parquet arrow feather orc avro npy npz pkl pickle h5 hdf5 "
    "onnx pt pth safetensors gguf ckpt tflite"
)

CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\s",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}
TOKEN = re.compile(
    r"\\(?P<escaped>.) | (?P<stars>\*+) | (?P<any>\?) | (?P<plain>[^\\\[*?])"
    r"| \[(?P<negated>[!^]?+)(?P<set>(?:\]|\[:\w+:\]|\\.|[^\]\\])(?:\[:\w+:\]|\\.|[^\]\\])*)\]",
    re.DOTALL | re.VERBOSE,
)
MEMBER = re.compile(r"\[:(?P<cls>\w+):\]|(?P<low>\\.|[^\\])-(?P<high>\\.|[^\\])|(?P<single>\\.|.)", re.DOTALL)


class Rules:
    """The compiled patterns of one ignore file or setting. The last pattern that matches decides."""

    __slots__ = ("_ignores", "_name_ranks", "_names", "_path_ranks", "_paths")

    def __init__(self, patterns: Sequence[tuple[bool, bool, str]] = ()) -> None:
        self._ignores = [ignores for ignores, _, _ in patterns]
        by_name = [(rank, text) for rank, (_, whole, text) in enumerate(patterns) if not whole]
        by_path = [(rank, text) for rank, (_, whole, text) in enumerate(patterns) if whole]
        self._names, self._name_ranks = _combine(by_name)
        self._paths, self._path_ranks = _combine(by_path)

    def __bool__(self) -> bool:
        return bool(self._ignores)

    def verdict(self, name: str, path: str) -> bool | None:
        """True: a pattern matches. False: a `!` pattern matches. None: no pattern matches.
        `path` is relative to the folder of the rules. The `name` and `path` of a folder end in `/`."""
        best = -1
        if self._names and (match := self._names.fullmatch(name)):
            best = self._name_ranks[match.lastindex or 0]
        if self._paths and (match := self._paths.fullmatch(path)):
            best = max(best, self._path_ranks[match.lastindex or 0])
        return None if best < 0 else self._ignores[best]


@dataclass(frozen=True, slots=True)
class IgnoreFile:
    """The rules of one ignore file, which apply below `folder` ("" or ending in `/`). For a file above the
    root, `folder` is empty and `above` is the path from there down to the root."""

    rules: Rules
    folder: str
    ours: bool  # a `.quintetignore`
    above: str = ""

    def verdict(self, name: str, path: str) -> bool | None:
        return self.rules.verdict(name, self.above + path[len(self.folder) :])


def is_ignored(ignore_files: Iterable[IgnoreFile], name: str, path: str) -> bool:
    """Do the ignore files exclude this entry? The first one, deepest first, with a matching pattern
    decides."""
    for ignore_file in ignore_files:
        verdict = ignore_file.verdict(name, path)
        if verdict is not None:
            return verdict
    return False


def is_brought_back(ignore_files: Iterable[IgnoreFile], name: str, path: str) -> bool:
    """Does a `!` pattern of a `.quintetignore` override a default exclusion? One of a `.gitignore` does not:
    not everything that belongs in a repository is worth searching."""
    verdicts = (file.verdict(name, path) for file in ignore_files if file.ours)
    return next((verdict for verdict in verdicts if verdict is not None), None) is False


def is_excluded_folder(name: str, siblings: Iterable[str]) -> bool:
    """Excluded by default: hidden folders, dependencies, build output. `siblings`: the names next to it."""
    if name == "target":
        return not BUILD_FILES.isdisjoint(siblings)
    return name[0] == "." or name in FOLDERS or name.endswith(".egg-info")


def is_excluded_file(name: str) -> bool:
    """Excluded by default: hidden files, lock files, keys, minified code, and binary files by their name."""
    lower = name.lower()
    stem, _, ending = lower.rpartition(".")
    return (
        lower[0] == "."
        or (stem != "" and ending in ENDINGS)
        or lower in FILES
        or lower.startswith(KEY_NAMES)
        or lower.endswith((".min.js", ".min.css"))
    )


@lru_cache(maxsize=256)
def parse_rules(text: str) -> tuple[Rules, tuple[str, ...]]:
    """The rules in `text`, one pattern per line, and a message for each invalid line.
    An invalid line matches nothing, as in git."""
    patterns: list[tuple[bool, bool, str]] = []
    complaints: list[str] = []
    for number, line in enumerate(normalize("NFC", text).split("\n"), 1):
        pattern = _trim(line)
        body = pattern.removeprefix("!")
        if body in ("", "/") or pattern.startswith("#"):
            continue
        try:
            patterns.append((body == pattern, *_translate(body)))
        except ValueError as error:
            complaints.append(f"line {number}, {pattern!r}: {error}")
    if len(patterns) > MAX_PATTERNS:
        return Rules(), (f"has {len(patterns)} patterns, more than {MAX_PATTERNS}; none is applied",)
    return Rules(patterns), tuple(complaints)


def _combine(patterns: Sequence[tuple[int, str]]) -> tuple[re.Pattern[str] | None, list[int]]:
    """One expression that tries the last pattern first, and the rank of the pattern of each group."""
    if not patterns:
        return None, []
    latest = patterns[::-1]
    expression = re.compile("|".join(f"({text})" for _, text in latest), re.DOTALL)
    return expression, [-1, *(rank for rank, _ in latest)]


def _trim(line: str) -> str:
    """Remove trailing spaces, except a space escaped by a backslash."""
    text = line.rstrip(" ")
    backslashes = len(text) - len(text.rstrip("\\"))
    return text + " " if backslashes % 2 and text != line else text


def _translate(pattern: str) -> tuple[bool, str]:
    """Is it matched against the whole path, and the expression."""
    body = pattern.removesuffix("/")
    end = "/?" if body == pattern else "/"
    if "/" not in body:
        return False, _segment(_tokens(body)) + end
    return True, _path(_tokens(body.removeprefix("/"))) + end


def _tokens(glob: str) -> list[re.Match[str]]:
    tokens: list[re.Match[str]] = []
    position = 0
    while position < len(glob):
        token = TOKEN.match(glob, position)
        if token is None:
            raise ValueError(
                "a backslash at the end" if glob[position] == "\\" else "a bracket that is not closed"
            )
        tokens.append(token)
        position = token.end()
    return tokens


def _path(tokens: Iterable[re.Match[str]]) -> str:
    """`**` as a whole name means any number of folders; at the end it means everything below."""
    names: list[list[re.Match[str]]] = [[]]
    for token in tokens:
        if token[0] in ("/", "\\/"):
            names.append([])
        else:
            names[-1].append(token)
    runs: list[list[str]] = [[]]
    for name in names:
        if len(name) == 1 and len(name[0]["stars"] or "") > 1:
            runs.append([])
        else:
            runs[-1].append(_segment(name))
    if len(runs) == 1:
        return "/".join(runs[0])
    first, *middle, last = ("/".join(run) for run in runs)
    between = "".join(f"(?>(?:.*?/)??{run}/)" for run in middle if run)
    return (first and first + "/") + between + (f"(?:.*/)?{last}" if last else ".+")


def _segment(tokens: Sequence[re.Match[str]]) -> str:
    """One name. Between two stars the first match is as good as any other, so the expression never
    backtracks."""
    fixed = [""]
    for token in tokens:
        if token["stars"]:
            fixed.append("")
        else:
            fixed[-1] += _character(token)
    if not any(fixed):
        return "[^/]+" if tokens else "(?!)"  # no name is empty
    if len(fixed) == 1:
        return fixed[0]
    first, *middle, last = fixed
    return first + "".join(f"(?>[^/]*?{text})" for text in middle) + "[^/]*" + last


def _character(token: re.Match[str]) -> str:
    if token["any"]:
        return "[^/]"
    if token["set"] is None:
        return re.escape(token["escaped"] or token["plain"])
    members = "".join(_member(member) for member in MEMBER.finditer(token["set"]))
    if token["negated"]:
        return f"[^/{members}]"
    return f"(?!/)[{members}]"


def _member(member: re.Match[str]) -> str:
    """What one part of a bracket adds to the set. A range that runs backwards adds its start."""
    if member["cls"]:
        if member["cls"] not in CLASSES:
            raise ValueError(f"unknown class [:{member['cls']}:]")
        return CLASSES[member["cls"]]
    if member["single"]:
        return re.escape(member["single"][-1])
    low, high = member["low"][-1], member["high"][-1]
    return f"{re.escape(low)}-{re.escape(high)}" if low <= high else re.escape(low)
