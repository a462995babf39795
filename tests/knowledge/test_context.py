"""From a question to a cited text: over a base, over folders, on the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

import quintet
from formats.papers import lines, paper
from quintet.cli.main import run
from quintet.knowledge import KnowledgeBase


@pytest.fixture
def filled(base: KnowledgeBase) -> KnowledgeBase:
    pages = [lines("Holidays are thirty days."), lines("Parental leave is fourteen weeks.")]
    base.put_file(paper(*pages, title="Leave"), "leave.pdf", id="leave")
    base.put("Parental leave is fourteen weeks.", id="copy", title="Copy")
    base.put("The canteen opens at noon.", id="canteen", uri="https://example.com/canteen")
    return base


def test_a_question_gets_passages_references_and_a_digest(
    index: quintet.Index, filled: KnowledgeBase
) -> None:
    answer = index.context("How long is parental leave?", 200, "docs")
    body: Any = answer.body
    assert answer.status == "ok"
    assert (body["text"].count("Parental leave is fourteen weeks."), body["duplicates"]) == (1, 1)
    assert "(p. 1)\n```passage\nHolidays are thirty days.\n```" in body["text"]
    assert body["tokens"] <= 200
    assert index.context("How long is parental leave?", 200, "kb_docs").wire() == answer.wire()
    assert str(index.folder) not in json.dumps(answer.wire())


def test_a_context_takes_the_parameters_of_the_contract(index: quintet.Index, filled: KnowledgeBase) -> None:
    body: Any = index.context(
        "noon", 200, "docs", search_method="keyword", top_k=1, filters={"title": "Copy"}
    ).body
    assert body["sources"] == []
    body = index.context("noon", 200, "docs", mode="keyword", limit=1).body
    assert [one["uri"] for one in body["references"]] == ["https://example.com/canteen"]
    with_urls: Any = index.context(
        "holidays", 200, "docs", file_url=lambda m: f"/v1/{m['document_id']}", filters={"page_number": 1}
    ).body
    assert [one["file_url"] for one in with_urls["references"]] == ["/v1/leave#page=1"]


def test_folders_give_a_context_too(index: quintet.Index, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# Tides\n\nThe tide turns at noon.\n", "utf-8")
    index.sync([tmp_path / "notes"])
    body: Any = index.context("tide", 100).body
    assert body["text"].endswith('References\n[1] "Tides", a.md\n')


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert run(list(arguments)) == code, capsys.readouterr()
    return capsys.readouterr().out


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "leave.pdf").write_bytes(
        paper(lines("Parental leave is fourteen weeks."), title="Leave")
    )
    with quintet.open(tmp_path / ".quintet", "hashing") as index:
        (tmp_path / "note.md").write_text("note", "utf-8")
        index.sync([tmp_path / "note.md"])
    return tmp_path


def test_the_command_line_goes_from_files_to_a_cited_text(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said(capsys, "kb", "list") == ""
    assert (
        said(capsys, "kb", "create", "hb", "--title", "Handbook", "--property", "year:int")
        == "kb_hb created\n"
    )
    assert "1 files scanned, 1 changed" in said(capsys, "kb", "sync", "hb", "papers")
    assert "1 files scanned, 0 changed" in said(capsys, "kb", "sync", "hb")
    (folder / "b.md").write_text("Holidays are thirty days.", "utf-8")
    added = said(capsys, "kb", "add", "hb", "b.md", "--id", "b", "--meta", "year=2024", "--title", "Holidays")
    assert added == "b  created  b.md\n"
    assert said(capsys, "kb", "add", "hb", "b.md", "nowhere.md", code=1).count("\n") == 1
    assert said(capsys, "kb", "list") == "hb  ready  3 documents  Handbook\n"
    assert "b  Holidays  b.md\n" in said(capsys, "kb", "documents", "hb")
    text = said(
        capsys, "context", "parental leave", "--kb", "hb", "--budget", "60", "--filter", "source_id:papers"
    )
    assert text == (
        "[1] (p. 1)\n```passage\nParental leave is fourteen weeks.\n```\n\n"
        'References\n[1] "Leave", p. 1, leave.pdf\n'
    )
    as_json = json.loads(said(capsys, "context", "holidays", "--kb", "hb", "--filter", "year:2024", "--json"))
    assert [one["title"] for one in as_json["references"]] == ["Holidays"]
    found = said(
        capsys, "search", "leave", "--contract", "knowledge", "--param", "index=kb_hb", "--mode", "keyword"
    )
    assert "Parental leave" in found


def test_the_command_line_changes_and_deletes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, "kb", "create", "hb")
    said(capsys, "kb", "sync", "hb", "papers")
    described = json.loads(said(capsys, "kb", "describe", "hb", "--json"))
    assert (described["documents"], described["runs"][0]["state"]) == (1, "done")
    assert "source papers: 1 documents" in said(capsys, "kb", "describe", "hb")
    assert said(capsys, "kb", "embed", "hb") == "0 embedded\n"
    said(capsys, "kb", "archive", "hb")
    assert run(["context", "leave", "--kb", "hb"]) == 4
    said(capsys, "kb", "archive", "hb", "--undo")
    assert said(capsys, "kb", "remove", "hb", "--source", "papers") == "1 removed\n"
    assert run(["kb", "remove", "hb"]) == 2
    assert run(["kb", "delete", "hb"]) == 2
    assert "confirm with --yes" in capsys.readouterr().err
    assert said(capsys, "kb", "delete", "hb", "--yes") == "hb deleted\n"
    assert run(["kb", "describe", "hb"]) == 3


def test_the_command_line_shows_an_upload_by_its_name_and_a_text_by_its_id(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with quintet.open(folder / ".quintet", create=False) as index:
        base = index.knowledge.create("faq")
        base.put("Cars of guests are parked at the gate.", id="guests")
    (folder / "parking.md").write_text("Cars are parked behind the house.\n", "utf-8")
    said(capsys, "kb", "add", "faq", "parking.md")
    asked = ("--contract", "knowledge", "--param", "index=kb_faq", "--mode", "keyword")
    assert " 1. parking.md:1-1 " in said(capsys, "search", "house", *asked)
    assert " 1. guests:1-1 " in said(capsys, "search", "gate", *asked, "--explain")
