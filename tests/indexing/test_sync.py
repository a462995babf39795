"""An index run does what changed, says what it did, and leaves alone what did not change."""

import gc
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

import quintet
from quintet import Index, NotFound
from quintet.processes.garbage import GC_THRESHOLD

LONG_AGO = 1_500_000_000 * 10**9


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    (folder / "sub").mkdir(parents=True)
    for name in ("a.txt", "b.txt", "sub/c.txt"):
        _write(folder / name, f"The lantern of {name} is lit.\n")
    return folder


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    with quintet.open(tmp_path / "index", "hashing") as opened:
        yield opened


def _write(file: Path, text: str, modified_ns: int = LONG_AGO) -> None:
    """With a time that lies back: only then do size and time prove that nothing changed."""
    file.write_text(text, "utf-8")
    os.utime(file, ns=(modified_ns, modified_ns))


def _paths(index: Index, query: str = "lantern") -> list[str]:
    results = index.search(query, "rifflux", mode="lexical", top_k=100).body["results"]
    return sorted({one["path"] for one in results})


def _counts(report: quintet.Report) -> tuple[int, int, int]:
    return report.indexed, report.skipped, report.removed


def test_a_first_run_indexes_every_file(index: Index, files: Path) -> None:
    report = index.sync([files])
    assert (_counts(report), report.embedded, report.problems) == ((3, 0, 0), 3, [])
    assert _paths(index) == ["a.txt", "b.txt", "sub/c.txt"]
    assert set(report.stages) >= {"walk", "parse", "write", "embed"}


def test_a_run_without_changes_writes_nothing(index: Index, files: Path, tmp_path: Path) -> None:
    index.sync([files])
    index.search("lantern")
    watcher = apsw.Connection(str(tmp_path / "index" / "index.db"))
    before = index.status(), watcher.pragma("data_version"), _stored(tmp_path / "index")
    for paths in (None, [files], [files / "sub"], [files / "a.txt"]):
        report = index.sync(paths)
        assert (report.indexed, report.removed, report.embedded) == (0, 0, 0)
    assert (index.status(), watcher.pragma("data_version"), _stored(tmp_path / "index")) == before
    watcher.close()


def _stored(folder: Path) -> dict[str, bytes]:
    return {
        file.name: file.read_bytes()
        for file in folder.rglob("*")
        if file.suffix != ".db-shm" and file.is_file()
    }


def test_a_changed_file_is_indexed_again_and_its_old_text_is_gone(index: Index, files: Path) -> None:
    index.sync([files])
    _write(files / "a.txt", "A harbour instead.\n", LONG_AGO + 1)
    assert _counts(index.sync()) == (1, 2, 0)
    assert _paths(index) == ["b.txt", "sub/c.txt"]
    assert _paths(index, "harbour") == ["a.txt"]


def test_a_change_of_the_same_size_is_seen_by_its_time(index: Index, files: Path) -> None:
    index.sync([files])
    _write(files / "a.txt", "The harbour of a.txt is lit.\n"[:30].replace("harbour", "LANTERN"), LONG_AGO - 5)
    _write(files / "b.txt", "The lantern of b.txt is out.\n"[:29] + "\n", LONG_AGO + 1)
    assert index.sync().indexed == 2


def test_a_change_that_restores_size_and_time_is_seen_only_by_force(index: Index, files: Path) -> None:
    """The known limit of comparing size and time, shared with make, rsync and git."""
    index.sync([files])
    _write(files / "a.txt", "The harbour of a.txt is lit.\n")
    assert index.sync().indexed == 0
    assert index.sync(force=True).indexed == 3
    assert _paths(index, "harbour") == ["a.txt"]


def test_a_change_right_after_the_run_is_seen_even_with_the_same_size_and_time(
    index: Index, files: Path
) -> None:
    (files / "a.txt").write_text("The lantern of a.txt is lit.\n", "utf-8")
    written = (files / "a.txt").stat().st_mtime_ns
    index.sync([files])
    with apsw.Connection(str(index.folder / "index.db")) as edit:  # as if read in the tick it was written in
        edit.execute("UPDATE documents SET indexed_ns = modified_ns + 1 WHERE path = 'a.txt'")
    _write(files / "a.txt", "The harbour of a.txt is lit.\n", written)
    assert index.sync().indexed == 1
    assert _paths(index, "harbour") == ["a.txt"]


def test_a_new_file_with_an_old_time_is_indexed(index: Index, files: Path) -> None:
    index.sync([files])
    _write(files / "old.txt", "A lantern from long ago.\n", LONG_AGO - 10**17)
    assert _counts(index.sync()) == (1, 3, 0)
    assert "old.txt" in _paths(index)


