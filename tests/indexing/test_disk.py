"""Documents against the files they were made from: real files, a real repository, a clock by hand."""

import os
import shutil
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest

import quintet
from indexing.repository import Repository, needs_git, own_configuration, program
from quintet.indexing import disk as freshness
from quintet.indexing.disk import SourceFiles
from quintet.model.results import Freshness
from quintet.ports.reading import Comparison, KnownFile, Source
from quintet.settings import Settings

SECOND = 1_000_000_000
THEN = 1_700_000_000 * SECOND + 1  # not a whole second, which would make times less worth
FILES = {"a.txt": "apple", "b.txt": "berry", "sub/c.txt": "cherry", "é.txt": "elder"}


class Shelf:
    """A folder of files that were indexed long after they were written, and a clock that stands still."""

    def __init__(self, place: Path) -> None:
        self.folder = place / "shelf"
        self.now = THEN + 100 * SECOND
        for name, text in FILES.items():
            self.write(name, text, THEN)
        self.index = quintet.open(place / "index", embedder=None, clock_ns=lambda: self.now)
        self.index.sync([self.folder])
        self.settings = Settings(git_timeout=30.0)

    def write(self, name: str, text: str, modified_ns: int) -> Path:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        os.utime(file, ns=(modified_ns, modified_ns))
        return file

    def sources(self) -> dict[str, Source]:
        with self.index._store.snapshot() as snapshot:
            ids = [item.document.id for name in FILES for item in self.index.get(name)]
            return snapshot.catalog.sources(ids)

    def compare(self, *, ask_git: bool = True) -> Comparison:
        return SourceFiles(self.settings, lambda: self.now).compare(self.sources(), ask_git=ask_git)

    def changed(self) -> dict[str, Freshness]:
        """The class of each file that is not what was indexed."""
        paths = {document_id: source.path for document_id, source in self.sources().items()}
        return {paths[document_id]: state for document_id, state in self.compare().changed.items()}


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    own_configuration(tmp_path, monkeypatch)
    made = Shelf(tmp_path)
    yield made
    made.index.close()


def repository(shelf: Shelf) -> Repository:
    """The shelf as a repository with everything committed."""
    made = Repository(shelf.folder)
    made.commit()
    return made


def test_nothing_changed_on_disk_is_no_change(shelf: Shelf) -> None:
    assert shelf.compare() == Comparison({})


@pytest.mark.requirement("002-FRESH-CLASSES")
@pytest.mark.parametrize(
    ("age", "expected"),
    [
        (0, "Fresh"),
        (5 * SECOND - 1, "Fresh"),
        (5 * SECOND, "Acceptable"),
        (30 * SECOND - 1, "Acceptable"),
        (30 * SECOND, "Stale"),
        (10**9 * SECOND, "Stale"),
    ],
)
def test_a_changed_file_is_as_fresh_as_the_change_is_young(shelf: Shelf, age: int, expected: str) -> None:
    shelf.write("a.txt", "another apple", shelf.now - age)
    assert shelf.changed() == {"a.txt": expected}


def test_both_limits_are_settings(shelf: Shelf) -> None:
    shelf.settings = Settings(fresh_seconds=0.0, acceptable_seconds=0.5)
    shelf.write("a.txt", "another apple", shelf.now)
    shelf.write("b.txt", "another berry", shelf.now - SECOND)
    assert shelf.changed() == {"a.txt": "Acceptable", "b.txt": "Stale"}


@pytest.mark.requirement("002-FRESH-CLASSES")
def test_a_change_from_the_future_is_no_lag(shelf: Shelf) -> None:
    shelf.write("a.txt", "another apple", shelf.now + 3600 * SECOND)
    assert shelf.changed() == {"a.txt": "Fresh"}


@pytest.mark.requirement("002-FRESH-CLASSES")
def test_a_touched_file_with_the_same_content_is_no_change(shelf: Shelf) -> None:
    shelf.write("a.txt", "apple", shelf.now)
    shelf.write("b.txt", "berry", THEN - 5 * SECOND)
    assert shelf.changed() == {}


def test_a_change_that_keeps_the_size_is_seen(shelf: Shelf) -> None:
    shelf.write("a.txt", "ample", shelf.now)
    assert shelf.changed() == {"a.txt": "Fresh"}


@pytest.mark.parametrize(("now_there", "changed"), [("ample", {"a": "Fresh"}), ("apple", {})])
def test_equal_size_and_time_prove_nothing_within_a_tick_of_the_clock(
    tmp_path: Path, now_there: str, changed: dict[str, str]
) -> None:
    """The file was indexed in the very tick it was written in, and may have been written again."""
    (tmp_path / "a.txt").write_text(now_there, "utf-8")
    os.utime(tmp_path / "a.txt", ns=(THEN, THEN))
    known = KnownFile(5, THEN, sha256(b"apple").hexdigest(), THEN + 1)
    files = SourceFiles(Settings(), lambda: THEN + SECOND)
    compared = files.compare({"a": Source("shelf", str(tmp_path), "a.txt", known)}, ask_git=False)
    assert compared.changed == changed


