"""A folder swapped for a link out of the root is never read through, whenever that happens."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

import quintet
from quintet.errors import QuintetError
from quintet.formats.decoding import UnreadableFile
from quintet.http.source_file import open_file
from quintet.indexing import no_links, watch
from quintet.indexing.read import read_file
from quintet.indexing.roots import GivenPath
from quintet.indexing.run import Report
from robustness.swaps import SECRET, Tree, make_swappable, swap_at_every_moment

LEAK = f"{SECRET} words"
ROUNDS = 1000


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return make_swappable(tmp_path)


@pytest.fixture
def index(tmp_path: Path) -> Iterator[quintet.Index]:
    with quintet.open(tmp_path / "index", embedder=None) as index:
        yield index


@pytest.fixture(params=["by descriptors", "checked before and after"])
def _both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on most systems, and as on those that cannot open a file inside an open folder."""
    monkeypatch.setattr(no_links, "DESCRIPTORS", request.param == "by descriptors")


@pytest.mark.usefixtures("_both_ways")
def test_no_moment_of_a_read_leads_outside(tree: Tree) -> None:
    contents: list[str] = []

    def read() -> None:
        with suppress(UnreadableFile):
            contents.append(read_file(tree.root / "sub/inner/file.md", 100).text)

    assert swap_at_every_moment(tree, read, lambda: None) >= 1
    assert set(contents) == {"harmless words\n"}


@pytest.mark.usefixtures("_both_ways")
def test_no_moment_of_an_index_run_takes_in_what_is_outside(tree: Tree, index: quintet.Index) -> None:
    def run() -> None:
        with suppress(QuintetError):
            index.sync([str(tree.root)], force=True)

    def check() -> None:
        assert index.search(SECRET).body["results"] == []
        assert [root.location for root in index.roots()] == [str(tree.root)]

    assert swap_at_every_moment(tree, run, check) >= 4


def test_no_moment_of_a_source_sync_takes_in_what_is_outside(tree: Tree, index: quintet.Index) -> None:
    base = index.knowledge.create("shelf")
    source = base.add_source(str(tree.root))["id"]
    file = tree.root / "sub/inner/file.md"

    def run() -> None:
        with suppress(QuintetError):
            base.sync_source(source)

    def check() -> None:
        assert LEAK not in json.dumps(base.search("words", search_method="keyword").body)
        tree.restore()
        file.write_text(file.read_text("utf-8") + "more words\n", "utf-8")

    assert swap_at_every_moment(tree, run, check) >= 4


def test_no_moment_of_a_request_for_a_source_file_sends_another_one(tree: Tree, index: quintet.Index) -> None:
    base = index.knowledge.create("shelf")
    base.sync_source(base.add_source(str(tree.root))["id"])
    (document,) = base.documents()
    sent: list[bytes] = []

    def request() -> None:
        with suppress(QuintetError):
            opened = open_file(base.source_file(document["id"]))
            sent.append(opened.file.read())
            opened.file.close()

    assert swap_at_every_moment(tree, request, lambda: None) >= 1
    assert set(sent) == {b"harmless words\n"}


def test_a_changed_folder_that_became_a_link_before_its_sync_makes_no_root_elsewhere(
    tree: Tree, index: quintet.Index
) -> None:
    index.sync([str(tree.root)])

    class Watched:
        folder, roots = index.folder, index.roots

        def sync(self, paths: Sequence[GivenPath] | None = None) -> Report:
            tree.swap()  # after the watcher has looked at the path
            return index.sync(paths)

    reports: list[Report] = []
    assert watch._sync(Watched(), [str(tree.root / "sub")], reports.append)
    assert [root.location for root in index.roots()] == [str(tree.root)]
    assert index.search(SECRET).body["results"] == []


def test_a_root_that_became_a_link_is_a_problem_and_keeps_its_documents(
    tree: Tree, index: quintet.Index
) -> None:
    index.sync([str(tree.root)])
    tree.root.rename(tree.root.parent / "moved")
    tree.root.symlink_to(tree.outside)
    report = index.sync()
    assert [problem.reason for problem in report.problems] == [
        "the folder of this root is behind a link now; restore it, or run 'quintet forget' on it"
    ]
    assert len(index.search("harmless").body["results"]) == 1
    assert index.search(SECRET).body["results"] == []


RACER = """
import os, sys
root, outside = sys.argv[1:]
sub, kept, link = f"{root}/sub", f"{root}-kept", f"{root}-link"
os.symlink(outside, link)
print("ready", flush=True)
parent = os.getppid()
while os.getppid() == parent:
    for before, after in ((sub, kept), (link, sub), (sub, link), (kept, sub)):
        os.rename(before, after)
"""


@pytest.mark.slow
def test_a_thousand_rounds_against_a_process_that_swaps_leak_nothing(
    tree: Tree, index: quintet.Index
) -> None:
    base = index.knowledge.create("shelf")
    source = base.add_source(str(tree.root))["id"]
    base.sync_source(source)
    document = base.documents()[0]["id"]
    index.sync([str(tree.root)])
    racer = subprocess.Popen(
        [sys.executable, "-c", RACER, str(tree.root), str(tree.outside)], stdout=subprocess.PIPE, text=True
    )
    assert racer.stdout is not None
    assert racer.stdout.readline() == "ready\n"
    leaks, inside = 0, 0
    try:
        for _ in range(ROUNDS):
            with suppress(QuintetError):
                opened = open_file(base.source_file(document))
                data = opened.file.read()
                opened.file.close()
                leaks += LEAK.encode() in data
                inside += b"harmless" in data
            with suppress(QuintetError):
                index.sync(force=True)
            leaks += bool(index.search(SECRET).body["results"])
            with suppress(QuintetError):
                base.sync_source(source)
            leaks += LEAK in json.dumps(base.search("words", search_method="keyword").body)
    finally:
        racer.kill()
        racer.wait()
        racer.stdout.close()
    assert leaks == 0
    assert inside > 0, "the swapping process never let anything be read"
