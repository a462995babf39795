"""How many call edges of the code graph are right, by what jedi makes of the same calls.

    python bench/graph_quality.py                   httpx and starlette
    python bench/graph_quality.py jedi typer        other installed packages
    python bench/graph_quality.py --wrong httpx     and every exact edge that jedi contradicts

A call is right if its edge leads to a definition that jedi's `goto` or `infer` gives for the called name.
A call of which jedi finds nothing at all is not judged; how many edges that leaves out is told. Precision is
over the edges judged, recall over the calls that jedi leads into the package. Needs jedi.
"""

import argparse
import ast
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from quintet.codegraph.extractor import extract
from quintet.codegraph.languages.python import PYTHON
from quintet.codegraph.resolve.edges import Edges
from quintet.codegraph.resolve.project import Project, SymbolPlace
from quintet.codegraph.source import read_source
from quintet.model.symbols import FileOutline

PACKAGES = ("httpx", "starlette")
SAMPLE, SEED = 800, 5
CONFIDENCES = ("exact", "likely", "possible")
Key = tuple[str, int, str]  # path, line where the call begins, called name
Ours = dict[Key, dict[SymbolPlace, str]]


@dataclass(frozen=True, slots=True)
class Call:
    """A call in the source: where its expression begins, the called name and where that ends."""

    path: str
    line: int
    name: str
    name_line: int
    name_column: int

    @property
    def key(self) -> "Key":
        return (self.path, self.line, self.name)


@dataclass(slots=True)
class Tally:
    judged: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)
    unjudged: Counter[str] = field(default_factory=Counter)
    inside: int = 0
    found: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def read(root: Path, package: str) -> list[FileOutline]:
    files = []
    for path in sorted((root / package).rglob("*.py")):
        name = path.relative_to(root).as_posix()
        file = read_source(name, path.read_bytes().decode("utf-8", "replace"), PYTHON)
        if file is not None:
            files.append(FileOutline(name, name, extract(file).outline))
    return files


def calls(root: Path, path: str) -> Iterator[Call]:
    for node in ast.walk(ast.parse((root / path).read_bytes())):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Name):
            yield Call(path, node.lineno, called.id, called.lineno, called.col_offset)
        elif isinstance(called, ast.Attribute) and called.end_lineno and called.end_col_offset:
            column = called.end_col_offset - len(called.attr)
            yield Call(path, node.lineno, called.attr, called.end_lineno, column)


class Jedi:
    """jedi's answers as places of our project."""

    def __init__(self, root: Path, project: Project) -> None:
        import jedi

        self.root, self.project = root, project
        self._jedi_project = jedi.Project(root)
        self._make = jedi.Script
        self._scripts: dict[str, "jedi.Script"] = {}  # noqa: UP037

    def targets(self, call: Call) -> tuple[set[SymbolPlace], bool]:
        """Where the called name leads inside the project, and whether jedi found anything."""
        if call.path not in self._scripts:
            self._scripts[call.path] = self._make(path=self.root / call.path, project=self._jedi_project)
        script = self._scripts[call.path]
        line = (self.root / call.path).read_bytes().split(b"\n")[call.name_line - 1]
        column = len(line[: call.name_column].decode("utf-8", "replace"))
        names = script.goto(call.name_line, column, follow_imports=True)
        names += script.infer(call.name_line, column)
        places = {place for name in names if (place := self._place(name)) is not None}
        return places, bool(names)

    def _place(self, name: "jedi.api.classes.Name") -> SymbolPlace | None:  # noqa: F821
        if name.module_path is None or not name.module_path.is_relative_to(self.root):
            return None
        number = self.project.by_path.get(name.module_path.relative_to(self.root).as_posix())
        if number is None or name.type == "param":
            return None
        file = self.project.files[number]
        fits = [
            place
            for place, symbol in enumerate(file.outline.symbols)
            if symbol.name == name.name and symbol.first_line <= (name.line or 0) <= symbol.last_line
        ]
        return SymbolPlace(number, file.standing_for(fits[-1])) if fits else None


