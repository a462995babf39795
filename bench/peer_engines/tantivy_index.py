"""tantivy, bare: one text field with its default analyzer, OR of the words."""

from pathlib import Path
from typing import Any

import tantivy

from . import Given, Peer, words


class Tantivy(Peer):
    modes = ("lexical",)
    note = "bare: ids only, the text is not kept"

    def build(self, folder: Path, given: Given) -> dict[str, float]:
        schema = tantivy.SchemaBuilder()
        schema.add_text_field("text")
        schema.add_unsigned_field("id", stored=True)
        index = tantivy.Index(schema.build(), path=str(folder))
        writer = index.writer()
        for number, text in zip(given.ids, given.texts, strict=True):
            writer.add_document(tantivy.Document(id=number, text=text))
        writer.commit()
        writer.wait_merging_threads()
        return {}

    def open(self, folder: Path, queries: Any) -> None:
        self._index = tantivy.Index.open(str(folder))
        self._searcher: Any = self._index.searcher()

    def lexical(self, text: str, k: int) -> list[int]:
        query = self._index.parse_query(" ".join(words(text.lower())), ["text"])
        found = self._searcher.search(query, k, count=False).hits
        return [self._searcher.doc(address).get_first("id") for _, address in found]
