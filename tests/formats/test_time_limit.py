"""A text that takes too long to parse is refused, and what comes after it is not disturbed."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

import quintet
from quintet.formats.decoding import UnreadableFile
from quintet.formats.time_limit import SMALL, within


def endless() -> int:
    count = 0
    while True:
        count += 1


def test_work_that_takes_too_long_is_interrupted() -> None:
    with pytest.raises(UnreadableFile) as refused:
        within(0.05, SMALL + 1, endless)
    assert refused.value.reason == "takes longer than 0.05 seconds to read; raise text_seconds"


def test_the_limit_holds_in_any_thread_and_only_there() -> None:
    reasons: list[str] = []

    def work() -> None:
        try:
            within(0.05, SMALL + 1, endless)
        except UnreadableFile as error:
            reasons.append(error.reason)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(reasons) == 4


@pytest.mark.usefixtures("untraced")
def test_work_that_ends_as_its_time_ends_is_whole_or_refused_and_leaves_nothing_behind() -> None:
    def count() -> int:
        return sum(1 for _ in range(20_000))

    outcomes = set()
    for attempt in range(300):
        try:
            outcomes.add(within(attempt / 300 * 0.002, SMALL + 1, count))
        except UnreadableFile:
            outcomes.add(-1)
    assert outcomes <= {20_000, -1}


def test_a_small_text_is_not_watched() -> None:
    assert within(0, SMALL, lambda: 7) == 7


def test_a_file_of_a_million_headings_is_refused_and_the_run_goes_on(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/hostile.md").write_text("# a\n" * 250_000, "utf-8")
    (tmp_path / "notes/kind.md").write_text("# Kind\n\nwords\n", "utf-8")
    with quintet.open(tmp_path / "index", embedder=None, text_seconds=1, processes=1) as index:
        report = index.sync([tmp_path / "notes"])
        assert report.indexed == 1
        (problem,) = report.problems
        assert problem.path == "hostile.md"
        assert problem.reason == "takes longer than 1 seconds to read; raise text_seconds"


def test_a_tracer_such_as_a_debugger_goes_on_after_a_long_text_was_watched() -> None:
    program = (
        "import sys\n"
        "from quintet.formats.time_limit import SMALL, within\n"
        "def trace(frame, event, value):\n"
        "    return trace\n"
        "sys.settrace(trace)\n"
        "print(within(60, SMALL + 1, lambda: 'read'))\n"
        "print((lambda: 'going on')())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout == "read\ngoing on\n"
