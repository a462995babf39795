"""Following the disk: real files, the real watcher, and reports that are waited for."""

import queue
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

import quintet
from quintet.errors import Conflict
from quintet.index import Index
from quintet.indexing import watch as module
from quintet.indexing.run import Report
from quintet.indexing.watch import paths_to_sync, watch
from quintet.ports.reading import Root

PATIENCE = 60  # seconds; only a fault takes that long


class Watching:
    """A watcher in a thread. What it reports is waited for, never slept for."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self._reports: queue.Queue[Report] = queue.Queue()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=watch, args=(index, self._stop, self._reports.put))

    def start(self) -> Report:
        """The first run: from then on changes are listened for."""
        self._thread.start()
        return self._reports.get(timeout=PATIENCE)

    def until(self, holds: Callable[[], bool]) -> list[Report]:
        """The reports up to the one after which it holds."""
        seen = []
        while not holds():
            seen.append(self._reports.get(timeout=PATIENCE))
        return seen

    def stop(self) -> None:
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    def paths(self) -> set[str]:
        found = self.index.search("note", limit=1000).body["results"]
        return {result["path"] for result in found}  # type: ignore[index,call-overload,union-attr]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Resolved, as roots are."""
    place = (tmp_path / "notes").resolve()
    for name in ("one.md", "two.md", "deep/three.md", "deep/down/four.md"):
        write(place / name)
    return place


def write(path: Path, text: str = "a note") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# Title\n\n{text}\n", "utf-8")


@pytest.fixture
def watching(folder: Path, tmp_path: Path) -> Iterator[Watching]:
    with quintet.open(folder / ".quintet", None) as index:
        index.sync([folder])
        follower = Watching(index)
        yield follower
        follower.stop()


def test_what_changed_before_is_caught_up_with_first(watching: Watching, folder: Path) -> None:
    write(folder / "five.md")
    report = watching.start()
    assert (report.indexed, report.skipped) == (1, 4)


def test_a_new_and_a_changed_file_are_indexed_and_no_other_is_looked_at(
    watching: Watching, folder: Path
) -> None:
    watching.start()
    write(folder / "deep" / "five.md")
    reports = watching.until(lambda: "deep/five.md" in watching.paths())
    write(folder / "two.md", "a changed note")
    reports += watching.until(lambda: bool(watching.index.search("changed").body["results"]))
    assert sum(report.indexed for report in reports) >= 2
    assert not {"one.md", "deep/down/four.md"} & {p.path for r in reports for p in r.problems}
    assert max(report.indexed + report.skipped for report in reports) <= 2


def test_an_editor_that_writes_by_renaming_is_followed(watching: Watching, folder: Path) -> None:
    watching.start()
    write(folder / "one.md~", "a renamed note")
    (folder / "one.md~").replace(folder / "one.md")
    watching.until(lambda: bool(watching.index.search("renamed").body["results"]))
    assert watching.paths() == {"one.md", "two.md", "deep/three.md", "deep/down/four.md"}


def test_a_folder_that_is_deleted_leaves_the_index(watching: Watching, folder: Path) -> None:
    watching.start()
    shutil.rmtree(folder / "deep")
    watching.until(lambda: watching.paths() == {"one.md", "two.md"})


def test_a_folder_that_is_moved_is_found_at_its_new_place(watching: Watching, folder: Path) -> None:
    watching.start()
    (folder / "deep").rename(folder / "moved")
    watching.until(lambda: watching.paths() == {"one.md", "two.md", "moved/three.md", "moved/down/four.md"})


