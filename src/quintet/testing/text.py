"""The text index's suite."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from quintet.model.results import Hit
from quintet.model.text_query import TextQuery
from quintet.ports.reading import Rows, TextIndex


@dataclass(frozen=True, slots=True)
class TextRow:
    """A chunk as a text index sees it."""

    chunk_id: str
    path: str
    sequence: int
    content: str
    heading_path: str = ""
    title: str = ""


class TextIndexSuite:
    """Subclass and define `build`."""

    ROWS = (
        TextRow("a", "b.md", 0, "The cache keeps results for an hour."),
        TextRow("b", "a.md", 0, "Nothing to see here.", "Operations > Cache", "Guide"),
        TextRow("c", "c.md", 1, "def getUserName(): return cached_value"),
        TextRow("d", "c.md", 0, "全文検索エンジンの仕組み"),
        TextRow("e", "d.md", 0, "local-first software, written in C++"),
        TextRow("f", "e.md", 0, "same words here"),
        TextRow("g", "d.md", 1, "same words here"),
        TextRow("h", "f.md", 0, "使用Python编写"),
    )

    def build(self, rows: Sequence[TextRow]) -> TextIndex:
        raise NotImplementedError

    def rows_of(self, chunk_ids: Sequence[str]) -> Rows:
        """Which rows these chunks have in what was built last, ascending."""
        numbers = {row.chunk_id: at for at, row in enumerate(self.ROWS, start=1)}
        return np.array(sorted(numbers[chunk_id] for chunk_id in chunk_ids), np.int64)

    def found(self, query: TextQuery, depth: int = 10, within: Sequence[str] | None = None) -> list[Hit]:
        index = self.build(self.ROWS)
        rows = None if within is None else self.rows_of(within)
        return index.search(query, depth, rows)

    def ids(self, *terms: str, **options: bool) -> list[str]:
        return [hit.chunk_id for hit in self.found(TextQuery(terms, **options))]  # type: ignore[arg-type]

    def test_a_word_is_found_in_content_heading_and_title(self) -> None:
        assert set(self.ids("cache")) == {"a", "b"}
        assert self.ids("guide") == ["b"]

    def test_scores_fall_and_are_the_negated_raw(self) -> None:
        hits = self.found(TextQuery(("cache", "hour")))
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        assert all(hit.raw == -hit.score for hit in hits)

    def test_equal_scores_go_by_path_even_over_the_cut(self) -> None:
        assert [hit.chunk_id for hit in self.found(TextQuery(("same",)), 1)] == ["g"]
        assert self.ids("same") == ["g", "f"]

    def test_a_term_with_punctuation_is_a_phrase(self) -> None:
        assert self.ids("local-first") == ["e"]
        assert self.ids("first-local") == []

    def test_required_phrases_must_all_be_there(self) -> None:
        query = TextQuery(("cache",), ("same words",), phrases_required=True)
        assert self.found(query) == []

    def test_cjk_is_found_by_any_part_of_two_characters(self) -> None:
        for part in ("検索", "索エ", "エンジン", "仕組み", "全文検索エンジンの仕組み"):
            assert self.ids(part) == ["d"]
        assert self.ids("検エ") == []

    def test_among_words_cjk_is_as_rare_as_it_is_among_all_chunks(self) -> None:
        words = [TextRow(f"w{at}", f"{at:02d}.md", 0, f"a name and number {at}") for at in range(20)]
        index = self.build(
            [*words, TextRow("c", "c.md", 0, "缓存策略与过期时间"), TextRow("j", "j.md", 0, "検索")]
        )
        hits = index.search(TextQuery(("缓存", "name"), stems=True, parts=True), 3)
        assert [hit.chunk_id for hit in hits][:1] == ["c"]

    def test_a_word_glued_to_cjk_is_a_word(self) -> None:
        assert self.ids("python") == ["h"]

    def test_identifiers_are_found_by_their_parts_where_asked(self) -> None:
        assert self.ids("user", parts=True) == ["c"]
        assert self.ids("user") == []
        assert self.ids("get_user_name", parts=True) == ["c"]

    def test_weights_of_fields_apply_to_whatever_was_found_there(self) -> None:
        """Words, phrases, parts of identifiers and CJK, each once in the content and once in a heading."""
        for row, terms in (
            ("c", ("cached_value",)),
            ("c", ("user",)),
            ("c", ("userName",)),
            ("d", ("検索",)),
        ):
            moved = next(candidate for candidate in self.ROWS if candidate.chunk_id == row)
            heading = TextRow("z", "z.md", 0, "of no use", moved.content)
            index = self.build((*self.ROWS, heading))
            for field, unweighted in (("content", row), ("heading_path", "z")):
                query = TextQuery(terms, parts=True, field_weights=((field, 0.0),))
                scores = {hit.chunk_id: hit.score for hit in index.search(query, 10)}
                assert scores.keys() == {row, "z"} and scores.pop(unweighted) == 0.0 < min(scores.values())

    def test_with_stems_weights_of_fields_apply_to_words_alone(self) -> None:
        index = self.build(self.ROWS)
        phrase = TextQuery((), ("user name", "検索"), stems=True, parts=True)
        assert index.search(replace(phrase, field_weights=(("content", 0.0),)), 10) == index.search(
            phrase, 10
        )
        word = TextQuery(("hours",), stems=True, field_weights=(("content", 0.0),))
        assert [(hit.chunk_id, hit.score) for hit in index.search(word, 10)] == [("a", 0.0)]

    def test_weights_of_one_change_nothing(self) -> None:
        index = self.build(self.ROWS)
        ones = (("content", 1.0), ("heading_path", 1.0), ("title", 1.0))
        for terms in (("cache", "user"), ("getUserName",), ("検索", "guide")):
            plain, weighed = TextQuery(terms, parts=True), TextQuery(terms, parts=True, field_weights=ones)
            assert index.search(weighed, 10) == index.search(plain, 10)

    def test_a_filter_is_applied_before_the_cut(self) -> None:
        hits = self.found(TextQuery(("same",)), 1, ["f"])
        assert [hit.chunk_id for hit in hits] == ["f"]
        assert self.found(TextQuery(("same",)), 1, []) == []

    def test_matched_fields_name_where_a_chunk_was_found(self) -> None:
        index = self.build(self.ROWS)
        fields = index.matched_fields(TextQuery(("cache",)), ["a", "b"])
        assert fields == {"a": ["content"], "b": ["heading_path"]}

    def test_with_stems_endings_do_not_matter(self) -> None:
        assert set(self.ids("caches", stems=True)) == {"a", "b", "c"}
        assert self.ids("caches") == []
        assert self.ids("first-locals", stems=True) == ["e"]

    def test_with_stems_parts_are_words_of_the_text(self) -> None:
        assert self.ids("users", stems=True, parts=True) == ["c"]
        assert self.ids("users", stems=True) == []
        assert self.ids("userNames", stems=True, parts=True) == ["c"]

    def test_with_stems_a_word_counts_once_however_it_is_written(self) -> None:
        index = self.build(self.ROWS)
        once = index.search(TextQuery(("cache", "hour"), stems=True), 5)
        assert index.search(TextQuery(("cache", "caches", "cached", "hour"), stems=True), 5) == once

    def test_with_stems_quoted_phrases_stay_as_they_are(self) -> None:
        query = TextQuery(("caches",), ("results for",), phrases_required=True, stems=True)
        assert [hit.chunk_id for hit in self.found(query)] == ["a"]
        other = TextQuery(("caches",), ("result for",), phrases_required=True, stems=True)
        assert self.found(other) == []

    def test_scores_are_what_a_search_gives_whatever_its_depth(self) -> None:
        ids = [row.chunk_id for row in self.ROWS]
        for query in (
            TextQuery(("cache", "here", "same")),
            TextQuery(("caches", "words", "検索"), stems=True, parts=True),
            TextQuery(("same",), ("same words",), phrases_required=True),
        ):
            index = self.build(self.ROWS)
            scores = {hit.chunk_id: hit.score for hit in index.search(query, 10)}
            assert index.scores(query, [*ids, "none"]) == scores
            index.search(query, 1)
            assert index.scores(query, ids[:3]) == {
                chunk_id: scores[chunk_id] for chunk_id in ids[:3] if chunk_id in scores
            }
            assert index.scores(query, []) == {}

    def test_matched_fields_know_stems(self) -> None:
        index = self.build(self.ROWS)
        fields = index.matched_fields(TextQuery(("caches", "guides"), stems=True), ["a", "b", "e"])
        assert fields == {"a": ["content"], "b": ["heading_path", "title"], "e": []}

    def test_text_without_a_word_has_no_tokens(self) -> None:
        index = self.build(self.ROWS)
        assert index.tokens("++ -- !") == []
        assert index.tokens("C++") == ["c"]

    def test_the_order_of_insertion_does_not_show(self) -> None:
        query = TextQuery(("cache", "same", "words", "here"))
        hits = self.build(self.ROWS).search(query, 5)
        assert self.build(tuple(reversed(self.ROWS))).search(query, 5) == hits

    def test_stems_are_those_that_words_match_by(self) -> None:
        index = self.build(self.ROWS)
        assert index.stems(["caches", "caching", "cached"]) == index.stems(["cache"]) * 3

    def test_a_word_that_occurs_nowhere_is_respelt_by_its_nearest_neighbour(self) -> None:
        index = self.build(self.ROWS)
        assert index.respelt(["resulst", "caching", "hour", "xyzzy", "C++"]) == {"resulst": "results"}
        assert index.respelt(["hoor", "hoour", "hur"]) == {"hoor": "hour", "hoour": "hour"}, "too short: hur"

    def test_a_term_counts_by_its_weight(self) -> None:
        index = self.build(self.ROWS)
        plain = {hit.chunk_id: hit.score for hit in index.search(TextQuery(("cache", "same"), stems=True), 9)}
        query = TextQuery(("cache", "same"), stems=True, weights=(2.0, 1.0))
        weighed = {hit.chunk_id: hit.score for hit in index.search(query, 9)}
        assert weighed["f"] == plain["f"]
        assert abs(weighed["a"] - 2 * plain["a"]) < 1e-5
        assert all(
            abs(score - weighed[chunk]) < 1e-5 for chunk, score in index.scores(query, list(weighed)).items()
        )

    def test_words_of_one_stem_count_as_one_word_that_is_repeated(self) -> None:
        index = self.build(self.ROWS)
        query = TextQuery(("cache", "caches"), stems=True, weights=(3.0, 4.0))
        whole = TextQuery(("cache",), stems=True, weights=(5.0,))
        assert index.search(query, 9) == index.search(whole, 9)
