"""Several processes find what one finds, in the same order; one that dies takes no more than its file."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import apsw
import pytest

import quintet
from processes.waiting import gone
from quintet.errors import QuintetError
from quintet.indexing import pool, sync
from quintet.indexing.examine import Examination, Refusal, Task
from quintet.indexing.files import DiskFile
from quintet.indexing.pool import ExaminerPool, process_count
from quintet.ports.writing import Entry
from quintet.settings import Settings

HOSTILE = Path(__file__).with_name("hostile_worker.py")
MATERIAL = [Path(quintet.__file__).parent / name for name in ("codegraph", "formats")]
LONG_AGO = 1_500_000_000 * 10**9
TABLES = ("documents", "chunks", "contents", "outlines", "symbols", "edges", "leaves")


@pytest.fixture
def one_file_a_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "GROUP_FILES", 1)


def tasks(folder: Path, *names: str) -> list[Task]:
    for name in names:
        (folder / name).write_text(f"The lantern of {name}.\n")
    return [Task("r", DiskFile(name, str(folder / name), 20, 0), None, 7) for name in names]


def hostile(folder: Path, count: int = 2) -> ExaminerPool:
    return ExaminerPool(count, Settings(), False, (sys.executable, "-P", str(HOSTILE), str(folder)))


def words(outcomes: list[tuple[Task, Examination]]) -> list[tuple[str, str]]:
    """The name of each file, and its text or why it has none."""
    return [
        (task.file.path, one.chunks[0].content if isinstance(one, Entry) else getattr(one, "reason", ""))
        for task, one in outcomes
    ]


def lit(*names: str) -> list[tuple[str, str]]:
    return [(name, f"The lantern of {name}.") for name in names]


def dump(folder: Path) -> list[object]:
    connection = apsw.Connection(str(folder / "index.db"))
    rows = [connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall() for table in TABLES]
    connection.close()
    return rows


def test_an_index_is_the_same_whoever_read_the_files(tmp_path: Path) -> None:
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "latin.txt").write_bytes(b"caf\xe9")
    (tmp_path / "bad" / "a.pdf").write_bytes(b"no PDF")
    reports = []
    for processes in (1, 3):
        with quintet.open(
            tmp_path / f"index{processes}", "none", processes=processes, clock_ns=lambda: LONG_AGO
        ) as index:
            reports.append(index.sync([*MATERIAL, tmp_path / "bad"]))
    one, several = reports
    assert one.indexed > 60
    assert one.problems == several.problems
    assert (one.indexed, one.skipped, one.notes) == (several.indexed, several.skipped, [])
    assert dump(tmp_path / "index1") == dump(tmp_path / "index3")


def test_several_processes_see_what_changed_and_what_was_touched(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    tasks(folder, "a.txt", "b.txt", "c.txt", "d.txt")
    with quintet.open(tmp_path / "index", "none", processes=2) as index:
        index.sync([folder])
        (folder / "b.txt").write_text("The cellar is flooded.\n")
        (folder / "c.txt").write_bytes(b"\xff\xfe\xff")
        os.utime(folder / "d.txt", ns=(LONG_AGO, LONG_AGO))
        report = index.sync()
        assert (report.indexed, report.skipped, report.removed) == (1, 3, 1)
        assert [problem.path for problem in report.problems] == ["c.txt"]
        assert index.status().files == 3


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs something to wait at")
@pytest.mark.usefixtures("one_file_a_group")
def test_outcomes_come_in_the_order_of_the_files_whoever_is_first(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    names = "wait.txt", "wake.txt", "z.txt"
    with hostile(tmp_path) as processes:
        assert words(list(processes.each(tasks(tmp_path, *names)))) == lit(*names)


@pytest.mark.parametrize("files_a_group", [1, 64])
def test_a_file_that_kills_its_process_is_the_only_one_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files_a_group: int
) -> None:
    monkeypatch.setattr(pool, "GROUP_FILES", files_a_group)
    names = "a.txt", "exit.txt", "b.txt", "exit.md", "c.txt"
    with hostile(tmp_path) as processes:
        found = list(processes.each(tasks(tmp_path, *names)))
    assert [one for one in words(found) if not one[0].startswith("exit")] == lit("a.txt", "b.txt", "c.txt")
    refused = [outcome.reason for _, outcome in found if isinstance(outcome, Refusal)]
    assert refused == ["made its parser crash (exit code 3): it is damaged or hostile"] * 2


def test_a_fault_of_our_own_ends_the_run_and_says_where(tmp_path: Path) -> None:
    with (
        pytest.raises(QuintetError, match=r"(?s)bug in Quintet.*hostile_worker.*by nothing"),
        hostile(tmp_path) as processes,
    ):
        list(processes.each(tasks(tmp_path, "a.txt", "raise.txt")))


def test_what_a_parser_prints_is_no_answer(tmp_path: Path) -> None:
    with hostile(tmp_path, 1) as processes:
        assert words(list(processes.each(tasks(tmp_path, "chatter.txt")))) == lit("chatter.txt")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs something to wait at")
@pytest.mark.usefixtures("one_file_a_group")
def test_who_stops_early_does_not_wait_for_the_rest(tmp_path: Path) -> None:
    """The second file would wait for ever."""
    os.mkfifo(tmp_path / "fifo")
    with hostile(tmp_path) as processes:
        first = next(processes.each(tasks(tmp_path, "a.txt", "wait.txt", "b.txt")))
    assert words([first]) == lit("a.txt")
    assert all(gone(int(note.stem)) for note in tmp_path.glob("*.pid"))


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs a way to wait for a stranger's process")
@pytest.mark.usefixtures("one_file_a_group")
def test_what_parses_below_them_ends_with_them(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with hostile(tmp_path) as processes:
        next(processes.each(tasks(tmp_path, "a.txt", "below.txt")))
        below = int((tmp_path / "fifo").read_text())
    assert gone(below)


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="needs signals for a group of processes")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_to_all_is_left_to_the_run(tmp_path: Path, name: str) -> None:
    with hostile(tmp_path) as processes:
        before = list(tmp_path.glob("*.pid"))
        for note in before:
            os.kill(int(note.stem), getattr(signal, name))
        assert words(list(processes.each(tasks(tmp_path, "a.txt", "b.txt")))) == lit("a.txt", "b.txt")
        assert list(tmp_path.glob("*.pid")) == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs something to wait at")
@pytest.mark.usefixtures("one_file_a_group")
def test_a_file_whose_process_was_killed_by_somebody_is_given_again(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with hostile(tmp_path, 1) as processes:
        (note,) = tmp_path.glob("*.pid")
        with ThreadPoolExecutor() as threads:
            found = threads.submit(lambda: list(processes.each(tasks(tmp_path, "told.txt", "b.txt"))))
            with (tmp_path / "fifo").open("rb"):  # it is in the middle of the first file
                os.kill(int(note.stem), signal.SIGKILL)
        assert words(found.result()) == lit("told.txt", "b.txt")


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs a way to wait for a stranger's process")
def test_the_processes_of_a_run_that_was_killed_end_by_themselves(tmp_path: Path) -> None:
    code = (
        "import os, sys\n"
        "from quintet.indexing.pool import ExaminerPool\n"
        "from quintet.settings import Settings\n"
        f"command = (sys.executable, '-P', {str(HOSTILE)!r}, {str(tmp_path)!r})\n"
        "with ExaminerPool(2, Settings(), False, command):\n"
        "    os._exit(9)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 9
    notes = list(tmp_path.glob("*.pid"))
    assert len(notes) == 2
    assert all(gone(int(note.stem)) for note in notes)


@pytest.mark.parametrize(
    "command",
    [
        ("no such program",),
        (sys.executable, "-c", "raise SystemExit(4)"),
        (sys.executable, "-c", "print('\\0\\0\\0\\0\\0\\0\\0\\3old', end='', flush=True); input()"),
    ],
)
def test_where_no_process_starts_one_reads_all_and_the_report_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.setattr(sync, "ExaminerPool", partial(ExaminerPool, command=command))
    (tmp_path / "files").mkdir()
    tasks(tmp_path / "files", "a.txt", "b.txt")
    with quintet.open(tmp_path / "index", "none", processes=2) as index:
        report = index.sync([tmp_path / "files"])
    assert report.indexed == 2
    (note,) = report.notes
    assert note["code"] == "one_process"
    assert command[0] in note["message"]


def test_processes_are_started_for_much_work_or_if_it_was_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "cores", lambda: 4)
    small, large = DiskFile("a", "/a", 1000, 0), DiskFile("b", "/b", pool.LARGE_BYTES, 0)
    assert process_count(Settings(), [small]) == 1
    assert process_count(Settings(), [small, large]) == 4
    assert process_count(Settings(), [small] * pool.MANY_FILES) == 4
    assert process_count(Settings(processes=1), [large]) == 1
    assert process_count(Settings(processes=3), [small]) == 1
    assert process_count(Settings(processes=3), [small] * 5) == 3
    assert process_count(Settings(processes=3), []) == 1
    monkeypatch.setattr(pool, "cores", lambda: 64)
    assert process_count(Settings(), [large]) == pool.MAX_PROCESSES
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert process_count(Settings(processes=3), [large] * 5) == 1


def test_a_process_that_examines_files_starts_without_what_only_searching_needs() -> None:
    asked = (
        "import sys, quintet.indexing.worker; print({'numpy', 'quintet.ports.reading'} & sys.modules.keys())"
    )
    found = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert found.stdout == "set()\n"