def measure(root: Path, package: str, sample: int) -> Tally:
    started = time.perf_counter()
    files = read(root, package)
    parsed = time.perf_counter()
    project = Project(files)
    edges = Edges(project)
    ours: Ours = defaultdict(dict)
    places = {
        project.id_of(SymbolPlace(n, s)): SymbolPlace(n, file.standing_for(s))
        for n, file in enumerate(project.files)
        for s in range(len(file.outline.symbols))
    }
    for number, file in enumerate(project.files):
        for mention in file.outline.mentions:
            if mention.relation == "calls":
                for edge in edges.of_mention(number, mention):
                    key = (file.path, mention.line, mention.path[-1])
                    ours[key].setdefault(places[edge.target], edge.confidence)
    resolved = time.perf_counter()
    symbols = sum(len(file.outline.symbols) for file in files)
    mentions = sum(len(file.outline.mentions) for file in files)
    print(
        f"{package}: {len(files)} files, {symbols} symbols, {mentions} mentions;"
        f" read in {parsed - started:.1f} s, resolved in {resolved - parsed:.1f} s"
    )
    all_calls = [call for file in files for call in calls(root, file.path)]
    return judge(ours, project, Jedi(root, project), choose(all_calls, ours, sample))


def choose(all_calls: list[Call], ours: Ours, size: int) -> list[Call]:
    """`size` of the calls that have an edge, for precision, and half as many of all, for recall."""
    chance = random.Random(SEED)
    linked = [call for call in all_calls if call.key in ours]
    picked = chance.sample(linked, min(size, len(linked)))
    others = chance.sample(all_calls, min(size // 2, len(all_calls)))
    return sorted({*picked, *others}, key=lambda call: (call.path, call.name_line, call.name_column))


def judge(ours: Ours, project: Project, jedi: Jedi, sample: Sequence[Call]) -> Tally:
    tally = Tally()
    answers = {call: jedi.targets(call) for call in sample}
    on_line: dict[Key, set[SymbolPlace]] = defaultdict(set)
    for call, (inside, _) in answers.items():
        on_line[call.key] |= inside
    for call, (inside, found_any) in answers.items():
        mine = ours.get(call.key, {})
        if found_any:
            judge_edges(tally, project, call, mine, on_line[call.key])
        else:
            tally.unjudged.update(mine.values())
        if inside:
            tally.inside += 1
            hits = {confidence for place, confidence in mine.items() if place in inside}
            for level, confidence in enumerate(CONFIDENCES):
                tally.found[confidence] += bool(hits & set(CONFIDENCES[: level + 1]))
    return tally


def judge_edges(
    tally: Tally, project: Project, call: Call, mine: dict[SymbolPlace, str], right: set[SymbolPlace]
) -> None:
    for place, confidence in mine.items():
        tally.judged[confidence] += 1
        tally.right[confidence] += place in right
        if place not in right and confidence == "exact":
            jedi = ", ".join(shown(project, other) for other in sorted(right)) or "elsewhere"
            tally.wrong.append(
                f"{call.path}:{call.line} {call.name} -> {shown(project, place)}; jedi: {jedi}"
            )


def shown(project: Project, place: SymbolPlace) -> str:
    return f"{project.files[place.file].path}:{'.'.join(project.symbol(place).path)}"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("packages", nargs="*", default=PACKAGES)
    options.add_argument("--sample", type=int, default=SAMPLE)
    options.add_argument("--wrong", action="store_true")
    given = options.parse_args()
    for package in given.packages:
        spec = find_spec(package)
        if spec is None or spec.origin is None:
            raise SystemExit(f"{package!r} is not an installed package; name one that is")
        tally = measure(Path(spec.origin).parent.parent, package, given.sample)
        for confidence in CONFIDENCES:
            judged, right = tally.judged[confidence], tally.right[confidence]
            share = f"{right / judged:.3f}" if judged else "-"
            so_far = f"{tally.found[confidence] / max(1, tally.inside):.3f} of {tally.inside}"
            print(
                f"  {confidence:8} precision {share} of {judged}"
                f" (not judged {tally.unjudged[confidence]}); recall so far {so_far}"
            )
        if given.wrong:
            print(*tally.wrong, sep="\n", file=sys.stderr)


if __name__ == "__main__":
    main()
