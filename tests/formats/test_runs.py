"""Documents in an index run: found by what they say, on the right page, whatever else is in the folder."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import quintet
from formats.office_files import book, epub, slides, word
from formats.papers import (
    HEBREW,
    LEFT,
    RIGHT,
    bomb,
    lines,
    link,
    paper,
    picture,
    right_to_left,
    row_by_row,
    table,
    turned,
)
from quintet import Index

METHODS = ("keyword", "semantic", "hybrid")
LONG_AGO = 1_500_000_000 * 10**9
ATLAS = paper(
    lines("An atlas of quiet places"),
    row_by_row(LEFT, RIGHT),
    lines("The \ufb02oating \ufb01sh market", font="Vera"),
    lines("東京の図書館", font="HeiseiMin-W3"),
    turned(90, 0, "A sideways remark", "about gulls"),
    table([("Port", "Depth"), ("Brest", "twelve")]),
    link("the pilot's handbook"),
)
PLACES = [
    ("quiet places", 1),
    ("amber lanterns", 2),
    ("cold harbours", 2),
    ("floating fish", 3),
    ("図書館", 4),
    ("sideways remark", 5),
    ("Brest twelve", 6),
    ("pilot's handbook", 7),
]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    with quintet.open(tmp_path / "index", "hashing", parse_bytes=2**28) as opened:
        yield opened


def _folder(tmp_path: Path, files: dict[str, bytes]) -> Path:
    folder = tmp_path / "shelf"
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
        os.utime(folder / name, ns=(LONG_AGO, LONG_AGO))
    return folder


def _results(index: Index, query: str, **params: Any) -> list[dict[str, Any]]:
    body: Any = index.search(query, "knowledge", **params).body
    found: list[dict[str, Any]] = body["retrieval_calls"][0]["results"]
    return found


def _pages(index: Index, query: str, **params: Any) -> list[int | None]:
    return [item["metadata"].get("page_number") for item in _results(index, query, **params)]


@pytest.mark.requirement("003-PAGE-NUMBER")
@pytest.mark.parametrize("method", ["keyword", "hybrid"])
def test_each_phrase_is_found_on_its_page(index: Index, tmp_path: Path, method: str) -> None:
    index.sync([_folder(tmp_path, {"atlas.pdf": ATLAS, "hebrew.pdf": right_to_left()})])
    found = {phrase: _pages(index, f'"{phrase}"', search_method=method)[0] for phrase, _ in PLACES}
    assert found == dict(PLACES)
    assert _results(index, HEBREW, search_method="keyword")[0]["metadata"]["source_path"] == "hebrew.pdf"


@pytest.mark.requirement("003-PAGE-FILTER")
@pytest.mark.parametrize("method", METHODS)
def test_pages_are_filtered_before_retrieval_by_every_method(
    index: Index, tmp_path: Path, method: str
) -> None:
    pages = [lines(f"the lantern of page {number}") for number in range(1, 31)]
    index.sync([_folder(tmp_path, {"long.pdf": paper(*pages), "note.md": b"the lantern"})])
    for page in (1, 17, 30):
        found = _pages(index, "lantern", search_method=method, top_k=3, filters={"page_number": page})
        assert found == [page]
    assert _pages(index, "lantern", search_method=method, filters={"page_number": 31}) == []


@pytest.mark.requirement("003-PAGE-NOT-INFERRED")
def test_a_page_is_never_guessed(index: Index, tmp_path: Path) -> None:
    """Neither from a page count, nor from what an author wrote, nor for a format that has no pages."""
    note = b"---\npage_count: 9\npage_number: 4\n---\nthe lantern\n"
    files = {"note.md": note, "guide.docx": word(), "one.pdf": paper(lines("the lantern of one"))}
    index.sync([_folder(tmp_path, files)])
    found = {item["metadata"]["source_path"]: item["metadata"] for item in _results(index, "lantern quay")}
    assert "page_number" not in found["note.md"]
    assert "page_number" not in found["guide.docx"]
    assert found["note.md"]["page_count"] == 9
    assert found["one.pdf"]["page_number"] == 1


@pytest.mark.requirement("003-PAGE-COUNT")
def test_the_page_count_belongs_to_the_document(index: Index, tmp_path: Path) -> None:
    index.sync([_folder(tmp_path, {"atlas.pdf": ATLAS, "deck.pptx": slides()})])
    assert {passage.document.metadata["page_count"] for passage in index.get("atlas.pdf")} == {7}
    assert {passage.document.metadata["page_count"] for passage in index.get("deck.pptx")} == {2}
    (found,) = _results(index, "neap", search_method="keyword")
    assert (found["metadata"]["page_count"], found["metadata"]["page_number"]) == (2, 1)


def test_three_hundred_pages_are_read_and_each_is_found(index: Index, tmp_path: Path) -> None:
    pages = [lines(f"keyword{number:03d} stands here", *["and other text"] * 30) for number in range(1, 301)]
    assert index.sync([_folder(tmp_path, {"long.pdf": paper(*pages)})]).problems == []
    for number in (1, 2, 150, 299, 300):
        assert _pages(index, f"keyword{number:03d}", search_method="keyword") == [number]


def test_every_format_is_found_by_what_it_says(index: Index, tmp_path: Path) -> None:
    files = {
        "guide.docx": word(),
        "deck.pptx": slides(),
        "stock.xlsx": book({"Stock": [["Item", "Price"], ["Lantern", 3]]}),
        "novel.epub": epub({"a.xhtml": "<h1>Arrival</h1><p>The boat came in.</p>"}),
        "prices.csv": b"thing,cost\nrudder,12\n",
    }
    assert index.sync([_folder(tmp_path, files)]).problems == []
    said = {"fender": "guide.docx", "spring tide": "deck.pptx", "Price 3": "stock.xlsx", "boat": "novel.epub"}
    for query, path in {**said, "cost rudder": "prices.csv"}.items():
        assert _results(index, query, search_method="keyword")[0]["metadata"]["source_path"] == path


def test_bad_files_are_named_with_their_reason_and_the_rest_is_indexed(index: Index, tmp_path: Path) -> None:
    files = {
        "a.md": b"the lantern of a",
        "bomb.pdf": bomb(400_000_000),
        "broken.docx": b"PK\3\4",
        "cut.pdf": ATLAS[: len(ATLAS) // 2],
        "locked.pdf": paper(lines("secret"), password="secret"),
        "scan.pdf": paper(picture),
        "whole.pdf": paper(lines("the lantern of whole")),
        "z.md": b"the lantern of z",
    }
    report = index.sync([_folder(tmp_path, files)])
    reasons = {
        problem.path: problem.reason.split(":")[0].split("(")[0].strip() for problem in report.problems
    }
    assert reasons == {
        "bomb.pdf": "made its parser crash",
        "broken.docx": "damaged, truncated, or not what its name says",
        "cut.pdf": "truncated",
        "locked.pdf": "encrypted",
        "scan.pdf": "without text on any page",
    }
    assert (report.indexed, report.skipped) == (3, 5)
    paths = {item["metadata"]["source_path"] for item in _results(index, "lantern", search_method="keyword")}
    assert paths == {"a.md", "whole.pdf", "z.md"}


def test_a_document_that_did_not_change_is_not_parsed_again(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = _folder(tmp_path, {"atlas.pdf": ATLAS})
    index.sync([folder])
    os.utime(folder / "atlas.pdf")  # a new time, the same content
    before = index.status().state_root

    def refuse(*_: object) -> None:
        raise AssertionError("it was parsed again")

    monkeypatch.setattr("quintet.formats.sandbox.parent.Sandbox.parse", refuse)
    assert index.sync().indexed == 0
    assert index.status().state_root == before


def test_a_document_that_can_no_longer_be_read_disappears(index: Index, tmp_path: Path) -> None:
    folder = _folder(tmp_path, {"atlas.pdf": ATLAS})
    index.sync([folder])
    (folder / "atlas.pdf").write_bytes(ATLAS[:1000])
    report = index.sync()
    assert (report.removed, [problem.path for problem in report.problems]) == (1, ["atlas.pdf"])
    assert index.status().files == 0


def test_two_indexes_of_the_same_documents_have_the_same_state(tmp_path: Path) -> None:
    folder = _folder(tmp_path, {"atlas.pdf": ATLAS, "guide.docx": word(), "deck.pptx": slides()})
    states = set()
    for name in ("one", "two"):
        with quintet.open(tmp_path / name, "hashing") as index:
            index.sync([folder])
            states.add(index.status().state_root)
    assert len(states) == 1


def test_a_run_that_was_interrupted_is_completed_by_the_next(tmp_path: Path) -> None:
    files = {f"{number}.pdf": paper(lines(f"the lantern of {number}")) for number in range(6)}
    folder = _folder(tmp_path, files)

    def interrupt(stage: str, done: int, total: int) -> None:
        if done == 4:
            raise KeyboardInterrupt

    with quintet.open(tmp_path / "index", "hashing", batch_files=2) as index:
        with pytest.raises(KeyboardInterrupt):
            index.sync([folder], progress=interrupt)
        assert index.status().files == 4
        assert index.sync([folder]).indexed == 2
        with quintet.open(tmp_path / "fresh", "hashing") as fresh:
            fresh.sync([folder])
            assert index.status().state_root == fresh.status().state_root


def test_a_document_has_a_size_cap_of_its_own(tmp_path: Path) -> None:
    folder = _folder(tmp_path, {"atlas.pdf": ATLAS, "note.md": b"x" * 600})
    with quintet.open(tmp_path / "index", None, max_file_bytes=500) as index:
        (problem,) = index.sync([folder]).problems
    assert problem.path == "note.md"
    with quintet.open(tmp_path / "other", None, max_document_bytes=500) as index:
        (problem,) = index.sync([folder]).problems
    assert (problem.path, problem.reason.split("; ")[1]) == (
        "atlas.pdf",
        "raise max_document_bytes to index it",
    )


def test_a_missing_library_is_a_problem_of_the_file_that_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The child looks for libraries where PYTHONPATH says first: there, they say that they are not there."""
    absent = tmp_path / "absent"
    for name in ("docx", "pptx", "openpyxl"):
        (absent / name).mkdir(parents=True)
        (absent / name / "__init__.py").write_text(f"raise ModuleNotFoundError('no', name={name!r})")
    monkeypatch.setenv("PYTHONPATH", str(absent))
    files = {"a.docx": word(), "a.pptx": slides(), "a.xlsx": book({"S": []}), "a.pdf": ATLAS}
    with quintet.open(tmp_path / "index", None) as index:
        report = index.sync([_folder(tmp_path, files)])
    assert report.indexed == 1
    assert {problem.path for problem in report.problems} == {"a.docx", "a.pptx", "a.xlsx"}
    assert all("pip install 'quintet[documents]'" in problem.reason for problem in report.problems)


def test_no_library_for_documents_is_loaded_into_the_process_that_indexes(tmp_path: Path) -> None:
    folder = _folder(tmp_path, {"a.pdf": ATLAS, "a.docx": word()})
    code = (
        "import sys, quintet\n"
        f"with quintet.open({str(tmp_path / 'index')!r}, None) as index:\n"
        f"    print(index.sync([{str(folder)!r}]).indexed)\n"
        "print({'docx', 'lxml', 'pypdfium2'} & set(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["2", "set()"]
