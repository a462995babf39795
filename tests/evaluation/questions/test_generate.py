"""Questions that an index gives about itself: which, what they should find, and that they are held out."""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import quintet
from evaluation.larder import write_project, write_repository
from indexing.repository import needs_git
from quintet.embed import load_embedder
from quintet.errors import Conflict
from quintet.evaluation.counting import Counting
from quintet.evaluation.evaluate import run_queries
from quintet.evaluation.open_searcher import held_out
from quintet.evaluation.questions.generate import GeneratedQuestions, generate_questions
from quintet.evaluation.questions.held_out import searched_text
from quintet.evaluation.questions.wording import contains
from quintet.evaluation.rankings import RankingSpec
from quintet.index import BACKENDS
from quintet.indexing.run import no_progress
from quintet.model.documents import embedding_text

GIVEN = {
    "docstring": {
        "Everything there is to know about glass.": "src/jars.py:1-1#0",
        "Close a jar so that nothing spoils.": "src/jars.py:4-6#1",
        "Tell what was put in and when.": "src/jars.py:9-12#2",
        "Heat the pot until the sugar melts.": "src/pot.js:1-4#0",
    },
    "heading": {
        "Making jam": "docs/jam.md:1-3#0",
        "How long it keeps": "docs/jam.md:5-7#1",
        "When it was opened": "docs/jam.md:9-11#2",
        "Drying herbs": "docs/tea.md:1-3#0",
    },
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_project(tmp_path / "larder")


@pytest.fixture
def index(project: Path) -> Iterator[quintet.Index]:
    with quintet.open(project / ".quintet", "hashing") as opened:
        opened.sync([project])
        yield opened


def asked(own: GeneratedQuestions) -> dict[str, dict[str, str]]:
    """By kind, each question with what it should find."""
    return {
        kind: {own.judged.queries[one]: " ".join(sorted(own.judged.grades[one])) for one in group.queries}
        for kind, group in own.judged.groups.items()
    }


def codes(own: GeneratedQuestions) -> dict[str, str]:
    return {note["code"]: note["message"] for note in own.judged.notes}


def test_docstrings_ask_for_their_symbols_and_headings_for_their_sections(index: quintet.Index) -> None:
    own = generate_questions(index, BACKENDS)
    assert asked(own) == GIVEN
    assert {kind: group.possible for kind, group in own.judged.groups.items()} == {
        "docstring": 4,
        "heading": 5,
    }


def test_a_text_of_two_targets_is_not_asked_and_counted(index: quintet.Index) -> None:
    assert codes(generate_questions(index, BACKENDS))["ambiguous"].startswith("2 texts")


def test_a_heading_that_the_section_repeats_is_not_asked_and_counted(index: quintet.Index) -> None:
    own = generate_questions(index, BACKENDS)
    assert "The right sugar" not in own.judged.queries.values()
    assert codes(own)["not_held_out"].endswith(": 1 heading")


def test_every_chunk_below_a_heading_answers_it(index: quintet.Index) -> None:
    own = generate_questions(index, BACKENDS)
    passages = {one.chunk.sequence: one for one in index.get("docs/jam.md")}
    by_text = {text: query for query, text in own.judged.queries.items()}
    below = by_text["How long it keeps"]
    assert own.name(below, passages[2]) == own.name(below, passages[1]) == "docs/jam.md:5-7#1"
    assert own.name(below, passages[0]) == "docs/jam.md:1-3#0"
    assert own.name(by_text["Drying herbs"], passages[2]) == "docs/jam.md:9-11#2"


def test_no_question_stands_in_what_it_should_find_as_it_is_searched(index: quintet.Index) -> None:
    own = generate_questions(index, BACKENDS)
    with held_out(index, own, None, BACKENDS, no_progress, Counting()) as engine:
        for query, text in own.judged.queries.items():
            everything = engine.search("jar sugar year weeks fruit herbs pot", "quintet", {"limit": 100})
            assert everything.answer is not None
            found = [
                one
                for one in everything.answer.passages.values()
                if own.name(query, one) in own.judged.grades[query]
            ]
            assert not any(contains(searched_text(one), text) for one in found)


def test_all_else_is_searched_as_it_is_indexed(index: quintet.Index) -> None:
    own = generate_questions(index, BACKENDS, count=1)
    ((_, cut),) = own.documents
    with held_out(index, own, None, BACKENDS, no_progress, Counting()) as engine:
        here = engine.search("jar sugar herbs pot heading", "quintet", {"limit": 100}).answer
        there = index.search("jar sugar herbs pot heading", limit=100, mode="lexical").answer
    assert here is not None and there is not None
    same = {id: one for id, one in there.passages.items() if one.document.path != cut}
    assert same and {id: here.passages[id] for id in same} == same


class Recording:
    """An embedder that remembers what it was given."""

    def __init__(self) -> None:
        self._embedder: Any = load_embedder("hashing")
        self.identity, self.dimensions = self._embedder.identity, self._embedder.dimensions
        self.texts: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> Any:
        self.texts += texts
        return self._embedder.embed_documents(texts)

    def embed_query(self, text: str) -> Any:
        return self._embedder.embed_query(text)


def test_only_what_was_cut_gets_new_vectors(index: quintet.Index) -> None:
    own = generate_questions(index, BACKENDS, count=3)
    before = {one.chunk.id: one.chunk for path in ("docs", "src") for one in _below(index, path)}
    changed = {
        embedding_text(one.document.context, one.chunk.heading_path, one.chunk.content)
        for passages in own.documents.values()
        for one in passages
        if one.chunk != before[one.chunk.id]
    }
    recording = Recording()
    with held_out(index, own, recording, BACKENDS, no_progress, Counting()):
        assert set(recording.texts) == changed and len(recording.texts) == len(changed) < len(before)


def _below(index: quintet.Index, folder: str) -> list[Any]:
    with_text = [one for root in index.roots() for one in Path(root.location, folder).iterdir()]
    return [passage for file in with_text for passage in index.get(f"{folder}/{file.name}")]


def test_another_embedder_makes_all_vectors_anew_in_the_copy_alone(index: quintet.Index) -> None:
    other = Recording()
    other.identity = "other/1"
    own = generate_questions(index, BACKENDS, count=3)
    with held_out(index, own, other, BACKENDS, no_progress, Counting()) as engine:
        assert len(other.texts) == engine.counts.chunks == engine.counts.embedded
    assert index.status().embedder != "other/1"


def test_the_index_itself_is_not_written_to(project: Path) -> None:
    with quintet.open(project / ".quintet", "hashing") as index:
        index.sync([project])
    before = _bytes(project / ".quintet")
    with quintet.open(project / ".quintet") as index:
        own = generate_questions(index, BACKENDS)
        with held_out(index, own, index.embedder, BACKENDS, no_progress, Counting()) as engine:
            run = run_queries(
                engine, RankingSpec("quintet", "hybrid"), own.judged, 10, no_progress, lambda: 0.0
            )
    assert len(run.results) == len(own.judged.queries)
    assert _bytes(project / ".quintet") == before


def _bytes(folder: Path) -> dict[str, str]:
    files = [one for one in sorted(folder.rglob("*")) if one.is_file()]
    return {one.name: sha256(one.read_bytes()).hexdigest() for one in files}


def test_an_index_that_changes_meanwhile_is_told(index: quintet.Index, project: Path) -> None:
    own = generate_questions(index, BACKENDS)
    (project / "docs" / "tea.md").write_text("# Other things\n\nAre here.\n", "utf-8")
    index.sync([project])
    with (
        pytest.raises(Conflict, match="changed while"),
        held_out(index, own, None, BACKENDS, no_progress, Counting()),
    ):
        pass


def test_the_same_seed_asks_the_same_and_another_asks_others(index: quintet.Index) -> None:
    chosen = [
        set(generate_questions(index, BACKENDS, 4, seed).judged.queries.values()) for seed in (7, 7, 1, 2, 3)
    ]
    assert chosen[0] == chosen[1]
    assert any(chosen[0] != other for other in chosen[2:])
    assert all(len(one) == 4 for one in chosen)


def test_a_few_questions_are_spread_over_kinds_and_documents(index: quintet.Index) -> None:
    found = asked(generate_questions(index, BACKENDS, 4))
    for kind, places in {
        "docstring": ("src/jars.py", "src/pot.js"),
        "heading": ("docs/jam.md", "docs/tea.md"),
    }.items():
        assert sorted(item.partition(":")[0] for item in found[kind].values()) == list(places)


@needs_git
def test_commit_subjects_ask_for_the_files_they_changed(tmp_path: Path) -> None:
    """Neither merges, nor short subjects, nor what touched more files than five."""
    folder = write_repository(tmp_path / "larder").top
    with quintet.open(folder / ".quintet", "none") as index:
        index.sync([folder])
        own = generate_questions(index, BACKENDS)
    assert asked(own)["commit"] == {
        "Explain how herbs lose their water": "docs/tea.md",
        "Let jars and pots be cleaned": "src/jars.py src/pot.js",
    }
    (query,) = [id for id, text in own.judged.queries.items() if text.startswith("Explain")]
    assert query in own.whole_files


@needs_git
def test_a_commit_is_one_question_however_many_roots_it_reaches(tmp_path: Path) -> None:
    folder = write_repository(tmp_path / "larder").top
    (folder / "src" / "pot.js").rename(folder / "docs" / "pot.js")
    with quintet.open(folder / ".quintet", "none") as index:
        index.sync([folder / "docs", folder / "src"])
        found = asked(generate_questions(index, BACKENDS))["commit"]
    assert found["Let jars and pots be cleaned"] == "src/jars.py"
    assert found["Explain how herbs lose their water"] == "docs/tea.md"


@needs_git
def test_a_subject_that_its_file_repeats_is_not_asked(tmp_path: Path) -> None:
    repository = write_repository(tmp_path / "larder")
    repository.write({"docs/tea.md": "# Changes\n\n- explain how herbs lose their water\n"})
    with quintet.open(repository.top / ".quintet", "none") as index:
        index.sync([repository.top])
        own = generate_questions(index, BACKENDS)
    assert list(asked(own)["commit"]) == ["Let jars and pots be cleaned"]
    assert "1 commit" in codes(own)["not_held_out"]


def test_memories_ask_for_what_they_are_about(index: quintet.Index, project: Path) -> None:
    remember = index.memory.remember
    remember("Lids were cracked when turned too far", about=["seal"])
    remember("Mint is best cut before noon", about=["docs/tea.md"])
    remember("Sugar and flame belong together", about=["docs/jam.md:5-7", "src/pot.js"])
    remember("This is about nothing that is known", about=["nowhere/at/all.py"])
    remember("Too short", about=["docs/tea.md"])
    old = remember("Herbs are dried in an oven", about=["docs/tea.md"])
    remember("Herbs are never dried in an oven", supersedes=old.id)
    assert asked(generate_questions(index, BACKENDS))["memory"] == {
        "Lids were cracked when turned too far": "src/jars.py:4-6#1",
        "Mint is best cut before noon": "docs/tea.md",
        "Sugar and flame belong together": "docs/jam.md src/pot.js",
    }


def test_what_cannot_be_asked_is_told_in_a_sentence_each(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "a.py").write_text(
        'def a():\n    """Only this one is documented."""\n    return 1\n'
    )
    with quintet.open(tmp_path / "db", "none") as index:
        index.sync([tmp_path / "code"])
        told = codes(generate_questions(index, BACKENDS))
    assert told["no_heading_questions"].startswith("heading: no indexed document has a heading of at least 2")
    assert told["no_commit_questions"] == "commit: no indexed folder is in a git work tree with commits"
    assert told["no_memory_questions"] == "memory: there is no memory beside this index"
    assert "no_docstring_questions" not in told and "own_questions" in told
    assert not (tmp_path / "db" / "memory.db").exists()


def test_an_index_that_was_never_filled_is_empty_or_says_nothing_has_no_questions(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    with quintet.open(tmp_path / "db", "none") as index:
        with pytest.raises(Conflict, match="was never filled"):
            generate_questions(index, BACKENDS)
        index.sync([tmp_path / "notes"])
        with pytest.raises(Conflict, match="is empty"):
            generate_questions(index, BACKENDS)
        (tmp_path / "notes" / "a.txt").write_text("no heading, no code\n")
        index.sync()
        with pytest.raises(Conflict, match="no question can be made from this index: no indexed code"):
            generate_questions(index, BACKENDS)
