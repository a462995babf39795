"""Runs the tests of what changed: `python tests/changed.py`, part of `make check`.

Changed is what differs from the merge base with main, what is not committed, and what git does not know yet.
A file's test has the same path below tests/. `tests/architecture` always runs.
"""

import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]
ALWAYS = "tests/architecture"
DOCS = "tests/docs"


def targets_of(file: str, root: Path = ROOT) -> Iterator[str]:
    """The nearest tests of a file: its own test, or else those of the folder that has the same path."""
    path = PurePosixPath(file)
    if not (root / file).exists() or path.suffix != ".py":
        return
    if path.parts[:2] == ("src", "quintet"):
        yield file  # its doctests
        inner = path.relative_to("src/quintet")
        yield from _nearest(root, PurePosixPath("tests", inner.with_suffix("")))
    elif path.parts[0] == "tests" and path.name.startswith("test_"):
        yield file
    elif path.parts[0] == "tests" and len(path.parts) > 2:  # what the tests of a folder share
        yield path.parent.as_posix()


def _nearest(root: Path, place: PurePosixPath) -> Iterator[str]:
    """`tests/query/legs` is tested by `tests/query/test_legs*.py`, or by the nearest folder with tests."""
    own = sorted((root / place.parent).glob(f"test_{place.name}*.py"))
    if own:
        yield from (test.relative_to(root).as_posix() for test in own)
        return
    while len(place.parts) > 1:
        if any((root / place).glob("test_*.py")):
            yield place.as_posix()
            return
        place = place.parent


def pages(files: Iterable[str]) -> list[str]:
    """The changed pages, as tests/docs names them."""
    return [file for file in files if file.endswith(".md")]


def without_nested(targets: Iterable[str]) -> list[str]:
    """Each target once, without those that another one includes.

    >>> without_nested(["tests/query/test_legs.py", "tests/query", "tests/query"])
    ['tests/query']
    """
    every = set(targets)
    return sorted(target for target in every if not every & {*map(str, PurePosixPath(target).parents)})


def changed_files() -> list[str]:
    base = _git("merge-base", "HEAD", "main") or ["HEAD"]
    tracked = _git("diff", "--name-only", base[0])
    return sorted({*tracked, *_git("ls-files", "--others", "--exclude-standard")})


def _git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.split("\n")[:-1] if done.returncode == 0 else []


def main() -> int:
    files = changed_files()
    targets = without_nested([ALWAYS, *(test for file in files for test in targets_of(file))])
    print("\n".join(targets), flush=True)
    failed = _pytest("-n", "2", "--dist", "loadfile", *targets)
    if pages(files):
        failed |= _pytest(DOCS, "-k", " or ".join(pages(files)))
    return failed


def _pytest(*arguments: str) -> int:
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", *arguments], cwd=ROOT, check=False)
    return 0 if done.returncode == 5 else done.returncode  # 5: no tests, e.g. of a page without code


if __name__ == "__main__":
    sys.exit(main())
