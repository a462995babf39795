"""Other accounts of the machine cannot read an index, whatever the umask says."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

import quintet
from quintet.serving.keys import Keys

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no such modes")


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=oct)
def _umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def open_places(folder: Path) -> dict[str, str]:
    places = {place: stat.S_IMODE(place.lstat().st_mode) for place in (folder, *folder.rglob("*"))}
    return {str(place.relative_to(folder)): oct(mode) for place, mode in places.items() if mode & 0o077}


def notes(folder: Path, count: int) -> Path:
    folder.mkdir()
    for number in range(count):
        (folder / f"{number}.md").write_text(f"# Note {number}\n\nprose about topic{number}\n", "utf-8")
    return folder


@pytest.mark.usefixtures("_umask")
@pytest.mark.parametrize("text_index", ["fts5", "tantivy"])
def test_every_file_and_folder_of_an_index_is_its_owners_alone(tmp_path: Path, text_index: str) -> None:
    folder = tmp_path / "index"
    folder.mkdir()  # empty, and open to everybody
    with quintet.open(folder, embedder="hashing", text_index=text_index) as index:
        index.sync([notes(tmp_path / "notes", 600)])  # enough for a file of postings
        index.search("prose")
        index.build_hnsw()
        index.memory.remember("the owner alone reads this")
        base = index.knowledge.create("shelf")
        base.put_file(b"# Upload\n\nprivate words", "upload.md")
        base.sync_source(base.add_source(str(tmp_path / "notes"))["id"])
        Keys(folder).add("reader", "read")
        while_open = {place.name for place in folder.rglob("*")}
        assert open_places(folder) == {}
    assert {"index.db", "index.db-wal", "index.db-shm", "memory.db", "base.json", "files"} <= while_open
    assert any(name.startswith("hnsw-") for name in while_open)
    assert any(name.endswith("meta.json" if text_index == "tantivy" else ".postings") for name in while_open)
    assert open_places(folder) == {}


def test_the_doctor_finds_an_index_that_others_can_read_and_repairs_it(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    with quintet.open(folder, embedder=None) as index:
        index.sync([notes(tmp_path / "notes", 3)])
        folder.chmod(0o755)
        (folder / "index.db").chmod(0o644)
        outside = tmp_path / "outside"
        outside.write_text("not ours", "utf-8")
        outside.chmod(0o644)
        (folder / "link").symlink_to(outside)
        (found,) = (check for check in index.doctor() if not check.ok)
        assert found.name == "access"
        assert f"other accounts have access to {folder} and 1 more" in found.message
        assert all(check.ok for check in index.doctor(fix=True))
        assert all(check.ok for check in index.doctor())
    assert stat.S_IMODE(outside.stat().st_mode) == 0o644
    assert stat.S_IMODE((folder / "index.db").stat().st_mode) == 0o600
