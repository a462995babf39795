"""What facts about code say to a query: paths, definitions, literals and the roles of files are signals of
their own."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain

from quintet.contracts.intent import PASTED, WORD, Name, QueryIntent
from quintet.model.results import Facts, Hit
from quintet.model.roles import Role, is_prose, role_of
from quintet.ranking.fuse import add_up

BEGINNING = 0.7  # what `config` counts for `configuration`
LEAST_BEGINNING = 4  # letters
ELSEWHERE = 0.25  # what the named file counts beside the line that the query gives
FOLDER = 0.5  # what a word counts in the name of a folder instead of the file
TYPES = frozenset(("class", "struct", "interface", "trait", "enum", "type", "record", "union"))
MEMBER = 0.7  # what the definition of a function counts: a class goes before its constructor
INSIDE = 0.4  # what a chunk counts that is inside of what the query names
UNQUALIFIED = 0.8  # the name fits, but what is around it does not
PARTS = 0.5  # what a name counts that shares all its words with the query
Stems = Callable[[Sequence[str]], list[str]]
_VERSION_FOLDER = re.compile(r"^(.*/|)v(\d{1,3})/(.+)$", re.IGNORECASE)
_FOLDER_FILES = frozenset(("__init__", "index", "mod"))  # stand for their folder


def _modules(names: Iterable[Name]) -> Iterator[tuple[str, ...]]:
    """What `a.b.c` may mean as a file: the module `a/b/c`, or the module `a/b` with a member `c`."""
    for name in names:
        parts = tuple(part.lower() for part in (*name.inside, name.name))
        yield from (parts[:size] for size in (len(parts), len(parts) - 1) if size > 1)


def _module_names(path: str) -> Iterator[tuple[str, ...]]:
    """What a file may be called as a module: the last parts of its path, two at least.

    >>> list(_module_names("src/app/cli/__init__.py"))
    [('app', 'cli'), ('src', 'app', 'cli')]
    """
    *folders, name = path.lower().split("/")
    stem = name.partition(".")[0]
    parts = folders if stem in _FOLDER_FILES else [*folders, stem]
    return (tuple(parts[-size:]) for size in range(2, len(parts) + 1))


@dataclass(frozen=True, slots=True)
class Overlap:
    """How much of the query a text covers, and how much of the text the query covers."""

    of_query: float
    of_text: float

    @property
    def balance(self) -> float:
        """The harmonic mean."""
        both = self.of_query + self.of_text
        return 2 * self.of_query * self.of_text / both if both else 0.0


@lru_cache(maxsize=16_384)
def _split(text: str) -> tuple[str, ...]:
    """The words of a path or a name, each once."""
    return tuple(dict.fromkeys(word.lower() for word in WORD.findall(text)))


class WordMatcher:
    """The stems of a query, and how well other words match them."""

    def __init__(self, words: Sequence[str], stems: Stems) -> None:
        self._stems = stems
        self._asked = tuple(dict.fromkeys(stems(words)))
        self._known: dict[str, tuple[int, float]] = {word: (at, 1.0) for at, word in enumerate(self._asked)}
        self._beginnings: dict[str, list[int]] = {}
        for at, word in enumerate(self._asked):
            if len(word) >= LEAST_BEGINNING:
                self._beginnings.setdefault(word[:LEAST_BEGINNING], []).append(at)

    def overlap(self, text: str, *, without: Collection[int] = ()) -> tuple[Overlap, Collection[int]]:
        """How well the query and `text` cover each other, and which words of the query match.

        Words of the query in `without` do not count.
        """
        stems = self._stems(_split(text))
        best: dict[int, float] = {}
        covered = 0.0
        for stem in stems:
            known = self._known.get(stem)
            if known is None:
                known = self._known[stem] = self._by_beginning(stem)
            at, match = known
            if match:
                covered += match
                if at not in without:
                    best[at] = max(match, best.get(at, 0.0))
        if not covered:
            return NO_OVERLAP, ()
        return Overlap(add_up(best.values()) / len(self._asked), covered / len(stems)), best

    def _by_beginning(self, word: str) -> tuple[int, float]:
        if len(word) >= LEAST_BEGINNING:
            for at in self._beginnings.get(word[:LEAST_BEGINNING], ()):
                if self._asked[at].startswith(word) or word.startswith(self._asked[at]):
                    return at, BEGINNING
        return -1, 0.0


NO_OVERLAP = Overlap(0.0, 0.0)


class CodeEvidence:
    """The evidence about one query."""

    def __init__(self, intent: QueryIntent, stems: Stems) -> None:
        self._intent = intent
        self._stems = stems
        self._names: dict[str, list[Name]] = {}
        for name in intent.names:
            self._names.setdefault(name.name, []).append(name)
        self._modules = frozenset(_modules(intent.names))
        self._paths: dict[str, float] = {}

    @cached_property
    def _words(self) -> WordMatcher:
        return WordMatcher(self._intent.words, self._stems)

    def path(self, facts: Mapping[str, Facts]) -> list[Hit]:
        """Of source files by the words of their paths, of any file that the query names. The words of
        prose are in its title and headings, so they would count twice (HotpotQA -.03 nDCG@10)."""
        named = bool(self._intent.paths)
        scores = {
            chunk_id: self._path_score(fact) for chunk_id, fact in facts.items() if named or fact.is_code
        }
        if any(self._intent.lines):
            scores |= dict.fromkeys(self._elsewhere(facts), ELSEWHERE)
        return _hits(scores.items())

    def _elsewhere(self, facts: Mapping[str, Facts]) -> Iterator[str]:
        """The chunks of files that the query names with a line, but not the chunk that has the line."""
        for named, line in zip(self._intent.paths, self._intent.lines, strict=True):
            chunks = [item for item in facts.items() if line and _is_named(item[1].path, named)]
            nearest = max((fact.line for _, fact in chunks if fact.line <= line), default=0)
            yield from (chunk_id for chunk_id, fact in chunks if fact.line != nearest)

    def _path_score(self, fact: Facts) -> float:
        score = self._paths.get(fact.path)
        if score is None:
            score = self._paths[fact.path] = self._score_path(fact.path, fact.is_code)
        return score

    def _score_path(self, path: str, is_code: bool) -> float:
        if any(_is_named(path, named) for named in self._intent.paths):
            return 1.0
        if not is_code:
            return 0.0
        if self._modules and not self._modules.isdisjoint(_module_names(path)):
            return 1.0
        folders, _, name = path.rpartition("/")
        in_name, matched = self._words.overlap(name.rpartition(".")[0] or name)
        in_folders, _ = self._words.overlap(folders, without=matched)
        return min(1.0, in_name.balance + FOLDER * in_folders.of_query)

    def definition(self, facts: Mapping[str, Facts]) -> list[Hit]:
        return _hits(
            (chunk_id, self._definition_score(fact)) for chunk_id, fact in facts.items() if fact.name
        )

    def _definition_score(self, fact: Facts) -> float:
        if fact.name in self._names:
            around = {*fact.heading_path.split(" > "), fact.path.rpartition("/")[2].partition(".")[0]}
            fits = any(around.issuperset(name.inside[-1:]) for name in self._names[fact.name])
            return (1.0 if fact.kind in TYPES else MEMBER) * (1.0 if fits else UNQUALIFIED)
        parts = PARTS * self._words.overlap(fact.name)[0].balance
        inside = not self._names.keys().isdisjoint(fact.heading_path.split(" > "))
        return max(parts, INSIDE) if inside else parts

    def literal(self, facts: Mapping[str, Facts], held: Sequence[Collection[str]]) -> list[Hit]:
        """By the share of the literals that a chunk holds; `held` has the chunks that hold each of them.
        Where all is prose, a name in mixed case is a word like any other, such as one of medicine."""
        if self._intent.kind != "error" and not any(fact.is_code for fact in facts.values()):
            return []
        count = Counter(chain.from_iterable(held))
        return _hits((chunk_id, count[chunk_id] / len(held)) for chunk_id in facts if count[chunk_id])

    def role(self, facts: Mapping[str, Facts]) -> list[Hit]:
        """-1 for files of a role that the query does not ask for. What is pasted (a traceback, an issue) asks
        for code, so documentation has -1 there. A question may ask for an example, and for prose, which has
        +1 beside source code: only code has paths, definitions and agreement on its side."""
        wanted: set[Role] = {"source", *self._intent.roles}
        if self._intent.kind not in PASTED:
            wanted.add("docs")
        if self._intent.kind == "question":
            wanted.add("example")
        old = set[str]()
        if "superseded" not in wanted:
            old = superseded({fact.path for fact in facts.values()}, self._intent.versions)
        beside_code = self._intent.kind == "question" and any(fact.is_code for fact in facts.values())

        def score(fact: Facts) -> float:
            if role_of(fact.path) not in wanted or fact.path in old:
                return -1.0
            return 1.0 if beside_code and not fact.is_code and is_prose(fact.path) else 0.0

        return _hits((chunk_id, score(fact)) for chunk_id, fact in facts.items())


def _is_named(path: str, named: str) -> bool:
    return f"/{path}".endswith(f"/{named}")


def superseded(paths: Collection[str], wanted: Collection[int] = ()) -> set[str]:
    """The paths in a folder of an older version: a folder of a newer version stands beside it, or the same
    file without the folder. `wanted` versions are not old.

    >>> sorted(superseded(["api/v1/a.py", "api/v2/b.py", "lib/v1/c.py", "lib/c.py"]))
    ['api/v1/a.py', 'lib/v1/c.py']
    """
    folders = [path for path in paths if "/v" in path or path[:1] in "vV" or "/V" in path]
    parts = {path: match.groups() for path in folders if (match := _VERSION_FOLDER.match(path))}
    newest: dict[str, int] = {}
    for parent, version, _ in parts.values():
        newest[parent] = max(int(version), newest.get(parent, 0))
    return {
        path
        for path, (parent, version, rest) in parts.items()
        if int(version) not in wanted and (int(version) < newest[parent] or parent + rest in paths)
    }


def _hits(scores: Iterable[tuple[str, float]]) -> list[Hit]:
    return [Hit(chunk_id, score, score, None, False) for chunk_id, score in scores if score]
