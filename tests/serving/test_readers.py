"""Reader processes: real ones over a real index, and some that misbehave."""

import logging
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import quintet
from processes.waiting import gone
from quintet.errors import LimitError, NotFound
from quintet.http import reads
from quintet.query.cache import CacheFigures
from quintet.serving import readers as module
from quintet.serving.readers import ReaderDied, Readers, reader_count
from quintet.serving.reply import Reply
from quintet.serving.shared_index import SharedIndex

PATIENCE = 60.0  # seconds
HOSTILE = Path(__file__).with_name("hostile_reader.py")
SEARCH: dict[str, Any] = {
    "query": "cache",
    "contract": "quintet",
    "params": {},
    "receipt": False,
    "references": False,
    "max_bytes": 1_000_000,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("read")
    (place / "cache.md").write_text("# Cache\n\nIt keeps answers for five minutes.\n", "utf-8")
    with quintet.open(place / ".quintet", "hashing") as index:
        index.sync([place])
    return place / ".quintet"


@pytest.fixture
def shared(folder: Path) -> Iterator[SharedIndex]:
    opened = SharedIndex(quintet.open(folder, readers=2))
    yield opened
    opened.close()


def hostile(how: str, seconds: float = PATIENCE) -> Readers:
    return Readers(2, {}, (sys.executable, "-P", str(HOSTILE), how), seconds=seconds)


def processes(readers: Readers) -> list[int]:
    return [reader.process.pid for reader in readers._readers]


def test_a_reader_gives_the_bytes_that_this_process_gives(shared: SharedIndex) -> None:
    here = shared.read(reads.search, **SEARCH)
    shared.start_readers()
    there = shared.read(reads.search, **SEARCH)
    assert shared.readers is not None and shared.readers.count == 1
    assert there.content == here.content and b'"results": [{' in there.content
    assert there.legs.keys() == here.legs.keys() and there.seconds > 0
    cached = shared.read(reads.search, **SEARCH)
    assert (cached.content, cached.legs) == (here.content, {})


def test_an_error_and_a_fault_in_a_reader_are_raised_here_and_the_reader_goes_on(shared: SharedIndex) -> None:
    shared.start_readers()
    with pytest.raises(NotFound) as refused:
        shared.read(reads.search, **{**SEARCH, "contract": "knowledge", "params": {"index": "kb_nothing"}})
    assert refused.value.code == "unknown_index"
    with pytest.raises(Exception) as fault:
        shared.read(reads.search, query="cache")
    assert type(fault.value).__name__ == "TypeError"
    assert shared.read(reads.search, **SEARCH).content
    assert shared.readers is not None and (shared.readers.count, shared.readers.deaths) == (1, 0)


def test_cache_figures_are_summed_over_readers_and_survive_a_death(shared: SharedIndex) -> None:
    shared.start_readers()
    assert shared.readers is not None
    for _ in range(3):
        shared.read(reads.search, **SEARCH)
    figures = shared.cache_figures()
    assert (figures.misses, figures.hits, figures.entries) == (1, 2, 1)
    assert shared.status().cache == figures
    (pid,) = processes(shared.readers)
    os.kill(pid, signal.SIGKILL)
    assert gone(pid)
    shared.read(reads.search, **SEARCH)  # idle readers that died cost no attempt
    figures = shared.cache_figures()
    assert (figures.misses, figures.hits, figures.entries) == (2, 2, 1)
    assert shared.readers.deaths == 1


def test_a_new_reader_has_the_settings_of_the_server_whatever_the_file_says_by_now(
    folder: Path, shared: SharedIndex
) -> None:
    shared.start_readers()
    many = {**SEARCH, "query": " ".join(f"word{number}" for number in range(40))}
    before = shared.read(reads.search, **many).content
    file = folder.parent / "quintet.toml"
    file.write_text("max_terms = 2\n", "utf-8")
    try:
        assert shared.readers is not None
        (pid,) = processes(shared.readers)
        os.kill(pid, signal.SIGKILL)
        assert gone(pid)
        assert shared.read(reads.search, **many).content == before
        assert processes(shared.readers) != [pid]
    finally:
        file.unlink()


def test_arguments_that_no_message_can_hold_are_read_here(shared: SharedIndex) -> None:
    shared.start_readers()
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]

    def read(shared: SharedIndex, given: Any) -> Reply:
        return Reply(str(os.getpid()).encode())

    for value in (deep, 10**5000):
        assert shared.read(read, given=value) == Reply(str(os.getpid()).encode())
    while deep:  # Python would unwind it by recursion
        deep = deep.pop()


def test_what_kills_two_readers_is_given_up_and_never_read_in_this_process() -> None:
    readers = hostile("dies")
    for deaths in (2, 4):
        with pytest.raises(ReaderDied):
            readers.run(reads.search, SEARCH)
        assert (readers.count, readers.deaths) == (0, deaths)
    readers.close()


def test_a_read_that_takes_too_long_is_ended_with_its_reader_and_not_repeated() -> None:
    readers = hostile("hangs", seconds=0.1)
    for deaths in (1, 2):
        with pytest.raises(LimitError, match=r"no answer within 0\.1 s") as late:
            readers.run(reads.search, SEARCH)
        assert late.value.code == "timed_out"
        assert (readers.count, readers.deaths) == (0, deaths)
    readers.close()


@pytest.mark.parametrize(("how", "reason"), [("leaves", "exit code 3"), ("differs", "another version")])
def test_without_any_reader_the_caller_reads_itself_and_the_log_says_why(
    how: str, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        readers = hostile(how)
        assert readers.run(reads.search, SEARCH) is None
        assert readers.run(reads.search, SEARCH) is None
    (line,) = caplog.messages
    assert reason in line
    assert readers.cache_figures() == CacheFigures()
    readers.close()


def test_readers_end_with_the_index_and_then_answer_no_more(shared: SharedIndex) -> None:
    shared.start_readers()
    assert shared.readers is not None
    shared.read(reads.search, **SEARCH)
    (pid,) = processes(shared.readers)
    shared.readers.close()
    assert gone(pid)
    with pytest.raises(ReaderDied):
        shared.read(reads.search, **SEARCH)
    assert shared.readers.deaths == 0


def test_the_setting_decides_how_many_and_otherwise_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "cores", lambda: 4)
    assert [reader_count(setting) for setting in (0, 1, 2, 64)] == [4, 0, 2, 64]
    monkeypatch.setattr(module, "cores", lambda: 1)
    assert reader_count(0) == 0
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert reader_count(8) == 0
