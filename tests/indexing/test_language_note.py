"""A corpus that is mostly not English gets advice, once, in the report."""

from pathlib import Path

import pytest

import quintet
from quintet.embed import load_embedder
from quintet.indexing.embedding import is_foreign
from quintet.testing import FixedEmbedder

ENGLISH = "The cache keeps what it was given for an hour, and then it asks the source for a new copy. " * 3
GERMAN = "Der Zwischenspeicher behält alles eine Stunde lang und fragt danach die Quelle nach neuem. " * 3
CODE = "def total(values):\n    result = 0\n    for value in values:\n        result += value\n" * 5


class EnglishModel(FixedEmbedder):
    english_only = True


def notes(tmp_path: Path, texts: list[str], embedder: object) -> list[str]:
    folder = tmp_path / "notes"
    folder.mkdir()
    for number, text in enumerate(texts):
        (folder / f"{number}.txt").write_text(f"{number} {text}", "utf-8")
    with quintet.open(tmp_path / "index", embedder=embedder) as index:
        return [note["code"] for note in index.sync([folder]).notes]


@pytest.mark.parametrize(
    "text", [GERMAN, "全文検索エンジンの仕組みを説明する。" * 5, "Кэш хранит ответы один час."]
)
def test_prose_of_another_language_is_told_apart(text: str) -> None:
    assert is_foreign(text)


@pytest.mark.parametrize("text", [ENGLISH, CODE, "", "42", "short words"])
def test_english_code_and_scraps_are_not_foreign(text: str) -> None:
    assert not is_foreign(text)


def test_a_corpus_mostly_of_another_language_is_noted(tmp_path: Path) -> None:
    assert notes(tmp_path, [GERMAN, GERMAN, ENGLISH], EnglishModel({}, 4)) == ["not_english"]


def test_an_english_corpus_is_not_noted(tmp_path: Path) -> None:
    assert notes(tmp_path, [ENGLISH, ENGLISH, GERMAN], EnglishModel({}, 4)) == []


def test_a_model_of_any_language_is_not_noted(tmp_path: Path) -> None:
    assert notes(tmp_path, [GERMAN], FixedEmbedder({}, 4)) == []


def test_the_default_model_is_an_english_one() -> None:
    assert getattr(load_embedder("granite"), "english_only", False)
