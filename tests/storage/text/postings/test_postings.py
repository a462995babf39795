"""Segments: words are found, the parts of one make the same as the whole, a file gives back what it got."""

from pathlib import Path

import apsw
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintet.storage.sqlite.catalog import State
from quintet.storage.text.analysis import Tokenizer, cut, encoded, tokenizer
from quintet.storage.text.postings.build import ChunkText, coded, segments
from quintet.storage.text.postings.file import Spill, read, read_state, write
from quintet.storage.text.postings.merge import SegmentStream, flow, merged
from quintet.storage.text.postings.score import PostingsView, weighed
from quintet.storage.text.postings.segment import Bool, Segment, Terms, arrays
from quintet.storage.text.postings.tokens import FIELD_BITS, TokenCollector

STATE = State("one", 7, "tag")
TERM = st.sampled_from(["run", "runs", "running", "fox", "über", "x" * 300])
FIELD = st.lists(TERM, max_size=6).map(" ".join)
Chunks = list[tuple[int, str, str, str, str]]
CHUNKS: st.SearchStrategy[Chunks] = st.lists(
    st.tuples(st.integers(0, 5), FIELD, FIELD, FIELD, FIELD), max_size=12
)


@pytest.fixture(scope="module")
def way() -> Tokenizer:
    return tokenizer(apsw.Connection(":memory:"))


def _texts(chunks: Chunks) -> list[ChunkText]:
    return [
        ChunkText(row, bytes([document]) * 15 + b"\0", (content, heading, title), (parts, "", ""))
        for row, (document, content, heading, title, parts) in enumerate(chunks, start=3)
    ]


def _built(texts: list[ChunkText], way: Tokenizer) -> Segment:
    return merged([(one, None) for one in segments(texts, way)])


def _same(one: Segment, other: Segment) -> bool:
    pairs = zip(arrays(one), arrays(other), strict=True)
    return all(name == again and np.array_equal(left, right) for (name, left), (again, right) in pairs)


@given(st.sets(st.text("aäz東", min_size=1, max_size=12)), st.text("aäz東", min_size=1, max_size=12))
def test_a_word_is_found_by_its_number_or_not_at_all(several: set[str], other: str) -> None:
    sorted_words = sorted(word.encode() for word in several)
    terms = Terms.of(sorted_words)
    assert terms.find(sorted_words) == list(range(len(several)))
    assert terms.words() == sorted_words
    expected = sorted_words.index(other.encode()) if other in several else -1
    assert terms.find([other.encode()]) == [expected]


@given(chunks=CHUNKS, gone=st.lists(st.booleans(), min_size=12, max_size=12), at=st.integers(0, 12))
def test_segments_merged_without_the_dead_are_the_segment_of_the_living(
    way: Tokenizer, chunks: Chunks, gone: list[bool], at: int
) -> None:
    texts = _texts(chunks)
    dead = [one for one, is_gone in zip(texts, gone, strict=False) if is_gone]
    several: list[tuple[Segment, Bool | None]] = []
    for some in (texts[at:], texts[:at]):
        several.append((_built(some, way), np.array([one not in dead for one in some], np.bool_)))
    assert _same(merged(several), _built([one for one in texts if one not in dead], way))


@given(chunks=CHUNKS, at_once=st.integers(1, 30), slices=st.integers(1, 20))
def test_a_file_built_in_many_small_lots_is_byte_for_byte_that_of_one(
    way: Tokenizer, tmp_path_factory: pytest.TempPathFactory, chunks: Chunks, at_once: int, slices: int
) -> None:
    folder = tmp_path_factory.mktemp("lots")
    write(folder / "one", STATE, SegmentStream.of(_built(_texts(chunks), way)))
    with pytest.MonkeyPatch.context() as patch, Spill(folder) as spill:
        patch.setattr("quintet.storage.text.postings.build.AT_ONCE", at_once)
        patch.setattr("quintet.storage.text.postings.tokens.AT_ONCE", 9)
        patch.setattr("quintet.storage.text.postings.build.FEW", 1)
        patch.setattr("quintet.storage.text.postings.merge.AT_ONCE", slices)
        write(folder / "many", STATE, flow([spill.put(one) for one in segments(_texts(chunks), way)]))
    assert (folder / "many").read_bytes() == (folder / "one").read_bytes()
    assert sorted(file.name for file in folder.iterdir()) == ["many", "one"]


ASCII = st.text(st.characters(max_codepoint=127), max_size=40)
ANY = st.one_of(ASCII, st.text("aZ09 -_éß東\u0301", max_size=40), st.sampled_from(["x" * 40_000, "Q" * 17]))


@given(st.lists(st.tuples(ANY, ANY, ANY), max_size=8), st.integers(0, 60), st.integers(0, 4))
def test_tokens_are_those_of_sqlite_wherever_they_stand(
    way: Tokenizer, chunks: list[tuple[str, str, str]], at_once: int, slot_bits: int
) -> None:
    """Also where words share a slot, and where some of them wait for others to be numbered with."""
    texts = [tuple(text.replace("\0", " ") for text in chunk) for chunk in chunks]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("quintet.storage.text.postings.tokens.AT_ONCE", at_once)
        patch.setattr("quintet.storage.text.postings.tokens.SLOT_BITS", slot_bits)
        reader = TokenCollector(way)
        for chunk in texts:
            reader.add(chunk)
        found, tokens, lengths, content_lengths = reader.read()
    expected = [
        (encoded(cut(token)), (number << FIELD_BITS) | field)
        for number, chunk in enumerate(texts)
        for field, text in enumerate(chunk)
        for token in way.tokens(text)
    ]
    pairs = zip(tokens.terms.tolist(), tokens.places.tolist(), strict=True)
    assert sorted((found[term], place) for term, place in pairs) == sorted(expected)
    assert found == sorted({word for word, _ in expected})
    assert lengths.tolist() == [sum(len(way.tokens(text)) for text in chunk) for chunk in texts]
    assert content_lengths.tolist() == [len(way.tokens(content)) for content, *_ in texts]


