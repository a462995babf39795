"""An index that answers at once: while its model loads, from text alone, and says so."""

import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

import quintet
from quintet.contracts import Contract, contract_named
from quintet.errors import QuintetError
from quintet.index import Index
from quintet.model.results import Note
from quintet.ports.reading import Embedder
from quintet.query.search import Response

LOADED_FIRST = "canonical"  # the kind of embedder that reads weights before its first answer
TEXT_ONLY = ("lexical", "keyword")
LOADING: Note = {
    "code": "embedder_loading",
    "message": "the embedding model is still loading, so only text was searched; ask again in a moment",
}

log = logging.getLogger(__name__)


class Absent:
    """Stands where an embedder will be: its name, and no embedding for anything."""

    def __init__(self, embedder: Embedder) -> None:
        self.identity = embedder.identity
        self.dimensions = embedder.dimensions

    def embed_documents(self, texts: Sequence[str]) -> npt.NDArray[np.generic]:
        return np.zeros((len(texts), self.dimensions))

    def embed_query(self, text: str) -> npt.NDArray[np.generic] | None:
        return None


class Ready:
    """Searches an index; the first search that needs the model starts loading it in a thread."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._loaded = threading.Event()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._text: Index | None = None
        if getattr(index.embedder, "kind", None) != LOADED_FIRST:
            self._loaded.set()

    def witnessed(self, query: str, contract: str, params: Mapping[str, Any]) -> Response:
        """With a receipt, which must not be of half an answer: it waits for the model."""
        response, receipt = self.whole().receipts.search(query, contract, **params)
        return replace(response, receipt=receipt)

    def whole(self) -> Index:
        """The index, once its model is loaded."""
        self.load()
        self._loaded.wait()
        return self._index

    def search(self, query: str, contract: str, params: Mapping[str, Any]) -> Response:
        found = contract_named(contract)
        mode = _mode(found, {**self._index.settings.contracts.get(found.name, {}), **params})
        if mode not in TEXT_ONLY and not self._loaded.is_set():
            self.load()
            if mode != "semantic":
                return self._search_text(query, contract, params)
            self.whole()  # without vectors there would be nothing to answer with
        return self._index.search(query, contract, **params)

    def _search_text(self, query: str, contract: str, params: Mapping[str, Any]) -> Response:
        assert self._text is not None
        response = self._text.search(query, contract, **params)
        notes = [LOADING if note["code"] == "embedder_missing" else note for note in response.notes]
        return replace(response, notes=notes)

    def load(self) -> None:
        """Begin to load the model, if that has not been done."""
        embedder = self._index.embedder
        with self._starting:
            if embedder is None or self._thread is not None or self._loaded.is_set():
                return
            self._text = quintet.open(self._index.folder, Absent(embedder), create=False)
            self._thread = threading.Thread(
                target=self._load, args=[embedder], name="quintet-load", daemon=True
            )
            self._thread.start()

    def _load(self, embedder: Embedder) -> None:
        try:
            embedder.embed_query("warm")
        except QuintetError as error:  # the next search meets it again and notes it as a failed leg
            log.warning("the embedding model could not be loaded: %s", error.code)
        finally:
            self._loaded.set()

    def close(self) -> None:
        if self._thread is not None:
            self._thread.join()
        if self._text is not None:
            self._text.close()
        self._index.close()


def _mode(contract: Contract, params: Mapping[str, object]) -> object:
    """What the caller asks for, whichever way it is spelt; by default what the contract says."""
    spelt = contract.mode or "mode"
    default = next((one.default for one in fields(contract.parameters) if one.name == spelt), None)
    return params.get("mode", params.get(spelt, default))
