"""Sources: a folder brought in, kept in step, and every run on record."""

from pathlib import Path

import pytest
from filelock import FileLock

import quintet
from formats.papers import lines, paper
from knowledge.answers import found, ids
from quintet.errors import AccessError, Conflict, NotFound, UsageError
from quintet.knowledge import KnowledgeBase, SyncRun
from quintet.knowledge.runs import KEPT_RUNS


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    (folder / "more").mkdir(parents=True)
    (folder / "a.md").write_text("# Alpha\n\nfirst word\n", "utf-8")
    (folder / "more" / "b.txt").write_text("second word\n", "utf-8")
    (folder / "c.pdf").write_bytes(paper(lines("third word"), title="Paper"))
    return folder


@pytest.fixture
def source(base: KnowledgeBase, papers: Path) -> str:
    return str(base.add_source(papers)["id"])


def counts(run: SyncRun) -> tuple[int, ...]:
    return (
        *(run.scanned, run.changed, run.deleted),
        *(run.created_documents, run.updated_documents, run.deleted_documents),
    )


def test_a_run_brings_in_what_is_new_changed_or_gone_and_no_more(
    base: KnowledgeBase, papers: Path, source: str
) -> None:
    first = base.sync_source(source)
    assert (counts(first), first.state, first.step, first.error) == ((3, 3, 0, 3, 0, 0), "done", "done", None)
    assert counts(base.sync_source(source)) == (3, 0, 0, 0, 0, 0)
    (papers / "a.md").write_text("# Alpha\n\nanother fine word\n", "utf-8")
    (papers / "c.pdf").unlink()
    (papers / "d.txt").write_text("fourth word\n", "utf-8")
    assert counts(base.sync_source(source)) == (3, 2, 1, 1, 1, 1)
    told = {one["metadata"]["uri"]: one["text"] for one in found(base.search("word", mode="keyword"))}
    assert told == {
        "a.md": "# Alpha\n\nanother fine word",
        "more/b.txt": "second word",
        "d.txt": "fourth word",
    }
    assert [run.id for run in base.runs()] == [3, 2, 1]
    assert base.state() == "ready"


def test_documents_of_a_source_say_where_they_are_from(base: KnowledgeBase, source: str) -> None:
    base.sync_source(source)
    (result,) = found(base.search("third", mode="keyword"))
    document_id = result["metadata"]["document_id"]
    assert result["metadata"] == {
        "page_count": 1,
        "knowledge_base_id": "docs",
        "document_id": document_id,
        "chunk_index": 0,
        "title": "Paper",
        "source_type": "local_directory",
        "source_name": "papers",
        "uri": "c.pdf",
        "source_id": "papers",
        "source_path": "c.pdf",
        "managed_by_source": True,
        "page_number": 1,
    }
    assert base.get(document_id)["title"] == "Paper"
    assert base.sources() == [{"id": "papers", "name": "papers", "type": "local_directory", "documents": 3}]


def test_documents_of_a_source_are_changed_in_the_source(base: KnowledgeBase, source: str) -> None:
    base.sync_source(source)
    id = str(base.documents()[0]["id"])
    for change in (lambda: base.delete(id), lambda: base.update(id, title="x"), lambda: base.put("x", id=id)):
        with pytest.raises(Conflict, match="belongs to source 'papers'") as refused:
            change()
        assert refused.value.code == "managed_by_source"


def test_the_file_behind_a_document_is_reached_through_no_link(
    base: KnowledgeBase, papers: Path, source: str, tmp_path: Path
) -> None:
    base.sync_source(source)
    (id,) = ids(base.search("second", mode="keyword"))
    assert base.source_file(id).location.read_text("utf-8") == "second word\n"
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "b.txt").write_text("secret", "utf-8")
    (papers / "more" / "b.txt").unlink()
    (papers / "more").rmdir()
    (papers / "more").symlink_to(tmp_path / "secret")
    with pytest.raises(NotFound) as refused:
        base.source_file(id)
    assert refused.value.code == "invalid_source_file_path"


def test_a_file_that_cannot_be_read_is_told_and_the_rest_comes_in(
    base: KnowledgeBase, papers: Path, source: str
) -> None:
    (papers / "torn.pdf").write_bytes(b"%PDF-1.7 torn")
    (papers / "typed.md").write_text("---\nteam: [1]\n---\nword", "utf-8")
    (papers / "vast.md").write_text(f"---\nnote: {'x' * 20_000}\n---\nword", "utf-8")
    run = base.sync_source(source)
    assert [one["path"] for one in run.problems] == ["torn.pdf", "typed.md", "vast.md"]
    assert "team" in run.problems[1]["reason"]
    assert (run.state, run.created_documents, base.state()) == ("done", 3, "ready")
    (papers / "a.md").write_bytes(b"\0\0\0")
    run = base.sync_source(source)
    assert (run.deleted_documents, ids(base.search("first", mode="keyword"))) == (1, [])


