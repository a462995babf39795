"""A parser in its own process may do what it likes: only the file it was reading is lost."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from processes.waiting import gone
from quintet.formats.decoding import UnreadableFile
from quintet.formats.sandbox.parent import ParseLimits, Sandbox

HOSTILE = (sys.executable, "-P", str(Path(__file__).with_name("hostile_child.py")))
LIMITS = ParseLimits(seconds=60, memory=1_000_000_000, pages=10, answer=100_000)
QUICK = ParseLimits(seconds=0.05, memory=1_000_000_000, pages=10)


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(LIMITS, HOSTILE) as process:
        yield process


def _reason(sandbox: Sandbox, path: str) -> str:
    with pytest.raises(UnreadableFile) as raised:
        sandbox.parse(path, b"")
    return raised.value.reason


def test_a_document_comes_back_as_it_was_parsed(sandbox: Sandbox) -> None:
    parsed = sandbox.parse("a", b"")
    (block,) = parsed.blocks
    assert (parsed.title, parsed.mime_type, parsed.metadata) == (
        "title",
        "application/pdf",
        {"page_count": 9},
    )
    assert (block.heading_path, block.page, block.first_line) == (("a", "b"), 7, 1)


def test_one_process_serves_many_files(sandbox: Sandbox) -> None:
    sandbox.parse("a", b"")
    first = sandbox.pid
    sandbox.parse("b", b"x" * 3_000_000)
    assert first is not None
    assert sandbox.pid == first


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("crash", "made its parser crash (signal SIGSEGV)"),
        ("exit", "made its parser crash (exit code 3)"),
        ("hog", "needs more memory to read than parse_bytes allows"),
        ("raise", "damaged, or not what its name says: ValueError: no such thing"),
        ("flood", "holds more text than 100000 bytes"),
    ],
)
def test_a_file_that_breaks_its_parser_is_refused_and_the_next_one_is_read(
    sandbox: Sandbox, path: str, reason: str
) -> None:
    assert _reason(sandbox, path).startswith(reason)
    assert sandbox.parse("next", b"").title == "title"


def test_where_no_signal_means_that_time_is_up_an_early_end_is_a_crash(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(signal, "SIGXCPU")  # as on Windows
    assert _reason(sandbox, "leave").startswith("made its parser crash (exit code 0)")


@pytest.mark.parametrize("path", ["hang", "sleep"])
def test_a_parser_that_never_ends_is_killed(path: str) -> None:
    with Sandbox(QUICK, HOSTILE) as sandbox:
        assert _reason(sandbox, path).startswith("takes longer than 0.05 seconds to read")
        assert sandbox.pid is None


def test_what_a_library_prints_does_not_pass_for_an_answer(sandbox: Sandbox) -> None:
    assert sandbox.parse("chatter", b"").title == "title"


def test_a_process_that_was_killed_between_two_files_is_replaced(sandbox: Sandbox) -> None:
    sandbox.parse("a", b"")
    process = sandbox._process
    assert process is not None
    process.kill()
    process.wait()
    assert sandbox.parse("b", b"").title == "title"
    assert sandbox.pid != process.pid


def test_closing_ends_the_process(sandbox: Sandbox) -> None:
    sandbox.parse("a", b"")
    process = sandbox._process
    sandbox.close()
    assert process is not None
    assert not process.is_alive
    assert sandbox.pid is None


def test_an_interruption_leaves_no_answer_behind(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox.parse("a", b"")
    first = sandbox.pid

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("quintet.processes.child.receive", interrupted)
        with pytest.raises(KeyboardInterrupt):
            sandbox.parse("b", b"")
    assert sandbox.parse("c", b"").blocks[0].text.startswith("c of process")
    assert sandbox.pid != first


def test_a_process_that_does_not_start_is_a_problem_of_the_file(tmp_path: Path) -> None:
    with Sandbox(LIMITS, (sys.executable, str(tmp_path / "missing.py"))) as sandbox:
        assert _reason(sandbox, "a").startswith("cannot be read, because its parser does not start")


def test_modules_are_not_looked_for_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('a stranger got in')")
    (tmp_path / "pypdfium2.py").write_text("raise SystemExit('a stranger got in')")
    monkeypatch.chdir(tmp_path)
    with Sandbox(LIMITS) as sandbox:
        assert _reason(sandbox, "a.pdf").startswith("not a PDF")


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs a way to wait for a stranger's process")
def test_a_process_whose_parent_was_killed_ends_by_itself(tmp_path: Path) -> None:
    """The parent is gone before its clock strikes; the limit on processor time is what is left."""
    note = tmp_path / "pid"
    code = (
        "import os, threading, time\n"
        "from quintet.formats.sandbox.parent import Sandbox, ParseLimits\n"
        f"sandbox = Sandbox(ParseLimits(1, 10**9, 1), {HOSTILE!r})\n"
        f"note = {str(note)!r}\n"
        "def end():\n"
        "    while not (os.path.exists(note) and os.path.getsize(note)): time.sleep(0.01)\n"
        "    os._exit(9)\n"
        "threading.Thread(target=end).start()\n"
        "sandbox.parse('cpu', note.encode())\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 9
    pid = int(note.read_text())
    assert gone(pid)
