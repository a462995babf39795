"""A kill at any moment of a backup or a restoration leaves nothing half, and the next one succeeds."""

import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import quintet
from backups.answers import answers_of, make_index

CHILD = Path(__file__).with_name("killed.py")
SEED, MOMENTS = 5, 10
ACTIONS = ("restore", "restore-in-steps")


def run(action: str, moment: int, one: Path, other: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(CHILD), action, str(moment), str(one), str(other)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


class Place:
    """Two indexes, a backup of the first, and what both answer."""

    def __init__(self, folder: Path) -> None:
        self.new = make_index(folder / "new", "zebra")
        self.old = make_index(folder / "old", "camel")
        self.backup = folder / "kept"
        quintet.backup(self.new, self.backup)
        self.answers = {name: answers_of(getattr(self, name)) for name in ("new", "old")}

    def total(self, action: str, folder: Path) -> int:
        """How many moments there are."""
        source, target = self.prepared(action, folder)
        return int(run(action, 0, source, target).stdout)

    def prepared(self, action: str, folder: Path) -> tuple[Path, Path]:
        folder.mkdir()
        if action == "backup":
            return self.new, folder / "made"
        shutil.copytree(self.old, folder / "made")
        return self.backup, folder / "made"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("kill"))


def check_killed_backup(place: Place, moment: int, folder: Path) -> None:
    source, target = place.prepared("backup", folder)
    assert run("backup", moment, source, target).returncode == -signal.SIGKILL
    if not target.exists():
        quintet.backup(source, target)
        assert [file.name for file in folder.iterdir()] == ["made"]
    quintet.restore(target, folder / "restored")
    assert answers_of(folder / "restored") == place.answers["new"]
    assert answers_of(place.new) == place.answers["new"]


def check_killed_restore(place: Place, action: str, moment: int, folder: Path) -> None:
    source, target = place.prepared(action, folder)
    assert run(action, moment, source, target).returncode == -signal.SIGKILL
    if target.exists() or action == "restore":
        assert answers_of(target) in (place.answers["old"], place.answers["new"])
    else:  # between the two steps
        assert answers_of(folder / ".made.replaced") == place.answers["old"]
    quintet.restore(source, target, replace=True)
    assert answers_of(target) == place.answers["new"]
    assert [file.name for file in folder.iterdir()] == ["made"]


def test_a_killed_backup_is_whole_or_not_there(place: Place, tmp_path: Path) -> None:
    total = place.total("backup", tmp_path / "counted")
    for moment in random.Random(SEED).sample(range(1, total), MOMENTS):
        check_killed_backup(place, moment, tmp_path / str(moment))


@pytest.mark.parametrize("action", ACTIONS)
def test_a_killed_restoration_leaves_the_old_index_or_the_new_one(
    place: Place, tmp_path: Path, action: str
) -> None:
    total = place.total(action, tmp_path / "counted")
    last = range(total - 30, total)  # the steps around the swap
    for moment in [*random.Random(SEED).sample(range(1, total - 30), MOMENTS // 2), *last[::6]]:
        check_killed_restore(place, action, moment, tmp_path / str(moment))


@pytest.mark.slow
@pytest.mark.parametrize("action", ["backup", *ACTIONS])
def test_a_kill_at_every_single_moment_leaves_nothing_half(place: Place, tmp_path: Path, action: str) -> None:
    for moment in range(1, place.total(action, tmp_path / "counted")):
        folder = tmp_path / str(moment)
        if action == "backup":
            check_killed_backup(place, moment, folder)
        else:
            check_killed_restore(place, action, moment, folder)
        shutil.rmtree(folder)
