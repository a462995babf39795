"""A kill at any moment leaves whole files, and the next run ends as if nothing had happened."""

import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

import quintet
from robustness.chapters import write_chapters

CHILD = Path(__file__).with_name("killed_run.py")
SEED = 11
MOMENTS = {"progress": 5, "commit": 7, "statement": 8}  # twenty in all


def _run(kind: str, moment: int, folder: Path, *roots: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(CHILD), kind, str(moment), str(folder), *map(str, roots)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of the old files beside the new files, and the clean state of either."""
    base = tmp_path_factory.mktemp("kill")
    write_chapters(base / "files", "old")
    with quintet.open(base / "old", "hashing") as index:
        index.sync([base / "files"])
    return base


@pytest.fixture(scope="module")
def whole(place: Path) -> dict[str, dict[str, list[tuple[object, ...]]]]:
    """Every file's chunks in either version, as a run without a kill writes them."""
    old = _contents(place / "old")
    write_chapters(place / "files", "new")
    with quintet.open(place / "new", "hashing") as index:
        index.sync([place / "files"])
    return {"old": old, "new": _contents(place / "new")}


def _contents(folder: Path) -> dict[str, list[tuple[object, ...]]]:
    """Each document with its chunks, straight from the tables."""
    connection = apsw.Connection(str(folder / "index.db"))
    assert connection.pragma("integrity_check") == "ok"
    for table in ("text", "parts", "cjk"):
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")
    assert connection.execute("SELECT count(*) FROM chunks").get == (
        connection.execute("SELECT count(*) FROM text_docsize").get
    )
    found: dict[str, list[tuple[object, ...]]] = {}
    rows = connection.execute(
        "SELECT d.path, d.content_hash, c.id, c.sequence, c.first_line, x.content "
        "FROM documents d LEFT JOIN chunks c ON c.document = d.row LEFT JOIN contents x ON x.row = c.row "
        "ORDER BY d.path, c.sequence"
    )
    for path, *chunk in rows:
        found.setdefault(path, []).append(tuple(chunk))
    connection.close()
    return found


def _state(folder: Path) -> str:
    with quintet.open(folder) as index:
        return index.status().state_root


def _moments() -> list[tuple[str, float]]:
    """Where in the run, as a share of all the moments of that kind."""
    chance = random.Random(SEED)
    return [(kind, chance.random()) for kind, count in MOMENTS.items() for _ in range(count)]


@pytest.fixture(scope="module")
def totals(place: Path, whole: object, tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """How many moments of each kind an undisturbed run has."""
    base = tmp_path_factory.mktemp("totals")
    found = {}
    for kind in MOMENTS:
        shutil.copytree(place / "old", base / kind)
        found[kind] = int(_run(kind, 0, base / kind, place / "files").stdout)
    return found


@pytest.mark.parametrize(("kind", "share"), _moments())
def test_a_killed_run_leaves_whole_files_and_the_next_run_completes_it(
    place: Path,
    whole: dict[str, dict[str, list[tuple[object, ...]]]],
    totals: dict[str, int],
    tmp_path: Path,
    kind: str,
    share: float,
) -> None:
    folder = tmp_path / "index"
    shutil.copytree(place / "old", folder)
    killed = _run(kind, 1 + int(share * totals[kind]), folder, place / "files")
    assert killed.returncode == -signal.SIGKILL, killed.stderr

    for path, chunks in _contents(folder).items():
        assert chunks in (whole["old"].get(path), whole["new"].get(path)), path
    assert _run(kind, 0, folder, place / "files").returncode == 0
    assert _state(folder) == _state(place / "new")
    assert _contents(folder) == whole["new"]


@pytest.mark.parametrize("moment", [1, 2, 3, 5, 8, 13, 20])
def test_a_first_run_that_is_killed_is_completed_by_the_next(
    place: Path, whole: object, tmp_path: Path, moment: int
) -> None:
    folder = tmp_path / "index"
    assert _run("commit", moment, folder, place / "files").returncode == -signal.SIGKILL
    assert _run("commit", 0, folder, place / "files").returncode == 0
    assert _state(folder) == _state(place / "new")


def test_a_first_run_killed_before_its_first_vector_keeps_its_embedder(
    place: Path, whole: object, tmp_path: Path
) -> None:
    folder = tmp_path / "index"
    assert _run("progress", 1, folder, place / "files").returncode == -signal.SIGKILL
    with quintet.open(folder) as told_nothing:
        told_nothing.sync()
        assert told_nothing.status().embedder == "hash-384"
    assert _state(folder) == _state(place / "new")


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
@pytest.mark.parametrize("by_name", [True, False])
def test_a_kill_while_a_root_folds_into_an_outer_one_leaves_no_document_twice(
    place: Path, whole: object, tmp_path: Path, share: float, by_name: bool
) -> None:
    files, folder = place / "files", tmp_path / "index"
    assert _run("commit", 0, folder, files / "part0", files / "part1").returncode == 0
    shutil.copytree(folder, tmp_path / "counted")
    total = int(_run("commit", 0, tmp_path / "counted", files).stdout)
    assert _run("commit", 1 + int(share * total), folder, files).returncode == -signal.SIGKILL
    assert _run("commit", 0, folder, *([files] if by_name else [])).returncode == 0
    assert _state(folder) == _state(place / "new")
    with quintet.open(folder) as index:
        assert [root.name for root in index.status().roots] == ["files"]
