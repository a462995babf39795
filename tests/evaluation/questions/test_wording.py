"""What counts as the same words, and that cutting leaves none of them."""

from hypothesis import given
from hypothesis import strategies as st

from quintet.evaluation.questions.wording import (
    LONGEST,
    contains,
    first_sentence,
    question,
    remove_lines,
    remove_phrase,
)

WORDS = st.lists(st.sampled_from(["jar", "Jar", "lid", "潮", "éa", "2"]), min_size=1, max_size=4)
GAPS = st.sampled_from([" ", "\n# ", "-", "_", ". ", " * "])


@given(WORDS, st.lists(st.tuples(st.sampled_from(["jar", "lid", "潮", "pot"]), GAPS), max_size=12))
def test_what_was_cut_as_often_as_it_stands_stands_no_more(
    phrase: list[str], text: list[tuple[str, str]]
) -> None:
    asked, left = " ".join(phrase), "".join(word + gap for word, gap in text)
    while (shorter := remove_phrase(left, asked)) is not None:
        assert contains(left, asked) and len(shorter) < len(left)
        left = shorter
    assert not contains(left, asked)


def test_markup_line_ends_and_case_part_no_words() -> None:
    assert contains("/// close\n///   A *jar*!", "Close a jar")
    assert remove_phrase("/// Close\n///   a *jar*!", "close a jar") == "/// *!"
    assert not contains("jars", "jar")


def test_a_heading_is_cut_as_a_line_and_not_from_prose() -> None:
    text = "## The end\n\nIt is the end.\n\nThe end\n======="
    assert remove_lines(text, "the END") == "\n\nIt is the end.\n\n\n======="


def test_a_question_is_short_and_holds_nothing_that_means_something_to_a_search() -> None:
    assert question('Tell "who" said `path:x`, -tag:y (again).') == "Tell who said path x, -tag y again."
    long = question("word " * 1000)
    assert len(long) <= LONGEST and long.endswith("word")


def test_a_sentence_ends_at_its_stop_and_not_inside_a_name() -> None:
    assert first_sentence("Reads a.b and v1.2, e.g. this.\n  Then more.") == "Reads a.b and v1.2, e.g. this."
    assert first_sentence("no stop at all") == "no stop at all"