def removed(shelf: Shelf) -> None:
    (shelf.folder / "a.txt").unlink()


def renamed(shelf: Shelf) -> None:
    (shelf.folder / "a.txt").rename(shelf.folder / "z.txt")


def folder(shelf: Shelf) -> None:
    removed(shelf)
    (shelf.folder / "a.txt").mkdir()


def pipe(shelf: Shelf) -> None:
    removed(shelf)
    os.mkfifo(shelf.folder / "a.txt")


def link_inside(shelf: Shelf) -> None:
    removed(shelf)
    (shelf.folder / "same.txt").write_text("apple", "utf-8")
    (shelf.folder / "a.txt").symlink_to("same.txt")


def link_outside(shelf: Shelf) -> None:
    shutil.move(shelf.folder / "a.txt", shelf.folder.parent / "a.txt")
    (shelf.folder / "a.txt").symlink_to(shelf.folder.parent / "a.txt")


def link_to_itself(shelf: Shelf) -> None:
    removed(shelf)
    (shelf.folder / "a.txt").symlink_to("a.txt")


@pytest.mark.requirement("002-FRESH-CLASSES")
@pytest.mark.skipif(os.name != "posix", reason="links and pipes")
@pytest.mark.parametrize(
    "change",
    [removed, renamed, folder, pipe, link_inside, link_outside, link_to_itself],
    ids=lambda c: c.__name__,
)
def test_a_file_that_is_gone_or_no_file_any_more_is_a_risk(
    shelf: Shelf, change: Callable[[Shelf], None]
) -> None:
    change(shelf)
    assert shelf.changed() == {"a.txt": "StaleWithRisk"}


@pytest.mark.skipif(os.name != "posix", reason="links")
def test_a_folder_that_became_a_link_is_not_followed(shelf: Shelf) -> None:
    shutil.move(shelf.folder / "sub", shelf.folder.parent / "elsewhere")
    (shelf.folder / "sub").symlink_to(shelf.folder.parent / "elsewhere")
    assert shelf.changed() == {"sub/c.txt": "StaleWithRisk"}


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_a_risk(shelf: Shelf) -> None:
    shelf.write("a.txt", "ample", shelf.now).chmod(0)
    assert shelf.changed() == {"a.txt": "StaleWithRisk"}


def test_a_file_too_large_to_compare_is_a_risk(shelf: Shelf) -> None:
    shelf.settings = Settings(max_file_bytes=3)
    shelf.write("a.txt", "ample", shelf.now)
    assert shelf.changed() == {"a.txt": "StaleWithRisk"}


def test_a_name_in_another_normal_form_is_the_same_file(shelf: Shelf) -> None:
    (shelf.folder / "é.txt").rename(shelf.folder / "e\u0301.txt")
    assert shelf.changed() == {}


def test_a_root_that_is_gone_puts_all_its_files_at_risk(shelf: Shelf) -> None:
    shelf.folder.rename(shelf.folder.parent / "away")
    assert shelf.changed() == dict.fromkeys(FILES, "StaleWithRisk")
    assert shelf.compare().missing_roots == {"shelf"}


@pytest.mark.parametrize("path", ["../secret.txt", "/etc/passwd", "a\0b", ""])
def test_a_path_that_leads_out_of_its_root_is_not_followed(tmp_path: Path, path: str) -> None:
    (tmp_path / "secret.txt").write_text("x", "utf-8")
    (tmp_path / "shelf").mkdir()
    source = Source("shelf", str(tmp_path / "shelf"), path, KnownFile(1, THEN, "", THEN))
    compared = SourceFiles(Settings(), lambda: THEN).compare({"x": source}, ask_git=True)
    assert compared.changed == {"x": "StaleWithRisk"}


def test_only_so_much_is_read_and_that_is_told(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freshness, "MAX_READ", len("apple") + len("berry"))
    for name, text in FILES.items():
        shelf.write(name, text, shelf.now)
    compared = shelf.compare()
    assert len(compared.changed) == 2
    assert [note["code"] for note in compared.notes] == ["freshness_unread"]
    assert compared.notes[0]["message"].startswith("2 files with a new date")


@needs_git
@pytest.mark.requirement("002-FRESH-CLASSES")
def test_an_uncommitted_change_is_a_risk_however_young(shelf: Shelf) -> None:
    repository(shelf)
    shelf.write("a.txt", "another apple", shelf.now)
    shelf.write("sub/c.txt", "another cherry", shelf.now - 3600 * SECOND)
    assert shelf.changed() == {"a.txt": "StaleWithRisk", "sub/c.txt": "StaleWithRisk"}