def test_a_touched_file_is_not_indexed_again(index: Index, files: Path) -> None:
    index.sync([files])
    os.utime(files / "a.txt", ns=(LONG_AGO + 5, LONG_AGO + 5))
    assert index.status().lag.changed == 1
    before = index.status().state_root
    assert _counts(index.sync()) == (0, 3, 0)
    assert index.status().lag.changed == 0
    assert index.status().state_root == before


@pytest.mark.parametrize("modified_ns", [-(10**20), -(10**18), -1, 0, 1, 2**63, 300_000_000_000 * 10**9])
def test_a_time_before_1970_or_far_ahead_is_taken_as_near_as_the_index_can_say(
    tmp_path: Path, modified_ns: int
) -> None:
    shared_memory = Path("/dev/shm")  # a file system that keeps any time
    with tempfile.TemporaryDirectory(dir=shared_memory if shared_memory.is_dir() else None) as folder:
        files = Path(folder) / "files"
        files.mkdir()
        _write(files / "a.txt", "The lantern.\n", modified_ns)
        kept_ns = min(max((files / "a.txt").stat().st_mtime_ns, -(2**63)), 2**63 - 1)
        with quintet.open(tmp_path / "index") as index:
            index.sync([files])
            generation = index.status().generation
            assert index.sync().indexed == 0
            assert index.status().generation == generation
            assert index.status().lag.changed == 0
            for contract in ("harness", "cfs", "rifflux"):
                assert len(index.search("lantern", contract, mode="hybrid").body["results"]) == 1
            (found,) = index.search("lantern", "cfs").body["results"]
            assert found["document"]["modified_ms"] == kept_ns // 1_000_000


def test_a_file_from_before_1970_has_its_own_time(index: Index, files: Path) -> None:
    _write(files / "a.txt", "The lantern.\n", -86_400 * 10**9)
    _write(files / "b.txt", "The lantern.\n", -1)
    _write(files / "sub" / "c.txt", "The lantern.\n", 0)
    index.sync([files])
    found = index.search("lantern", "harness", mode="keyword").body["results"]
    assert [(one["path"], one["updated_at"]) for one in found] == [
        ("sub/c.txt", "1970-01-01T00:00:00.000Z"),
        ("b.txt", "1969-12-31T23:59:59.999Z"),
        ("a.txt", "1969-12-31T00:00:00.000Z"),
    ]
    for filters, expected in (
        ("before:1970-01-01", ["a.txt", "b.txt"]),
        ("after:1969-12-31T23:59:59.998Z", ["b.txt", "sub/c.txt"]),
        ("after:-1", ["sub/c.txt"]),
        ("before:-1", ["a.txt"]),
        (f"before:{10**19}", ["a.txt", "b.txt", "sub/c.txt"]),
        (f"after:{10**19}", []),
        (f"after:{-(10**19)}", ["a.txt", "b.txt", "sub/c.txt"]),
    ):
        response = index.search("lantern", "rifflux", mode="lexical", filters=filters)
        assert sorted(one["path"] for one in response.body["results"]) == expected, filters


def test_a_deleted_file_disappears(index: Index, files: Path) -> None:
    index.sync([files])
    (files / "a.txt").unlink()
    shutil.rmtree(files / "sub")
    assert _counts(index.sync()) == (0, 1, 2)
    assert _paths(index) == ["b.txt"]
    assert index.status().embedded == 1


def test_a_renamed_file_is_found_under_its_new_name_only(index: Index, files: Path) -> None:
    index.sync([files])
    (files / "a.txt").rename(files / "sub" / "z.txt")
    assert _counts(index.sync()) == (1, 2, 1)
    assert _paths(index) == ["b.txt", "sub/c.txt", "sub/z.txt"]


def test_a_file_that_becomes_a_folder_and_the_other_way_round(index: Index, files: Path) -> None:
    index.sync([files])
    (files / "a.txt").unlink()
    (files / "a.txt").mkdir()
    _write(files / "a.txt" / "in.txt", "A lantern inside.\n")
    shutil.rmtree(files / "sub")
    _write(files / "sub", "A lantern called sub.\n")
    index.sync()
    assert _paths(index) == ["a.txt/in.txt", "b.txt", "sub"]


def test_problem_files_are_named_with_a_reason_and_the_run_goes_on(index: Index, files: Path) -> None:
    (files / "binary.txt").write_bytes(b"\0\1\2")
    (files / "latin.txt").write_bytes(b"caf\xe9")
    (files / "loop.txt").symlink_to("loop.txt")
    os.mkfifo(files / "pipe.txt")
    (files / "large.txt").write_text("x" * 5_000_000, "utf-8")
    report = index.sync([files])
    reasons = {problem.path: problem.reason for problem in report.problems}
    assert report.indexed == 3
    assert reasons["binary.txt"] == "binary"
    assert reasons["latin.txt"].startswith("not valid UTF-8 at byte 3")
    assert reasons["large.txt"].startswith("larger than 4000000 bytes")
    assert set(reasons) <= {"binary.txt", "latin.txt", "large.txt", "loop.txt", "pipe.txt"}
    assert report.skipped == len(reasons)