def test_every_lot_holds_a_bounded_number_of_tokens(way: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quintet.storage.text.postings.build.AT_ONCE", 10)
    texts = _texts([(number % 3, "run fox", "runs", "", "x") for number in range(20)])
    lots = list(segments(texts, way))
    assert [len(lot) for lot in lots] == [3] * 6 + [2]
    assert _same(merged([(lot, None) for lot in lots]), merged([(lot, None) for lot in reversed(lots)]))


@pytest.mark.parametrize("accent", ["", "é"])
def test_more_words_than_are_counted_at_once_are_in_order(
    way: Tokenizer, monkeypatch: pytest.MonkeyPatch, accent: str
) -> None:
    """Text that is not ASCII is read before the rest, so its tokens do not come by place."""
    monkeypatch.setattr("quintet.storage.text.postings.tokens.AT_ONCE", 1_000_000)
    spelt = [f"{number * 7_919 % 70_001:x}" for number in range(70_001)]  # every number once, in no order
    chunks = [spelt[at::4] + ["often"] * at for at in range(4)]
    contents = [" ".join(chunk) + accent * (at % 2) for at, chunk in enumerate(chunks)]
    expected: dict[bytes, list[int]] = {}
    for at, content in enumerate(contents):
        for token in way.tokens(content):
            expected.setdefault(encoded(token), []).append(at)
    (lot,) = segments(_texts([(0, content, "", "", "") for content in contents]), way)
    each = np.repeat(lot.text.chunks, lot.text.counts()[:, 0])
    assert lot.text.terms.words() == sorted(expected)
    assert each.tolist() == [at for word in sorted(expected) for at in expected[word]]


@pytest.mark.parametrize("tag", [f"{'t' * length}" for length in range(64)])
def test_a_file_is_whole_wherever_its_header_ends(way: Tokenizer, tmp_path: Path, tag: str) -> None:
    """Arrays are laid out before their checksums are known, and moved if the header turns out shorter."""
    segment = _built(_texts([(1, "run fox", "", "runs", "x"), (2, "", "über", "", "")]), way)
    write(tmp_path / "a.postings", State("one", 7, tag), SegmentStream.of(segment))
    state, again = read(tmp_path / "a.postings") or pytest.fail("not readable")
    assert state.tag == tag and _same(segment, again)
    assert (tmp_path / "a.postings").stat().st_size % 64 == 0


def test_counts_whose_product_exceeds_32_bits_are_kept_apart() -> None:
    counts = np.array([[70_000, 70_000, 3], [70_000, 69_999, 3], [0, 0, 3]], np.int32)
    codes, triples = coded(counts)
    assert triples[codes].tolist() == counts.tolist()


def test_a_file_gives_back_the_segment_it_was_made_of(way: Tokenizer, tmp_path: Path) -> None:
    segment = _built(_texts([(1, "run fox", "", "runs", "x"), (2, "", "über", "", "")]), way)
    write(tmp_path / "a.postings", STATE, SegmentStream.of(segment))
    state, again = read(tmp_path / "a.postings") or pytest.fail("not readable")
    assert state == read_state(tmp_path / "a.postings") == STATE
    assert _same(segment, again)
    write(tmp_path / "b.postings", STATE, SegmentStream.of(again))
    assert (tmp_path / "b.postings").read_bytes() == (tmp_path / "a.postings").read_bytes()


def test_any_byte_that_is_changed_makes_a_file_none(way: Tokenizer, tmp_path: Path) -> None:
    file = tmp_path / "a.postings"
    write(file, STATE, SegmentStream.of(_built(_texts([(1, "run fox", "", "runs", "x")]), way)))
    whole = file.read_bytes()
    for at in range(0, len(whole), 7):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        assert read(file) is None or not whole[at], "only padding between arrays is read by nobody"
    for size in range(0, len(whole) - 64, 50):
        file.write_bytes(whole[:size])
        assert read(file) is None


def test_weights_are_added_once_an_occurrence_as_fts5_does() -> None:
    triples = np.array([[10, 0, 0], [0, 2, 1], [0, 0, 0], [200, 1, 0]], np.int32)
    tenths = 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1
    assert weighed(triples, (0.1, 0.2, 0.3)).tolist()[:3] == [tenths, 0.2 + 0.2 + 0.3, 0.0]
    assert tenths != 10 * 0.1
    assert weighed(triples, (1.0, 2.0, 4.0)).tolist() == [10.0, 8.0, 0.0, 202.0]


def test_an_empty_view_finds_nothing(way: Tokenizer) -> None:
    for several in ([], [(_built([], way), None)]):
        view = PostingsView(STATE, several)
        assert view.size == view.live == 0
        assert view.numbers(np.array([1, 2], np.int64)).tolist() == [-1, -1]
        assert view.postings("text", [b"fox"]) == [[]]


def test_a_token_is_cut_where_fts5_cuts_it() -> None:
    assert cut("short") == "short"
    assert cut("é" * 20_000) == "é" * 16_384
    assert len(cut("x" + "é" * 20_000).encode("utf-8", "surrogateescape")) == 32_768