def test_many_changes_at_once_as_by_a_branch_switch_are_one_run(
    watching: Watching, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MANY", 3)
    watching.start()
    for number in range(10):
        write(folder / f"branch/{number}.md")
    (folder / "one.md").unlink()
    watching.until(lambda: len(watching.paths()) == 13)
    assert "one.md" not in watching.paths()


def test_what_an_ignore_file_newly_excludes_leaves_the_index(watching: Watching, folder: Path) -> None:
    watching.start()
    (folder / "deep" / ".quintetignore").write_text("three.md\n", "utf-8")
    watching.until(lambda: "deep/three.md" not in watching.paths())
    assert "deep/down/four.md" in watching.paths()


def test_a_root_that_goes_away_and_comes_back_is_followed_again(tmp_path: Path, folder: Path) -> None:
    with quintet.open(tmp_path / "index", None) as index:
        index.sync([folder])
        watching = Watching(index)
        watching.start()
        folder.rename(tmp_path / "away")
        write(folder / "new.md")
        watching.until(lambda: watching.paths() == {"new.md"})
        write(folder / "newer.md")
        watching.until(lambda: watching.paths() == {"new.md", "newer.md"})
        watching.stop()


def test_a_root_added_later_is_followed_too(watching: Watching, tmp_path: Path) -> None:
    watching.start()
    write(tmp_path / "second" / "first.md")
    watching.index.sync([tmp_path / "second"])
    watching.until(lambda: "first.md" in watching.paths())
    write(tmp_path / "second" / "later.md")
    watching.until(lambda: "later.md" in watching.paths())


class Busy:
    """An index whose writer is taken the first time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / ".quintet"
        self.location = str(folder)
        self.asked: list[Sequence[str] | None] = []

    def roots(self) -> list[Root]:
        return [Root("notes", self.location)]

    def sync(self, paths: Sequence[str] | None = None) -> Report:
        self.asked.append(paths)
        if len(self.asked) == 1:
            raise Conflict("taken", code="busy_writer")
        return Report()


def test_what_could_not_be_written_is_tried_again(folder: Path) -> None:
    index, stop = Busy(folder), threading.Event()
    watch(index, stop, lambda report: stop.set())
    assert index.asked == [None, None]


def test_the_index_and_version_control_are_not_listened_to(folder: Path) -> None:
    own = folder / "index"
    assert not module._is_relevant(own / "index.db", own)
    assert not module._is_relevant(folder / ".git" / "HEAD", own)
    assert not module._is_relevant(folder / "inner" / ".quintet" / "index.db", own)
    assert module._is_relevant(folder / "one.md", own)


def test_what_is_gone_stands_for_the_folder_that_is_left(folder: Path) -> None:
    roots = [Root("notes", str(folder))]
    gone = [str(folder / "deep" / "gone.md"), str(folder / "lost" / "in" / "there.md")]
    assert paths_to_sync(gone, roots) == [str(folder), str(folder / "deep")]
    assert paths_to_sync([str(folder / "one.md")], roots) == [str(folder / "one.md")]
    assert paths_to_sync(["/elsewhere/one.md"], roots) == []


def test_a_link_stands_for_its_folder_and_is_never_followed(folder: Path, tmp_path: Path) -> None:
    write(tmp_path / "secret.md")
    (folder / "deep" / "link.md").symlink_to(tmp_path / "secret.md")
    (folder / "way-out").symlink_to(tmp_path)
    roots = [Root("notes", str(folder))]
    changed = [str(folder / "deep" / "link.md"), str(folder / "way-out" / "secret.md")]
    assert paths_to_sync(changed, roots) == [str(folder), str(folder / "deep")]


def test_of_a_root_of_single_files_only_those_count(folder: Path) -> None:
    roots = [Root("notes", str(folder), only=("one.md",))]
    assert paths_to_sync([str(folder / "one.md"), str(folder / "two.md")], roots) == [str(folder / "one.md")]
    (folder / "one.md").unlink()
    assert paths_to_sync([str(folder / "one.md")], roots) is None


def test_a_single_file_counts_however_the_disk_spells_it(folder: Path) -> None:
    decomposed = folder / "cafe\u0301.md"
    write(decomposed)
    roots = [Root("notes", str(folder), only=("caf\u00e9.md",))]
    assert paths_to_sync([str(decomposed)], roots) == [str(decomposed)]


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_follows_until_a_signal_and_ends_cleanly(folder: Path, number: signal.Signals) -> None:
    with quintet.open(folder / ".quintet", None) as index:
        index.sync([folder])
    process = subprocess.Popen(
        [sys.executable, "-m", "quintet", "watch"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith("0 indexed, 4 skipped")
    write(folder / "five.md")
    assert process.stdout.readline().startswith("1 indexed")
    process.send_signal(number)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert said == f"watching {folder}\n"
