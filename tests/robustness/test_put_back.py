"""A database put back from a copy: nothing that was made of its other future is taken for its own."""

from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest

import quintet
from quintet.storage.vectors import index as vectors


class Project:
    """Notes, their index, and a copy of its database."""

    def __init__(self, place: Path) -> None:
        self.notes, self.index, self._kept = place / "notes", place / "index", place / "kept.db"
        self.notes.mkdir()

    def write(self, **texts: str) -> None:
        for name, text in texts.items():
            (self.notes / f"{name}.md").write_text(text, "utf-8")

    def open(self) -> quintet.Index:
        return quintet.open(self.index, embedder="hashing")

    def sync(self) -> None:
        """By a process of its own, as far as the store can tell."""
        with self.open() as index:
            index.sync([self.notes])
            index.search("anything")

    def keep(self) -> None:
        self._copied(self.index / "index.db", self._kept)

    def put_back(self) -> None:
        """By SQLite itself, so that whoever has it open sees it too."""
        self._copied(self._kept, self.index / "index.db")

    @staticmethod
    def _copied(source: Path, target: Path) -> None:
        with (
            closing(apsw.Connection(str(source))) as one,
            closing(apsw.Connection(str(target))) as other,
            other.backup("main", one, "main") as backup,
        ):
            backup.step()


def paths(index: quintet.Index, query: str, mode: str) -> list[str]:
    found: Any = index.search(query, mode=mode).body["results"]
    return [one["path"] for one in found if mode == "lexical" or one["score"] > 0.99]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_a_vector_that_is_another_than_before_is_noticed_among_many_that_are_not(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "COMPARED", 2)  # rows before the last
    project.write(first="alpha")
    project.sync()
    project.keep()
    project.write(**{f"later{number}": f"text number{number}" for number in range(9)})
    project.sync()
    project.put_back()
    project.write(later0="zebras in the zoo")
    project.sync()
    with project.open() as index:
        assert paths(index, "zebras in the zoo", "semantic") == ["later0.md"]
        assert all(check.ok for check in index.doctor())


def test_a_vector_that_was_dropped_before_anybody_read_it_is_there_again(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "COMPARED", 1)
    project.write(dropped="zebras in the zoo", kept="alpha")
    with project.open() as index:
        index.sync([project.notes])  # and no search, so that no matrix is made
    project.keep()
    (project.notes / "dropped.md").unlink()
    project.write(**{f"later{number}": f"text number{number}" for number in range(9)})
    project.sync()
    project.put_back()
    with project.open() as index:
        assert paths(index, "zebras in the zoo", "semantic") == ["dropped.md"]


def test_a_graph_of_other_vectors_is_not_used(project: Project) -> None:
    project.write(first="alpha")
    project.sync()
    project.keep()
    project.write(others="\n\n".join(f"# T{number}\n\nword{number}" for number in range(9)))
    project.sync()
    with project.open() as index:
        index.build_hnsw()
    project.put_back()
    with project.open() as index:
        index.search("alpha")
    project.write(others="\n\n".join(f"# T{number}\n\nanother{number}" for number in range(9)))
    project.sync()
    with project.open() as index, index._store.snapshot() as snapshot:
        assert snapshot.vectors.approximation is None


def test_whoever_has_the_index_open_meanwhile_sees_what_is_there_now(project: Project) -> None:
    project.write(first="alpha")
    project.sync()
    project.keep()
    asked = "zebra stripes"
    with project.open() as index:
        (project.notes / "x.py").write_text("def elephant():\n    return trunk()\n", "utf-8")
        index.sync()
        before = index.status()
        assert paths(index, asked, "lexical") == paths(index, asked, "semantic") == []
        assert index.related("elephant").start.name == "elephant"
        project.put_back()
        (project.notes / "x.py").unlink()
        (project.notes / "y.py").write_text("def zebra():\n    return stripes()\n", "utf-8")
        project.write(z=asked)
        project.sync()
        assert index.status().generation == before.generation
        assert index.status().files == 3
        assert "z.md" in paths(index, asked, "lexical")
        assert paths(index, asked, "semantic") == ["z.md"]
        assert index.related("zebra").start.name == "zebra"


def test_a_search_of_an_earlier_state_leaves_the_matrix_of_a_later_one_alone(project: Project) -> None:
    project.write(first="alpha", other="beta")
    project.sync()
    query = np.full(384, 1_000, np.int16)
    with project.open() as early, early._store.snapshot() as snapshot:
        snapshot.catalog.counts()
        with project.open() as index:
            index.reembed("hashing")
            index.search("alpha")
            (later,) = (place for place in project.index.glob("vectors-*") if is_of(index, place))
        assert len(snapshot.vectors.search(query, 5)) == 2
        assert (later / "count").exists()


def is_of(index: quintet.Index, matrix: Path) -> bool:
    with index._store.snapshot() as snapshot:
        snapshot.vectors.search(np.full(384, 1_000, np.int16), 1)
        return snapshot.vectors._view.matrix.folder == matrix
