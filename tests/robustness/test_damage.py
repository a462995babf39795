"""Damage to any file of an index: the answers are right, or an error of the store says what to do."""

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

import quintet
from quintet.errors import StoreError
from robustness.damage import KNOWN, SEED, answers, damages, make_index, opened, outcome

FEW, MANY = 40, 500


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_index(tmp_path_factory.mktemp("sound"))


@pytest.fixture(scope="module")
def expected(sound: Path) -> dict[str, list[str]]:
    right = {}
    for text_index in ("fts5", "tantivy"):
        with opened(sound, text_index) as index:
            right[text_index] = answers(index)
    return right


@pytest.fixture
def copy(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "copy"))


def bad_outcomes(
    sound: Path, expected: dict[str, list[str]], copy: Path, count: int, seed: int
) -> list[object]:
    outcomes = [(damage, outcome(sound, damage, expected, copy)) for damage in damages(sound, count, seed)]
    print(Counter(result for _, result in outcomes))
    return [one for one in outcomes if one[1] not in KNOWN]


def test_damage_gives_right_answers_or_an_error_of_the_store(
    sound: Path, expected: dict[str, list[str]], tmp_path: Path
) -> None:
    assert bad_outcomes(sound, expected, tmp_path / "copy", FEW, SEED) == []


@pytest.mark.slow
def test_much_damage_gives_right_answers_or_an_error_of_the_store(
    sound: Path, expected: dict[str, list[str]], tmp_path: Path
) -> None:
    assert bad_outcomes(sound, expected, tmp_path / "copy", MANY, SEED + 1) == []


def alter(file: Path, sql: str) -> None:
    connection = apsw.Connection(str(file))
    connection.execute(sql)
    assert connection.changes() > 0
    connection.close()


def search(index: quintet.Index) -> object:
    return index.search("zebra camel", limit=50)


def flip(file: Path, place: int) -> None:
    data = bytearray(file.read_bytes())
    data[place] ^= 1
    file.write_bytes(data)


@pytest.mark.parametrize(
    ("sql", "ask"),
    [
        ("UPDATE documents SET modified_ns = modified_ns + 1", search),
        ("UPDATE documents SET path = replace(path, 'part1', 'parq1')", search),
        (
            "UPDATE documents SET path = replace(path, 'part1', 'parq1')",
            lambda one: one.search("path:part1/**"),
        ),
        ("UPDATE documents SET title = title || 'x'", search),
        ("UPDATE chunks SET sequence = sequence + 1", search),
        ("UPDATE chunks SET document = 1", search),
        ("UPDATE chunks SET name = name || 'x'", search),
        ("UPDATE meta SET value = 'hash-385' WHERE key = 'embedder'", search),
        ("UPDATE roots SET location = location || 'x'", search),
        ("UPDATE symbols SET signature = signature || 'x'", lambda index: index.map()),
        ("UPDATE edges SET line = line + 1", lambda index: index.related("tide_3")),
        ("UPDATE symbols SET outline = 1000", lambda index: index.map()),
    ],
)
def test_a_value_that_is_not_what_was_stored_is_an_error_of_the_store(
    copy: Path, sql: str, ask: Callable[[quintet.Index], object]
) -> None:
    alter(copy / "index.db", sql)
    with pytest.raises(StoreError, match=r"damaged \(.*move it away"), opened(copy) as index:
        ask(index)


@pytest.mark.parametrize("file", ["index.db", "memory.db", "knowledge/shelf/index.db"])
def test_a_broken_vector_is_an_error_of_the_store(copy: Path, file: str) -> None:
    alter(copy / file, "UPDATE vectors SET vector = zeroblob(length(vector)) WHERE row = 3")
    with opened(copy) as index:
        with pytest.raises(StoreError, match="vector 3 is not what was stored"):
            answers(index)
        name = {"index.db": "matrix", "memory.db": "memory"}.get(file, "bases")
        assert name in [check.name for check in index.doctor() if not check.ok]


@pytest.mark.parametrize("file", ["coarse.i8", "rows.f32", "count", "order", "hnsw.json"])
def test_a_damaged_file_of_vectors_is_made_again(
    copy: Path, expected: dict[str, list[str]], file: str
) -> None:
    (folder,) = copy.glob("vectors-*")
    if (folder / file).exists():
        flip(folder / file, 5)
    with opened(copy) as index:
        assert answers(index) == expected["fts5"]


def test_a_file_of_exact_vectors_that_is_damaged_is_never_scored(
    copy: Path, expected: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "quintet.storage.vectors.index.COMPARED", 1
    )  # rows that are compared with the database
    (folder,) = copy.glob("vectors-*")
    flip(folder / "exact.i16", 5)
    with opened(copy) as index, pytest.raises(StoreError, match="delete that folder: it is made again"):
        answers(index)
    shutil.rmtree(folder)
    with opened(copy) as index:
        assert answers(index)[:11] == expected["fts5"][:11]


def test_a_damaged_tantivy_index_is_made_again(copy: Path, expected: dict[str, list[str]]) -> None:
    for file in copy.glob("tantivy-*/*/*"):
        if file.suffix in (".fieldnorm", ".idx") or file.name == "meta.json":
            flip(file, file.stat().st_size // 2)
    with opened(copy, "tantivy") as index:
        assert answers(index) == expected["tantivy"]
