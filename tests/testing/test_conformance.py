"""Every implementation of a port passes the suite that ships with the product."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import apsw
import numpy as np
import pytest

from quintet.embed.hashing import HashingEmbedder
from quintet.errors import UsageError
from quintet.model.documents import Chunk, Document, embedding_hash
from quintet.model.vector import quantise
from quintet.ports.reading import Embedder, Root, Rows, TextIndex, VectorIndex
from quintet.ports.writing import Entry
from quintet.settings import CHOICES, load_settings
from quintet.storage.sqlite.store import SqliteSnapshot, SqliteStore
from quintet.storage.text.index import SqliteTextIndex
from quintet.storage.text.tantivy.index import TantivyTextIndex
from quintet.testing import (
    EmbedderSuite,
    FixedEmbedder,
    MemoryVectorIndex,
    TextIndexSuite,
    TextRow,
    VectorIndexSuite,
    VectorRow,
)


class TestHashing(EmbedderSuite):
    def build(self) -> Embedder:
        return HashingEmbedder()


class TestFixed(EmbedderSuite):
    def build(self) -> Embedder:
        return FixedEmbedder({"a cache keeps what was computed": (1.0, 2.0)}, 2)


class TestMemoryVectors(VectorIndexSuite):
    def build(self, rows: Sequence[VectorRow]) -> VectorIndex:
        return MemoryVectorIndex(rows)


class OnSqlite:
    """Builds real stores in a temporary folder."""

    text_index = "fts5"

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> Iterator[None]:
        self.folder = tmp_path
        self.count = 0
        with ExitStack() as self.stack:
            yield

    def snapshot(
        self, rows: Sequence[tuple[Chunk, str, str]], vectors: Sequence[VectorRow] = ()
    ) -> SqliteSnapshot:
        self.count += 1
        store = SqliteStore(self.folder / str(self.count), text_index=self.text_index)
        store.create()
        self.stack.callback(store.close)
        with store.writer(1) as writer, writer.batch():
            writer.put_root(Root("root", "/nowhere"))
            for path in dict.fromkeys(path for _, path, _ in rows):
                mine = [(chunk, title) for chunk, at, title in rows if at == path]
                document = Document("root", path, mine[0][1], "text/plain", None, 1, 1, "", {})
                writer.put(Entry(document, tuple(chunk for chunk, _ in mine), 2))
            if vectors:
                writer.vectors.use_embedder("fixed", len(vectors[0].vector))
                hashes = [embedding_hash("", chunk.heading_path, chunk.content) for chunk, _, _ in rows]
                writer.vectors.put(hashes, quantise([row.vector for row in vectors]))
        return self.stack.enter_context(store.snapshot())

    def rows_of(self, chunk_ids: Sequence[str]) -> Rows:
        connection = apsw.Connection(str(self.folder / str(self.count) / "index.db"))
        rows = dict(connection.execute("SELECT id, row FROM chunks"))
        connection.close()
        return np.array(sorted(rows[chunk_id] for chunk_id in chunk_ids), np.int64)


class TestFts5(OnSqlite, TextIndexSuite):
    def build(self, rows: Sequence[TextRow]) -> TextIndex:
        made = [
            (Chunk(r.chunk_id, "", r.sequence, r.content, r.heading_path, 1, 1), r.path, r.title)
            for r in rows
        ]
        return self.snapshot(made).text


class TestTantivy(TestFts5):
    text_index = "tantivy"


class TestSqliteVectors(OnSqlite, VectorIndexSuite):
    def build(self, rows: Sequence[VectorRow]) -> VectorIndex:
        made = [
            (Chunk(r.chunk_id, "", r.sequence, f"text of {r.chunk_id}", "", 1, 1), r.path, "") for r in rows
        ]
        return self.snapshot(made, rows).vectors


@pytest.mark.requirement("002-PORT-REGISTRATION")
def test_every_text_index_that_can_be_named_passes_the_suite_of_its_port() -> None:
    suites: list[type[OnSqlite]] = [TestFts5, *TestFts5.__subclasses__()]
    assert sorted(suite.text_index for suite in suites) == sorted(CHOICES["text_index"])
    with pytest.raises(UsageError, match="text_index is 'other'; it must be one of: fts5, tantivy"):
        load_settings(Path("/nowhere"), {}, text_index="other")


TEXT_INDEXES = {"fts5": SqliteTextIndex, "tantivy": TantivyTextIndex}


@pytest.mark.requirement("002-PORT-REGISTRATION")
@pytest.mark.parametrize("name", CHOICES["text_index"])
def test_the_name_decides_which_text_index_answers(name: str, tmp_path: Path) -> None:
    store = SqliteStore(tmp_path, text_index=name)
    store.create()
    with store.snapshot() as snapshot:
        assert type(snapshot.text) is TEXT_INDEXES[name]
    store.close()