def test_a_file_that_becomes_binary_disappears_and_is_reported(index: Index, files: Path) -> None:
    index.sync([files])
    (files / "a.txt").write_bytes(b"\0lantern")
    report = index.sync()
    assert (report.removed, [problem.path for problem in report.problems]) == (1, ["a.txt"])
    assert _paths(index) == ["b.txt", "sub/c.txt"]


def test_documents_in_a_folder_that_cannot_be_listed_stay(files: Path) -> None:
    """Root may list anything, so as root this test becomes somebody else for a while."""
    with tempfile.TemporaryDirectory() as base:
        Path(base).chmod(0o777)
        shutil.copytree(files, Path(base) / "files")
        user = os.geteuid()
        sub = Path(base) / "files" / "sub"
        try:
            if user == 0:
                os.seteuid(65_534)
            with quintet.open(Path(base) / "index") as index:
                index.sync([Path(base) / "files"])
                os.seteuid(user)
                sub.chmod(0)
                os.seteuid(65_534 if user == 0 else user)
                report = index.sync()
                assert (report.removed, [problem.path for problem in report.problems]) == (0, ["sub/"])
                assert "sub/c.txt" in _paths(index)
                assert index.status().lag.removed == 0
        finally:
            os.seteuid(user)
            sub.chmod(0o755)


def test_an_empty_file_is_a_document_without_chunks(index: Index, files: Path) -> None:
    _write(files / "empty.txt", "")
    _write(files / "blank.txt", " \n\n\t\n")
    assert index.sync([files]).problems == []
    assert (index.status().files, index.status().chunks) == (5, 3)


def test_an_empty_folder_makes_an_empty_index(index: Index, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    index.sync([tmp_path / "empty"])
    assert index.search("lantern").status == "empty_index"


def test_an_index_inside_its_root_does_not_index_itself(files: Path) -> None:
    with quintet.open(files / ".quintet", "hashing") as index:
        for _ in range(2):
            index.sync([files])
            index.search("lantern")
        assert index.status().files == 3


def test_status_counts_how_far_the_index_lags_behind(index: Index, files: Path) -> None:
    index.sync([files])
    assert index.status().lag == type(index.status().lag)()
    _write(files / "a.txt", "Changed.\n", LONG_AGO + 1)
    _write(files / "new.txt", "New.\n")
    (files / "b.txt").unlink()
    lag = index.status().lag
    assert (lag.added, lag.changed, lag.removed, lag.missing_roots) == (1, 1, 1, ())
    shutil.rmtree(files)
    assert index.status().lag.missing_roots == ("files",)


def test_a_root_that_is_gone_keeps_its_documents_and_is_reported(index: Index, files: Path) -> None:
    index.sync([files])
    files.rename(files.with_name("moved"))
    report = index.sync()
    assert (report.removed, len(report.problems)) == (0, 1)
    assert "quintet forget" in report.problems[0].reason
    assert len(_paths(index)) == 3


@pytest.mark.parametrize(
    ("what", "left"),
    [
        ("a.txt", ["b.txt", "sub/c.txt"]),
        ("sub", ["a.txt", "b.txt"]),
        ("files/sub/c.txt", ["a.txt", "b.txt"]),
        ("files", []),
    ],
)
def test_forget_removes_a_document_a_folder_or_a_root(
    index: Index, files: Path, what: str, left: list[str]
) -> None:
    index.sync([files])
    assert index.forget(what) == 3 - len(left)
    assert _paths(index) == left
    assert index.status().embedded == len(left)
    with pytest.raises(NotFound):
        index.forget(what)
    index.sync([files])
    assert len(_paths(index)) == 3


def test_garbage_is_looked_for_seldom_during_a_run_and_as_before_after_it(index: Index, files: Path) -> None:
    before, during = gc.get_threshold(), set[int]()
    index.sync([files], progress=lambda *_: during.add(gc.get_threshold()[0]))
    assert during == {GC_THRESHOLD}
    assert gc.get_threshold() == before


def test_a_threshold_for_garbage_that_is_higher_stays(index: Index, files: Path) -> None:
    before, during = gc.get_threshold(), set[int]()
    gc.set_threshold(2 * GC_THRESHOLD)
    try:
        index.sync([files], progress=lambda *_: during.add(gc.get_threshold()[0]))
    finally:
        gc.set_threshold(*before)
    assert during == {2 * GC_THRESHOLD}
