"""`quintet remember`, `recall`, `timeline` and `memory`, as a shell calls them."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import quintet
from quintet.cli.main import run

Said = tuple[int, str, str]
Command = Callable[..., Said]


@pytest.fixture
def command(project: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs a command line over the project, which is indexed with hashed words."""
    with quintet.open(project / ".quintet", "hashing") as index:
        index.sync([project])

    def call(*arguments: str) -> Said:
        capsys.readouterr()
        code = run(arguments)
        return code, *capsys.readouterr()

    return call


def remembered(command: Command, *arguments: str) -> str:
    code, out, err = command("remember", *arguments)
    assert (code, err) == (0, "")
    return out.split()[0]


def test_what_a_command_remembers_another_recalls(command: Command) -> None:
    options = [
        "--kind",
        "decision",
        "--tag",
        "cache",
        "--tag",
        "ttl",
        "--about",
        "src/cache.py",
        "--session",
        "s",
    ]
    id = remembered(command, "answers live five minutes", *options)
    code, out, err = command("recall", "how long do answers live", "--tag", "ttl", "--session", "s")
    assert (code, err) == (0, "")
    head, text, about = out.splitlines()
    assert head.startswith(f" 1. decision  {id}  20")
    assert head.endswith("Z #cache #ttl")
    assert (text, about) == ("    answers live five minutes", "    about src/cache.py: unchanged")


def test_lines_that_a_memory_is_about_are_shown(command: Command) -> None:
    remembered(command, "the ttl is 300", "--about", "src/cache.py:1-2", "--about", "Cache.get")
    assert command("recall", "ttl")[1].splitlines()[2:] == [
        "    about src/cache.py:1-2: unchanged",
        "    about src/cache.py:cache.Cache.get: unchanged",
    ]


def test_recall_for_programs_is_the_body_with_status_and_notes(command: Command) -> None:
    remembered(command, "answers live five minutes")
    code, out, _ = command("recall", "answers", "--json", "--limit", "1")
    body = json.loads(out)
    assert (code, body["status"], body["notes"], body["query"]) == (0, "ok", [], "answers")
    assert body["results"][0]["text"] == "answers live five minutes"


def test_text_may_come_from_standard_input(project: Path) -> None:
    with quintet.open(project / ".quintet", embedder=None):
        pass
    call = [sys.executable, "-m", "quintet", "remember", "-", "--json"]
    done = subprocess.run(
        call, input="caf\u00e9\nopens\n", capture_output=True, text=True, encoding="utf-8", check=True
    )
    with quintet.open(project / ".quintet", embedder=None) as index:
        assert index.memory.get(json.loads(done.stdout)["id"])["text"] == "caf\u00e9\nopens"


def test_a_duplicate_and_a_near_one_are_told(command: Command) -> None:
    id = remembered(command, "the cache of answers is bounded in size and in time")
    assert (
        command("remember", "the cache of answers is bounded in size and in time")[1]
        == f"{id}  seen 2 times\n"
    )
    _, _, err = command("remember", "the cache of answers is bounded in size and time")
    assert err.startswith(f"near: {id} says almost the same (meaning 0.9")


def test_what_was_superseded_is_shown_with_all_and_in_the_timeline(command: Command) -> None:
    old = remembered(command, "the limit is ten")
    new = remembered(command, "the limit is twenty", "--supersedes", old)
    assert old not in command("recall", "limit")[1].split(f"superseded by {new}")[0]
    everything = command("recall", "limit", "--all")[1]
    assert f"superseded by {new}" in everything
    timeline = command("timeline", "--around", new, "--before", "1", "--after", "0")[1]
    assert timeline.index(old) < timeline.index("valid until") < timeline.index("the limit is twenty")
    found = json.loads(command("timeline", "--json", "--kind", "fact")[1])["memories"]
    assert [one["id"] for one in found] == [old, new]


def test_the_timeline_takes_a_moment_in_milliseconds(command: Command) -> None:
    remembered(command, "now")
    assert command("timeline", "--around", "0", "--after", "1")[0] == 0
    assert command("timeline", "--around", "0", "--after", "0")[0] == 1
    assert command("timeline", "--around", "nobody")[0] == 3


def test_finding_nothing_is_told_from_having_nothing(command: Command) -> None:
    code, out, err = command("recall", "x")
    assert (code, out, err) == (3, "", "nothing is remembered yet\n")
    remembered(command, "something")
    code, out, err = command("recall", "x", "--kind", "task")
    assert (code, out) == (1, "")
    assert err.startswith("note: nothing passes the filters") and err.endswith("\nno match\n")


def test_an_export_can_be_forgotten_and_imported(command: Command, project: Path) -> None:
    old = remembered(command, "the limit is ten")
    remembered(command, "the limit is twenty", "--supersedes", old)
    _, exported, _ = command("memory", "export")
    (project / "memories.jsonl").write_text(exported, "utf-8")
    assert command("memory", "forget", "--kind", "fact") == (0, "forgot 2 memories\n", "")
    assert command("memory", "import", "memories.jsonl") == (0, "2 added, 0 changed, 0 unchanged\n", "")
    assert command("memory", "export")[1] == exported
    assert json.loads(command("memory", "get", old, "--json")[1])["text"] == "the limit is ten"
    assert "the limit is ten" in command("memory", "get", old)[1]
    assert command("memory", "embed") == (0, "0 embedded\n", "")
    assert command("memory", "forget", old) == (0, "forgot 1 memory\n", "")


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["remember", " "], 2, "at least one word"),
        (["remember", "x" * 20_001], 8, "at most 20000"),
        (["remember", "x", "--kind", "idea"], 2, "one of decision"),
        (["remember", "x", "--supersedes", "nobody"], 3, "[memory_not_found]"),
        (["recall", "x", "--kind", "idea"], 2, "one of decision"),
        (["recall", " "], 2, "[bad_query]"),
        (["memory", "forget"], 2, "give either the id of the memory"),
        (["memory", "get", "nobody"], 3, "there is no memory 'nobody'"),
        (["memory", "import", "nowhere.jsonl"], 2, "'nowhere.jsonl' cannot be read"),
        (["memory", "import", "src/cache.py"], 2, "line 1: "),
        (["timeline", "--before", "-1"], 2, "from 0 to 1000"),
    ],
)
def test_a_wrong_command_says_what_would_be_right(
    command: Command, arguments: list[str], code: int, says: str
) -> None:
    ended, out, err = command(*arguments)
    assert (ended, out) == (code, "")
    assert says in err
    assert err.count("\n") == 1


def test_nothing_in_a_memory_reaches_the_terminal_as_a_command(command: Command) -> None:
    odd = ("a\x1b[31mred\u202e", "--tag", "\x1b]0;x\x07", "--about", "\x1b[2Jz")
    for arguments in (("remember", *odd), ("recall", "red"), ("timeline",)):
        code, out, err = command(*arguments)
        assert code == 0 and "\x1b" not in out + err