def test_a_folder_outside_those_allowed_is_no_source(
    base: KnowledgeBase, papers: Path, tmp_path: Path
) -> None:
    for allowed in ([], [papers / "more"]):
        with pytest.raises(AccessError, match="outside the folders"):
            base.add_source(papers, allowed=allowed)
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(AccessError):
        base.add_source(papers / ".." / "link", allowed=[papers])
    for wrong in (tmp_path / "none", papers / "a.md"):
        with pytest.raises(UsageError):
            base.add_source(wrong)
    assert base.add_source(papers, "Uploads", allowed=[tmp_path])["id"] == "uploads-2"
    with pytest.raises(Conflict, match="already"):
        base.add_source(papers)


def test_a_source_goes_with_its_documents(base: KnowledgeBase, source: str, papers: Path) -> None:
    base.put("a word of mine", id="mine")
    base.sync_source(source)
    assert base.remove_source(source) == 3
    assert (ids(base.search("word", mode="hybrid")), base.sources()) == (["mine"], [])
    assert (papers / "a.md").is_file()
    with pytest.raises(NotFound):
        base.sync_source(source)


def test_a_source_stays_until_its_documents_are_gone(
    base: KnowledgeBase, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    base.sync_source(source)
    with monkeypatch.context() as broken, pytest.raises(Conflict, match="writing"):
        broken.setattr(base._documents, "drop_root", refuse)
        base.remove_source(source)
    assert [one["documents"] for one in base.sources()] == [3]
    assert base.remove_source(source) == 3


def refuse(root: str) -> int:
    raise Conflict("another process is writing", code="busy_writer")


def test_a_run_that_fails_says_why_and_the_base_answers_nothing_until_one_succeeds(
    base: KnowledgeBase, papers: Path, source: str
) -> None:
    base.sync_source(source)
    away = papers.rename(papers.with_name("away"))
    with pytest.raises(Conflict, match="is missing"):
        base.sync_source(source)
    last = base.runs()[0]
    assert (last.state, last.step, base.state()) == ("failed", "scan", "error")
    assert last.error is not None and "is missing" in last.error
    assert base.describe()["documents"] == 3  # a folder that is away takes nothing with it
    with pytest.raises(Conflict, match="in state 'error'") as refused:
        base.search("word")
    assert refused.value.code == "knowledge_base_not_ready"
    away.rename(papers)
    base.sync_source(source)
    assert (base.state(), len(ids(base.search("word")))) == ("ready", 3)


def test_a_run_under_way_shows_where_it_is_and_keeps_others_out(
    base: KnowledgeBase, index: quintet.Index, source: str, tmp_path: Path
) -> None:
    seen: list[tuple[str, str | None]] = []

    def watch(run: SyncRun) -> None:
        seen.append((run.step, run.path))
        with quintet.open(tmp_path / ".quintet", "hashing") as other:
            same = other.knowledge.get("docs")
            assert (same.state(), same.runs()[0].step) == ("syncing", run.step)
            for ask in (lambda: same.search("word"), lambda: same.sync_source(source)):
                with pytest.raises(Conflict):
                    ask()

    base.sync_source(source, progress=watch)
    assert seen == [
        ("scan", None),
        ("read", "a.md"),
        ("read", "c.pdf"),
        ("read", "more/b.txt"),
        ("embed", None),
    ]
    assert base.state() == "ready"


def test_a_run_can_be_ended_and_goes_on_later(base: KnowledgeBase, source: str) -> None:
    def stop(run: SyncRun) -> None:
        if run.path == "c.pdf":
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        base.sync_source(source, progress=stop)
    assert (base.runs()[0].state, base.runs()[0].error, base.state()) == ("failed", "enough", "error")
    base.sync_source(source)
    assert (base.state(), base.describe()["documents"]) == ("ready", 3)


def test_a_glance_at_the_state_keeps_no_run_from_starting(
    base: KnowledgeBase, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    glance = FileLock(tmp_path / ".quintet" / "knowledge" / "docs" / "sync.lock")
    glance.acquire()
    monkeypatch.setattr("time.sleep", lambda _: glance.release())  # it ends while the run waits
    assert base.sync_source(source).state == "done"


def test_a_run_that_goes_while_the_runs_are_read_is_no_fault(
    base: KnowledgeBase, source: str, tmp_path: Path
) -> None:
    base.sync_source(source)
    gone = tmp_path / ".quintet" / "knowledge" / "docs" / "runs" / "00000000.json"
    gone.symlink_to(tmp_path / "nowhere")  # listed, and not there when it is read
    assert [run.id for run in base.runs()] == [1]


def test_only_the_latest_runs_are_kept(base: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    id = str(base.add_source("empty")["id"])
    for _ in range(KEPT_RUNS + 3):
        base.sync_source(id)
    runs = base.runs(id, limit=1000)
    assert (len(runs), runs[0].id, base.runs("other")) == (KEPT_RUNS, KEPT_RUNS + 3, [])
