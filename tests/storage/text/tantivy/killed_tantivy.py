"""Replaces documents until it is killed, and prints a line each time tantivy's index is about to follow."""

import sys
from itertools import count
from pathlib import Path

from quintet.model.documents import Chunk, Document, digest
from quintet.ports.reading import Root
from quintet.ports.writing import Entry
from quintet.storage.sqlite.store import SqliteStore

EACH = 40


def main(folder: Path) -> None:
    store = SqliteStore(folder, text_index="tantivy")
    store.create()
    for number in count():
        with store.writer(0) as writer:
            with writer.batch():
                writer.put_root(Root("docs", "/docs"))
                for at in range(number % 7, EACH * 10, EACH):  # ten documents, some there before
                    document = Document("docs", f"{at}.txt", "", "text/plain", None, 1, 0, "")
                    text = f"same word{number} " * (at % 5 + 1)
                    chunk = Chunk(digest(document.id, str(number)), document.id, 0, text, "", 1, 1)
                    writer.put(Entry(document, (chunk,), 0))
            print(number, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
