"""Killed in the middle: whole documents only, and the same upload again completes it."""

import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

import quintet
from knowledge.answers import found, ids
from knowledge.uploading import DOCUMENTS, upload
from quintet.errors import StoreError
from quintet.knowledge import KnowledgeBase
from quintet.knowledge.runs import INTERRUPTED

CHILD = Path(__file__).with_name("uploading.py")
SYNC = Path(__file__).with_name("syncing.py")
SEED = 7


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    with quintet.open(tmp_path / "empty", "hashing") as index:
        index.knowledge.create("docs")
    return tmp_path / "empty"


def uploading(folder: Path, moment: int = 0) -> "subprocess.Popen[str]":
    command = [sys.executable, str(CHILD), str(folder), str(moment)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def check_whole(base: KnowledgeBase, folder: Path) -> int:
    """Every document that is there is there with all its text, vectors and its original."""
    told = base.describe()
    assert told["chunks"] == told["embedded"]
    documents = base.documents(limit=1000)
    for document in documents:
        id = str(document["id"])
        expected = upload(int(id[1:])).data
        assert base.source_file(id).location.read_bytes() == expected
        results = found(
            base.search("filler part0 part1 part2", top_k=100, mode="keyword", filters={"document_id": id})
        )
        assert len(results) == document["chunks"]
        assert {f"part{part}" for part in range(3)} <= set(" ".join(one["text"] for one in results).split())
    connection = apsw.Connection(str(folder / "knowledge" / "docs" / "index.db"))
    assert connection.pragma("integrity_check") == "ok"
    connection.close()
    return len(documents)


def test_a_killed_upload_leaves_whole_documents_and_can_be_repeated(empty: Path) -> None:
    with uploading(empty) as child:
        assert child.stdout is not None
        child.stdout.readline()
        child.send_signal(signal.SIGKILL)
        child.stdout.read()
    assert child.returncode == -signal.SIGKILL
    with quintet.open(empty, "hashing") as index:
        base = index.knowledge.get("docs")
        assert 32 <= check_whole(base, empty) <= DOCUMENTS
        outcomes = base.put_many([upload(number) for number in range(DOCUMENTS)])
        assert {one.outcome for one in outcomes} <= {"created", "unchanged"}
        assert check_whole(base, empty) == DOCUMENTS


def test_a_kill_at_any_statement_leaves_whole_documents(empty: Path, tmp_path: Path) -> None:
    unharmed = uploading(shutil.copytree(empty, tmp_path / "unharmed"), 10**9)
    total = int(unharmed.communicate()[0].split()[-1])
    for moment in random.Random(SEED).sample(range(1, total), 3):
        folder = shutil.copytree(empty, tmp_path / str(moment))
        child = uploading(folder, moment)
        child.communicate()
        assert child.returncode == -signal.SIGKILL
        with quintet.open(folder, "hashing") as index:
            base = index.knowledge.get("docs")
            there = check_whole(base, folder)
            assert there % 32 == 0 and there < DOCUMENTS + 1
            base.put_many([upload(number) for number in range(DOCUMENTS)])
            originals = list((folder / "knowledge" / "docs" / "files").iterdir())
            assert check_whole(base, folder) == len(originals) == DOCUMENTS


def test_a_run_whose_process_was_killed_is_known_as_interrupted(base: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "a.md").write_text("a word", "utf-8")
    base.add_source("papers")
    script = (
        "import os, signal, quintet\n"
        f"base = quintet.open({str(tmp_path / '.quintet')!r}, 'hashing').knowledge.get('docs')\n"
        "base.sync_source('papers', progress=lambda run: run.path and os.kill(os.getpid(), signal.SIGKILL))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], check=False)
    assert done.returncode == -signal.SIGKILL
    assert (base.state(), base.runs()[0].state, base.runs()[0].error) == ("ready", "interrupted", INTERRUPTED)
    assert base.interrupted() == ["papers"]
    base.sync_source("papers")
    assert (base.state(), ids(base.search("word")) != []) == ("ready", True)
    assert base.interrupted() == []


def test_a_base_serves_whole_documents_after_a_kill_in_the_middle_of_a_sync(
    base: KnowledgeBase, tmp_path: Path
) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    for number in range(100):
        (papers / f"{number:03d}.md").write_text(f"old word {number}", "utf-8")
    base.add_source("papers")
    base.sync_source("papers")
    for number in range(100):
        (papers / f"{number:03d}.md").write_text(f"new word {number}", "utf-8")
    for path in ("000.md", "040.md", "099.md"):  # in the first, the second and the last group
        script = (
            "import os, signal, quintet\n"
            f"base = quintet.open({str(tmp_path / '.quintet')!r}, 'hashing').knowledge.get('docs')\n"
            f"kill = lambda run: run.path == {path!r} and os.kill(os.getpid(), signal.SIGKILL)\n"
            "base.sync_source('papers', progress=kill)\n"
        )
        done = subprocess.run([sys.executable, "-c", script], check=False)
        assert done.returncode == -signal.SIGKILL
        response = base.search("word", search_method="keyword", top_k=200)
        assert len(ids(response)) == 100  # each in its old state or its new one
        assert [note["code"] for note in response.notes if note["code"] == "partly_synced"]
    base.sync_source("papers")
    response = base.search("old", search_method="keyword")
    assert (ids(response), base.interrupted()) == ([], [])


def syncing(folder: Path, moment: int) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(SYNC), str(folder), str(moment)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def texts_of(base: KnowledgeBase, method: str) -> dict[str, str]:
    """The text of each document that a search finds, by its path."""
    results = found(base.search("word", top_k=200, search_method=method))
    return {one["metadata"]["source_path"]: one["text"] for one in results}


def test_a_kill_at_any_statement_of_a_sync_loses_no_document_that_was_there_and_still_exists(
    tmp_path: Path,
) -> None:
    papers, sound = tmp_path / "papers", tmp_path / "sound"
    papers.mkdir()
    for number in range(40):
        (papers / f"{number:02d}.md").write_text(f"old word {number}", "utf-8")
    with quintet.open(sound, "hashing") as index:
        index.knowledge.create("docs").add_source(papers)
        index.knowledge.get("docs").sync_source("papers")
        assert len(texts_of(index.knowledge.get("docs"), "keyword")) == 40
    for number in range(20):
        (papers / f"{number:02d}.md").write_text(f"new word {number}", "utf-8")
    for number in range(20, 25):
        (papers / f"{number:02d}.md").unlink()
    for number in range(40, 45):
        (papers / f"{number:02d}.md").write_text(f"new word {number}", "utf-8")
    expected = {file.name: file.read_text("utf-8") for file in papers.iterdir()}
    total = int(syncing(shutil.copytree(sound, tmp_path / "counted"), 0).stdout)
    for moment in [1, *random.Random(SEED).sample(range(2, total - 1), 8), total - 1]:
        folder = shutil.copytree(sound, tmp_path / str(moment))
        assert syncing(folder, moment).returncode == -signal.SIGKILL
        with quintet.open(folder, "hashing") as index:
            base = index.knowledge.get("docs")
            for method in ("keyword", "semantic"):
                texts = texts_of(base, method)
                for number in [*range(20), *range(25, 40)]:
                    text = texts[f"{number:02d}.md"]
                    assert text in (f"old word {number}", f"new word {number}")
            base.sync_source("papers")
            for method in ("keyword", "semantic"):
                assert texts_of(base, method) == expected


@pytest.mark.parametrize("error", [KeyboardInterrupt(), StoreError("stopped", code="stopping")])
def test_a_sync_that_is_told_to_stop_leaves_the_base_searchable(
    base: KnowledgeBase, tmp_path: Path, error: BaseException
) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "a.md").write_text("a word", "utf-8")
    base.add_source("papers")

    def stop(run: object) -> None:
        raise error

    with pytest.raises(type(error)):
        base.sync_source("papers", progress=stop)
    assert (base.state(), base.interrupted()) == ("ready", ["papers"])


@pytest.mark.parametrize(
    ("patched", "call", "left"),
    [
        ("bases.RegistrationFile.write", "knowledge.create('new')", ["docs"]),
        ("bases.Path.rename", "knowledge.create('new')", ["docs"]),
        ("bases.Path.rename", "knowledge.delete('docs')", ["docs"]),
        ("bases.shutil.rmtree", "knowledge.delete('docs')", []),
    ],
)
def test_a_base_is_made_and_deleted_in_one_step_whenever_the_process_is_killed(
    base: KnowledgeBase, tmp_path: Path, patched: str, call: str, left: list[str]
) -> None:
    base.put("a zirconium word", id="one")
    script = (
        "import os, signal, quintet\nfrom quintet.knowledge import bases\n"
        f"knowledge = quintet.open({str(tmp_path / '.quintet')!r}, 'hashing').knowledge\n"
        f"{patched} = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)\n{call}\n"
    )
    done = subprocess.run([sys.executable, "-c", script], check=False)
    assert done.returncode == -signal.SIGKILL
    with quintet.open(tmp_path / ".quintet", "hashing") as index:
        assert [one["id"] for one in index.knowledge.list()] == left
        folders = {one.name for one in (tmp_path / ".quintet" / "knowledge").iterdir() if one.is_dir()}
        assert folders == set(left)
        again = index.knowledge.create("new")
        again.put("a word", id="one")
        assert ids(again.search("word")) == ["one"]
