"""Many read while one writes: nobody waits for a lock, nobody sees half a file, a second writer is told."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

import pytest

import quintet
from quintet import Conflict, Index
from robustness.reading import FILES, read_until, text_of

READER = Path(__file__).with_name("reading.py")
ROUNDS = 3
THREADS = 8
PROCESSES = 4
SMALL = {"batch_files": 7, "chunk_chars": 300, "embed_batch": 50}


def _write(files: Path, version: int) -> None:
    """Every file in its next version, but some are gone in this one."""
    for number in range(FILES):
        place = files / f"{number // 50}" / f"{number:03d}.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        if version and number % 10 == version:
            place.unlink(missing_ok=True)
        else:
            place.write_text(text_of(number, version), "utf-8")


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    """An index of version 0."""
    _write(tmp_path / "files", 0)
    with quintet.open(tmp_path / "index", "hashing", **SMALL) as opened:
        assert opened.sync([tmp_path / "files"]).indexed == FILES
        yield opened


def _rounds(index: Index, files: Path) -> None:
    for version in range(1, ROUNDS + 1):
        _write(files, version)
        index.sync()


def test_eight_threads_on_one_index_see_whole_files_while_it_is_written(index: Index, tmp_path: Path) -> None:
    done = threading.Event()
    ready = threading.Barrier(THREADS + 1)

    def read(seed: int) -> dict[str, object]:
        ready.wait()
        return read_until(done.is_set, index, seed)

    with ThreadPoolExecutor(THREADS) as pool:
        readers = [pool.submit(read, seed) for seed in range(THREADS)]
        ready.wait()
        try:
            _rounds(index, tmp_path / "files")
        finally:
            done.set()
        assert [reader.result()["wrong"] for reader in readers] == [[]] * THREADS


def test_four_processes_see_whole_files_while_another_writes(index: Index, tmp_path: Path) -> None:
    readers = [_started(tmp_path / "index", seed) for seed in range(PROCESSES)]
    for reader in readers:
        assert _out(reader).readline() == "ready\n"
    _rounds(index, tmp_path / "files")
    for reader in readers:
        said, complaints = reader.communicate(timeout=60)
        assert (reader.returncode, complaints) == (0, "")
        assert json.loads(said)["wrong"] == []


def _started(folder: Path, seed: int) -> subprocess.Popen[str]:
    command = [sys.executable, str(READER), str(folder), str(seed)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def _out(process: subprocess.Popen[str]) -> IO[str]:
    assert process.stdout is not None
    return process.stdout


def test_a_second_writer_is_told_that_the_index_is_busy(index: Index, tmp_path: Path) -> None:
    _write(tmp_path / "files", 1)
    told: list[Conflict] = []

    def meanwhile(stage: str, done: int, total: int) -> None:
        with quintet.open(tmp_path / "index", writer_timeout=0.01) as second:
            for write in (second.sync, lambda: second.forget("0/000.md")):
                with pytest.raises(Conflict) as caught:
                    write()
                told.append(caught.value)

    index.sync(progress=meanwhile)
    assert {error.code for error in told} == {"busy_writer"}
    assert {error.exit_code for error in told} == {4}
    assert "raise writer_timeout" in told[0].message


def test_a_second_thread_of_the_same_index_is_told_that_it_is_busy(tmp_path: Path) -> None:
    _write(tmp_path / "files", 0)
    with quintet.open(tmp_path / "index", writer_timeout=0, **SMALL) as index:

        def meanwhile(stage: str, done: int, total: int) -> None:
            with ThreadPoolExecutor(1) as other:
                assert isinstance(other.submit(index.sync).exception(), Conflict)

        index.sync([tmp_path / "files"], progress=meanwhile)
        assert index.status().files == FILES


def test_a_search_in_the_middle_of_a_run_sees_what_is_committed(tmp_path: Path) -> None:
    _write(tmp_path / "files", 0)
    seen: list[int] = []
    with quintet.open(tmp_path / "index", "hashing", **SMALL) as index:
        index.sync([tmp_path / "files"], progress=lambda *_: seen.append(index.status().files))
    assert seen == sorted(seen)
    assert 0 < seen[0] < FILES == seen[-1]


def test_a_lock_whose_owner_was_killed_does_not_stop_the_next_writer(tmp_path: Path) -> None:
    _write(tmp_path / "files", 0)
    code = (
        "import os, signal, sys, quintet\n"
        "die = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "quintet.open(sys.argv[1], 'hashing').sync([sys.argv[2]], progress=die)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "index"), str(tmp_path / "files")]
    assert subprocess.run(command, check=False).returncode < 0
    with quintet.open(tmp_path / "index", "hashing", writer_timeout=0) as index:
        index.sync([tmp_path / "files"])
        assert index.status().files == FILES


@pytest.mark.parametrize("attempt", range(3))
def test_processes_that_make_the_same_index_at_once_all_open_it(tmp_path: Path, attempt: int) -> None:
    code = (
        "import sys, quintet\n"
        "print('ready', flush=True); sys.stdin.read(1)\n"
        "quintet.open(sys.argv[1]).search('x')\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "index")]
    gate, opener = os.pipe()  # closing the one writing end lets all go at once
    racers = [
        subprocess.Popen(command, stdin=gate, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(8)
    ]
    for racer in racers:
        assert _out(racer).readline() == "ready\n"
    os.close(opener)
    os.close(gate)
    for racer in racers:
        _, complaints = racer.communicate(timeout=60)
        assert (racer.returncode, complaints[-300:]) == (0, "")


def test_threads_that_open_close_and_search_do_not_disturb_one_another(index: Index, tmp_path: Path) -> None:
    def visit(seed: int) -> str:
        with quintet.open(tmp_path / "index") as own:
            return json.dumps(own.search(f"file{seed:03d}").wire(), sort_keys=True)

    with ThreadPoolExecutor(THREADS) as pool:
        answers = list(pool.map(visit, [7] * 40))
    assert set(answers) == {json.dumps(index.search("file007").wire(), sort_keys=True)}
