"""An index whose first answers wait for its embedding model. After some seconds they are from text alone, and
say so."""

import logging
import threading
import time
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


class LoadingEmbedder:
    """Takes the place of an embedder that is not loaded yet: it has its name, and embeds nothing."""

    def __init__(self, embedder: Embedder) -> None:
        self.identity = embedder.identity
        self.dimensions = embedder.dimensions

    def embed_documents(self, texts: Sequence[str]) -> npt.NDArray[np.generic]:
        return np.zeros((len(texts), self.dimensions))

    def embed_query(self, text: str) -> npt.NDArray[np.generic] | None:
        return None


class WarmIndex:
    """An index and the thread that loads its model. The first search that needs the model starts it.

    Once `loaded` is set, callers may search `index` itself.
    """

    def __init__(self, index: Index) -> None:
        self.index = index
        self.loaded = threading.Event()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._deadline = 0.0  # when hybrid searches stop waiting
        self._text_only: Index | None = None
        if getattr(index.embedder, "kind", None) != LOADED_FIRST:
            self.loaded.set()

    def search(self, query: str, contract: str, params: Mapping[str, Any]) -> Response:
        """Waits for the model, unless its mode needs none. If the model has not loaded `model_seconds` after
        it began to, a hybrid search answers by text alone; a semantic one goes on waiting."""
        chosen = contract_named(contract)
        mode = _mode(chosen, {**self.index.settings.contracts.get(chosen.name, {}), **params})
        if mode not in TEXT_ONLY and not self.loaded.is_set():
            self.load()
            left = None if mode == "semantic" else max(0.0, self._deadline - time.monotonic())
            if not self.loaded.wait(left):
                return self._search_text(query, contract, params)
        return self.index.search(query, contract, **params)

    def search_with_receipt(self, query: str, contract: str, params: Mapping[str, Any]) -> Response:
        """Waits for the model: a receipt must be of a whole answer."""
        response, receipt = self.wait().receipts.search(query, contract, **params)
        return replace(response, receipt=receipt)

    def wait(self) -> Index:
        """The index, once its model is loaded."""
        self.load()
        self.loaded.wait()
        return self.index

    def _search_text(self, query: str, contract: str, params: Mapping[str, Any]) -> Response:
        assert self._text_only is not None
        response = self._text_only.search(query, contract, **params)
        notes = [LOADING if note["code"] == "embedder_missing" else note for note in response.notes]
        return replace(response, notes=notes)

    def load(self) -> None:
        """Start to load the model, unless that has been done."""
        embedder = self.index.embedder
        with self._starting:
            if embedder is None or self._thread is not None or self.loaded.is_set():
                return
            self._deadline = time.monotonic() + self.index.settings.model_seconds
            self._text_only = quintet.open(self.index.folder, LoadingEmbedder(embedder), create=False)
            self._thread = threading.Thread(
                target=self._load, args=[embedder], name="quintet-load", daemon=True
            )
            self._thread.start()

    def _load(self, embedder: Embedder) -> None:
        try:
            embedder.embed_query("warm")
        except QuintetError as error:  # the next search fails in the same way and notes it
            log.warning("the embedding model could not be loaded: %s", error.code)
        finally:
            self.loaded.set()

    def close(self) -> None:
        if self._thread is not None:
            self._thread.join()
        if self._text_only is not None:
            self._text_only.close()
        self.index.close()


def _mode(contract: Contract, params: Mapping[str, object]) -> object:
    """The mode of a search, under either of its names; by default that of the contract."""
    name = contract.mode or "mode"
    default = next((field.default for field in fields(contract.parameters) if field.name == name), None)
    return params.get("mode", params.get(name, default))