@needs_git
def test_a_staged_change_is_a_risk_and_a_committed_one_is_not(shelf: Shelf) -> None:
    made = repository(shelf)
    shelf.write("a.txt", "another apple", shelf.now)
    made.git("add", "a.txt")
    assert shelf.changed() == {"a.txt": "StaleWithRisk"}
    made.commit()
    assert shelf.changed() == {"a.txt": "Fresh"}


@needs_git
def test_an_uncommitted_file_that_is_indexed_as_it_is_is_no_change(shelf: Shelf) -> None:
    made = Repository(shelf.folder)
    made.write({"a.txt": "before"})
    made.commit()
    shelf.write("a.txt", "apple", THEN)
    assert made.git("status", "--short", "a.txt") == " M a.txt\n"
    assert shelf.changed() == {}


@needs_git
def test_untracked_and_ignored_files_go_by_age(shelf: Shelf) -> None:
    made = Repository(shelf.folder)
    made.write({".git/info/exclude": "b.txt\n"})
    shelf.write("a.txt", "untracked", shelf.now - 10 * SECOND)
    shelf.write("b.txt", "ignored", shelf.now - 60 * SECOND)
    assert shelf.changed() == {"a.txt": "Acceptable", "b.txt": "Stale"}


@needs_git
def test_a_branch_switch_changes_what_the_branches_differ_in(shelf: Shelf) -> None:
    made = repository(shelf)
    made.git("checkout", "--quiet", "-b", "other")
    made.write({"a.txt": "of the other branch"})
    (shelf.folder / "b.txt").unlink()
    made.commit()
    os.utime(shelf.folder / "a.txt", ns=(shelf.now, shelf.now))
    assert shelf.changed() == {"a.txt": "Fresh", "b.txt": "StaleWithRisk"}
    made.git("checkout", "--quiet", "main")
    assert shelf.changed() == {}


@needs_git
def test_files_of_a_submodule_go_by_the_submodule(shelf: Shelf, tmp_path: Path) -> None:
    Repository(shelf.folder / "sub").commit()
    outer = Repository(shelf.folder)
    outer.git("submodule", "--quiet", "add", "./sub", "sub")
    outer.commit()
    shelf.write("sub/c.txt", "another cherry", shelf.now)
    assert shelf.changed() == {"sub/c.txt": "StaleWithRisk"}


@needs_git
def test_git_is_asked_only_where_a_file_differs_and_only_if_wanted(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository(shelf)
    program(tmp_path / "bin", "git", f"touch {tmp_path}/asked; exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    shelf.write("b.txt", "berry", shelf.now)
    (shelf.folder / "sub" / "c.txt").unlink()
    assert shelf.changed() == {"sub/c.txt": "StaleWithRisk"}
    shelf.write("a.txt", "another apple", shelf.now)
    shelf.compare(ask_git=False)
    shelf.settings = Settings(git_timeout=0)
    shelf.compare()
    assert not (tmp_path / "asked").exists()
    shelf.settings = Settings()
    assert shelf.compare().notes == ({"code": "git_failed", "message": "git failed (exit code 1) in shelf"},)
    assert (tmp_path / "asked").exists()


@needs_git
@pytest.mark.parametrize(
    ("program_found", "why"), [(False, "is not installed"), (True, "did not answer in time")]
)
def test_without_an_answer_of_git_changes_go_by_age_and_that_is_told(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program_found: bool, why: str
) -> None:
    repository(shelf)
    monkeypatch.setenv("PATH", str(tmp_path / "bin") + (f":{os.environ['PATH']}" if program_found else ""))
    if program_found:
        program(tmp_path / "bin", "git", "sleep 1000")
    shelf.settings = Settings(git_timeout=0.2)
    shelf.write("a.txt", "another apple", shelf.now - 10 * SECOND)
    compared = shelf.compare()
    assert list(compared.changed.values()) == ["Acceptable"]
    assert [note["code"] for note in compared.notes] == ["git_failed"]
    assert why in compared.notes[0]["message"]


def test_a_touched_document_larger_than_any_text_is_compared_by_its_own_cap(tmp_path: Path) -> None:
    """A PDF may be larger than `max_file_bytes`; touching it is no change."""
    file = tmp_path / "large.pdf"
    file.write_bytes(b"%PDF" + bytes(2_000))
    known = KnownFile(2_004, 1, sha256(file.read_bytes()).hexdigest(), 2)
    source = Source("docs", str(tmp_path), "large.pdf", known)
    files = SourceFiles(Settings(max_file_bytes=1_000), lambda: 0)
    assert files.compare({"one": source}, ask_git=False).changed == {}
