"""Memory outlives kills, crowds, new indexes and old schemas."""

import json
import random
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import apsw
import pytest

import quintet
from memory.views import results, texts
from quintet.memory import Memory
from quintet.storage.sqlite.migrations import APPLICATION_ID, MIGRATIONS

CHILD = Path(__file__).with_name("writing.py")
SEED = 5


def writing(folder: Path, name: str, count: int, moment: int = 0) -> "subprocess.Popen[str]":
    command = [sys.executable, str(CHILD), str(folder), name, str(count), str(moment)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def acknowledged(said: str) -> dict[str, str]:
    lines = [line.split() for line in said.splitlines() if not line.startswith("statements")]
    return dict(lines)


def check_whole(folder: Path, name: str, ids: dict[str, str]) -> None:
    """Every acknowledged memory is there with its text, and found by both legs."""
    with quintet.open(folder, "hashing") as index:
        assert len(index.memory.export()) >= len(ids)
        for id, number in ids.items():
            assert index.memory.get(id)["text"] == f"{name} has number{number} and more"
            first = results(index.memory.recall(f"number{number}"))[0]
            assert (first["id"], set(first["signals"])) == (id, {"lexical", "semantic"})
    connection = apsw.Connection(str(folder / "memory.db"))
    assert connection.pragma("integrity_check") == "ok"
    (counts,) = connection.execute(
        "SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM chunks), "
        "(SELECT count(*) FROM text_docsize), (SELECT count(*) FROM contents)"
    )
    assert len(set(counts)) == 1
    connection.close()


def test_what_was_acknowledged_is_there_after_a_kill(tmp_path: Path) -> None:
    with writing(tmp_path / "index", "alpha", 10_000) as child:
        assert child.stdout is not None
        said = "".join(child.stdout.readline() for _ in range(12))
        child.send_signal(signal.SIGKILL)
        said += child.stdout.read()
    whole = said[: said.rfind("\n") + 1]
    assert child.returncode == -signal.SIGKILL
    assert len(acknowledged(whole)) >= 12
    check_whole(tmp_path / "index", "alpha", acknowledged(whole))


def test_a_kill_at_any_statement_leaves_whole_memories(tmp_path: Path) -> None:
    with quintet.open(tmp_path / "empty", "hashing"):
        pass
    unharmed = writing(shutil.copytree(tmp_path / "empty", tmp_path / "unharmed"), "beta", 3, 10**9)
    total = int(unharmed.communicate()[0].split()[-1])
    moments = random.Random(SEED).sample(range(1, total), 5)
    for moment in moments:
        folder = shutil.copytree(tmp_path / "empty", tmp_path / str(moment))
        child = writing(folder, "beta", 3, moment)
        said, _ = child.communicate()
        assert child.returncode == -signal.SIGKILL
        check_whole(folder, "beta", acknowledged(said))
        again = writing(folder, "beta", 3)
        check_whole(folder, "beta", acknowledged(again.communicate()[0]))


def test_processes_that_remember_at_once_lose_nothing(tmp_path: Path) -> None:
    names = ("alpha", "beta", "gamma")
    children = [writing(tmp_path / "index", name, 15) for name in names]
    said = [child.communicate()[0] for child in children]
    assert [child.returncode for child in children] == [0, 0, 0]
    ids = [acknowledged(one) for one in said]
    with quintet.open(tmp_path / "index", "hashing") as index:
        assert len(index.memory.export()) == 45
        for name, some in zip(names, ids, strict=True):
            assert len(some) == 15
            assert all(index.memory.get(id)["tags"] == [name] for id in some)


def test_threads_that_remember_the_same_count_every_time(memory: Memory) -> None:
    failed: list[BaseException] = []

    def say() -> None:
        try:
            for number in range(5):
                memory.remember(f"shared {number}")
                memory.recall("shared")
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=say) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert [json.loads(line)["seen"] for line in memory.export()] == [4] * 5


