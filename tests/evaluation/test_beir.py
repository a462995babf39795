"""Collections from anywhere: read as BEIR lays them out, and refused by line."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from quintet.errors import LimitError, NotFound, UsageError
from quintet.evaluation import untrusted_lines
from quintet.evaluation.beir import corpus_documents, has_corpus, read_judged_queries

Write = Callable[[str, str | bytes], Path]


def test_documents_queries_and_judgements_are_read(collection: Path) -> None:
    texts = list(corpus_documents(collection))
    topics = read_judged_queries(collection)
    assert [one.id for one in texts] == ["tea", "a/b <i>", "cocoa.pdf", "long"]
    assert (texts[0].title, texts[0].text) == ("Green tea", "Steep the leaves for two minutes.")
    assert (topics.name, list(topics.queries)) == ("drinks", ["q1", "q2", "q3", "q4"])
    assert topics.grades["q1"] == {"tea": 2, "long": 1}
    assert topics.notes == ()


def test_a_title_may_be_missing_and_blank_lines_do_not_count(write: Write) -> None:
    folder = write(
        "corpus.jsonl", '\ufeff{"_id": "1", "text": "a"}\r\n\n{"_id": "2", "title": null, "text": "b"}'
    )
    assert [(one.title, one.text) for one in corpus_documents(folder)] == [("", "a"), ("", "b")]


def test_judgements_may_lie_beside_the_queries_and_have_no_heading(write: Write) -> None:
    folder = write("qrels.tsv", "q1\ttea\t1\n")
    (folder / "qrels" / "test.tsv").unlink()
    assert read_judged_queries(folder).grades == {"q1": {"tea": 1}}
    assert read_judged_queries(folder, "train").grades == {"q1": {"tea": 1}}


def test_queries_without_anything_relevant_are_left_out_with_a_note(write: Write) -> None:
    topics = read_judged_queries(write("qrels/test.tsv", "q1\ttea\t1\nq2\ttea\t0\nq3\ttea\t-1\n"))
    assert list(topics.queries) == ["q1"]
    assert [note["code"] for note in topics.notes] == ["queries_left_out"]
    assert "2 of 3" in topics.notes[0]["message"]


def test_without_a_corpus_there_are_only_questions(collection: Path) -> None:
    assert has_corpus(collection)
    (collection / "corpus.jsonl").unlink()
    assert not has_corpus(collection)
    assert len(read_judged_queries(collection).queries) == 4


DEEP = '{"_id": ' + "[" * 200_000 + "]" * 200_000 + "}"


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "is not JSON"),
        (DEEP, "is not JSON|has no _id"),
        ("[1]", "is not an object"),
        ('{"text": "a"}', "has no _id"),
        ('{"_id": 7, "text": "a"}', "has no _id"),
        ('{"_id": "  "}', "has no _id"),
        ('{"_id": "a\\u0000b"}', "control characters"),
        ('{"_id": "\\ud800"}', "lone surrogates"),
        ('{"_id": "' + "x" * 1001 + '"}', "of 1001 characters"),
        ('{"_id": "b", "text": ["a"]}', "a text that is not text"),
        ('{"_id": "b", "title": 1}', "a title that is not text"),
        ('{"_id": "a"}', "repeats the _id 'a'"),
        (b"\xff\xfe", "is not UTF-8 at byte 0"),
    ],
)
def test_a_broken_record_is_refused_with_its_line(write: Write, line: str | bytes, complaint: str) -> None:
    data = line if isinstance(line, bytes) else line.encode()
    folder = write("corpus.jsonl", b'{"_id": "a", "text": "x"}\n' + data + b"\n")
    with pytest.raises(UsageError, match=f"line 2 of .*corpus.jsonl .*({complaint})") as refused:
        list(corpus_documents(folder))
    assert refused.value.details["line"] == 2


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("q1 tea 1", "has 1 cells"),
        ("q1\ttea", "has 2 cells"),
        ("q1\t0\ttea\t1", "has 4 cells"),
        ("\ttea\t1", "has no query id"),
        ("q1\t\t1", "has no document id"),
        ("q1\ttea\tgood", "has the grade 'good'"),
        ("q1\ttea\t0.5", "has the grade '0.5'"),
        ("q1\ttea\t99999", "has the grade"),
        ("q1\ttea\t2", "judges 'tea' for 'q1' a second time"),
    ],
)
def test_a_broken_judgement_is_refused_with_its_line(write: Write, line: str, complaint: str) -> None:
    folder = write("qrels/test.tsv", f"q1\ttea\t1\nq1\ttea\t1\n{line}\n")
    with pytest.raises(UsageError, match=f"line 3 of .*test.tsv {re.escape(complaint)}"):
        read_judged_queries(folder)


def test_a_query_must_have_text_and_an_id_of_its_own(write: Write) -> None:
    with pytest.raises(UsageError, match=r"line 1 of .*queries.jsonl has no text"):
        read_judged_queries(write("queries.jsonl", '{"_id": "q1", "text": " "}'))
    with pytest.raises(UsageError, match=r"line 2 of .*queries.jsonl repeats the _id 'q1'"):
        read_judged_queries(write("queries.jsonl", '{"_id": "q1", "text": "a"}\n{"_id": "q1", "text": "b"}'))


def test_a_judged_query_must_be_there(write: Write) -> None:
    with pytest.raises(UsageError, match="query 'q9' is judged, but it is not in"):
        read_judged_queries(write("qrels/test.tsv", "q9\ttea\t1\n"))


def test_judgements_must_find_something_relevant(write: Write) -> None:
    with pytest.raises(UsageError, match="has a relevant document"):
        read_judged_queries(write("qrels/test.tsv", "q1\ttea\t0\n"))


def test_a_missing_split_is_told_with_those_there_are(collection: Path) -> None:
    with pytest.raises(NotFound, match="the splits there are: test"):
        read_judged_queries(collection, "train")
    with pytest.raises(UsageError, match=r"the split is '\.\./test'"):
        read_judged_queries(collection, "../test")
    with pytest.raises(NotFound, match="there is no folder"):
        read_judged_queries(collection / "elsewhere")


def test_a_line_without_an_end_is_refused(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(untrusted_lines, "LONGEST_LINE", 40)
    with pytest.raises(LimitError, match="longer than 40 bytes"):
        list(corpus_documents(write("corpus.jsonl", '{"_id": "1", "text": "' + "x" * 40 + '"}')))


def test_more_lines_than_are_taken_are_refused(collection: Path) -> None:
    with pytest.raises(LimitError, match="has more than 3 lines"):
        list(untrusted_lines.numbered_lines(collection / "corpus.jsonl", 3))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are POSIX")
def test_a_pipe_is_not_waited_for(collection: Path) -> None:
    (collection / "queries.jsonl").unlink()
    os.mkfifo(collection / "queries.jsonl")
    with pytest.raises(UsageError, match="is not a file"):
        read_judged_queries(collection)