def test_one_memory_is_superseded_once_however_many_try(memory: Memory) -> None:
    old = memory.remember("old")
    outcomes: list[str] = []

    def replace(number: int) -> None:
        try:
            memory.remember(f"new {number}", supersedes=old.id)
            outcomes.append("done")
        except quintet.Conflict:
            outcomes.append("refused")

    threads = [threading.Thread(target=replace, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["done", "refused", "refused", "refused"]
    assert len(memory.export()) == 2


def test_no_index_run_touches_memory(index: quintet.Index, memory: Memory, project: Path) -> None:
    memory.remember("kept", about=["src/cache.py"])
    file = project / ".quintet" / "memory.db"
    before, lines = file.read_bytes(), memory.export()
    index.sync(force=True)
    index.forget("src/cache.py")
    index.forget("project")
    index.sync([project])
    assert (file.read_bytes(), memory.export()) == (before, lines)
    assert texts(memory.recall("kept")) == ["kept"]


def test_a_deleted_index_leaves_memory_alone(project: Path) -> None:
    with quintet.open(project / ".quintet", "hashing") as index:
        index.sync([project])
        index.memory.remember("kept")
    for file in (project / ".quintet").glob("index.db*"):
        file.unlink()
    with quintet.open(project / ".quintet", "hashing") as index:
        index.sync([project])
        assert texts(index.memory.recall("kept")) == ["kept"]
        assert index.search("cache").body["results"]


def test_the_vectors_of_memory_and_index_do_not_disturb_each_other(index: quintet.Index) -> None:
    index.memory.remember("cache answers")
    for _ in range(2):
        assert index.memory.recall("cache answers").notes == []
        found = index.search("cache answers", mode="semantic")
        assert (found.status, bool(found.body["results"])) == ("ok", True)
    folders = sorted(one.parent.name for one in index.folder.rglob("vectors-*"))
    assert folders == [".quintet", "memory"]


def old_memory(new: Path, old: Path) -> None:
    """The memories of database `new` in a database of the first schema."""
    connection = apsw.Connection(str(old))
    connection.execute(MIGRATIONS[0])
    connection.pragma("application_id", APPLICATION_ID)
    connection.pragma("user_version", 1)
    connection.execute("ATTACH ? AS new", (str(new),))
    for table in ("meta", "roots", "documents", "chunks", "contents", "vectors"):
        columns = ", ".join(name for _, name, *_ in connection.execute(f"PRAGMA main.table_info({table})"))
        connection.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM new.{table}")
    connection.execute(
        "INSERT INTO text (rowid, content, heading_path, title) SELECT x.row, x.content, '', d.title "
        "FROM contents x JOIN chunks c ON c.row = x.row JOIN documents d ON d.row = c.document"
    )
    connection.close()


def test_a_memory_of_an_older_schema_is_migrated_and_recalled(project: Path, tmp_path: Path) -> None:
    folder = project / ".quintet"
    with quintet.open(folder, "hashing") as index:
        old = index.memory.remember("the limit is ten", tags=["limit"])
        index.memory.remember("the limit is twenty", supersedes=old.id)
        lines = index.memory.export()
    old_memory(folder / "memory.db", tmp_path / "old.db")
    for file in folder.glob("memory.db*"):
        file.unlink()
    shutil.move(tmp_path / "old.db", folder / "memory.db")
    with quintet.open(folder, "hashing") as index:
        assert index.memory.export() == lines
        found = index.memory.recall("limit")
        assert (texts(found), found.status) == (["the limit is twenty"], "ok")
        assert len(results(index.memory.recall("limit", include_superseded=True))) == 2
        index.memory.remember("the limit is thirty", supersedes=results(found)[0]["id"])
        assert texts(index.memory.recall("limit")) == ["the limit is thirty"]
    version = apsw.Connection(str(folder / "memory.db")).pragma("user_version")
    assert version == len(MIGRATIONS)


@pytest.mark.parametrize("data", [b"no database", b"x" * 5_000])
def test_a_damaged_memory_is_refused_and_left_alone(project: Path, data: bytes) -> None:
    with quintet.open(project / ".quintet", "hashing") as index:
        (project / ".quintet" / "memory.db").write_bytes(data)
        with pytest.raises(quintet.StoreError, match=r"memory\.db .* is damaged .* import the last export"):
            index.memory.recall("x")
    assert (project / ".quintet" / "memory.db").read_bytes() == data
