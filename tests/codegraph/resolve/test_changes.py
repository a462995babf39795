"""Resolving only what an edit reaches gives the same edges as resolving everything."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegraph.resolve.layouts import LAYOUTS, LOCATION, Edit, moves, unlinked
from codegraph.resolve.outlines import outlines as read
from codegraph.resolve.random_outlines import PATHS, linked_edits, projects, random_edits
from quintet.codegraph.resolve import Project, changed_names, resolve
from quintet.indexing.link import documents_to_link
from quintet.model.symbols import FileOutline, node_ids


def assert_nothing_is_missed(edit: Edit, is_lost: bool) -> None:
    """Files that the edit does not reach keep their edges, and no edge leads to a removed symbol."""
    old = {file.document_id: file for file in edit.before}
    lost = [file.document_id for file in edit.after if is_lost and file.document_id in old][:1]
    project = Project(edit.after, LOCATION)
    found = documents_to_link(project, edit.after, unlinked(edit, *lost))
    old_edges, new_edges = resolve(Project(edit.before, LOCATION)), resolve(project)
    kept = {document: old_edges[document] for document in new_edges if document not in found}
    assert kept | resolve(project, found) == new_edges
    gone = {node for document in lost for node in (document, *node_ids(document, old[document].outline))}
    assert not [edge for edges in kept.values() for edge in edges if edge.target in gone]


@settings(max_examples=400)
@given(st.one_of(linked_edits(), linked_edits(), random_edits()), st.booleans())
def test_resolving_what_an_edit_reaches_equals_resolving_everything(edit: Edit, is_lost: bool) -> None:
    assert_nothing_is_missed(edit, is_lost)


@pytest.mark.parametrize("language", sorted(LAYOUTS))
def test_resolving_what_moved_files_reach_equals_resolving_everything(language: str) -> None:
    @settings(max_examples=150)
    @given(moves(language), st.booleans())
    def check(edit: Edit, is_lost: bool) -> None:
        assert_nothing_is_missed(edit, is_lost)

    check()


@given(st.sampled_from(sorted(PATHS)).flatmap(projects), st.randoms(use_true_random=False))
def test_the_order_of_the_files_changes_nothing(files: list[FileOutline], chance: object) -> None:
    shuffled = list(files)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert resolve(Project(shuffled)) == resolve(Project(files))


@given(st.sampled_from(sorted(PATHS)).flatmap(projects))
def test_resolving_some_documents_gives_their_part_of_the_whole(files: list[FileOutline]) -> None:
    project = Project(files)
    whole = resolve(project)
    for file in files:
        assert resolve(project, [file.document_id]) == {file.document_id: whole[file.document_id]}


def test_others_see_nothing_of_a_change_inside_a_function() -> None:
    before, after = (read({"a.py": f"def f(): {body}\ndef g(): ...\n"})[0].outline for body in ("...", "g()"))
    assert changed_names(before, after, "a.py") == set()
    assert changed_names(before, read({"a.py": "def f(): ...\n"})[0].outline, "a.py") == {"g"}


OVERLOADED = "from typing import overload\n@overload\ndef f(x: int): ...\ndef f(x): ...\n"


@pytest.mark.parametrize(
    ("old", "new", "calling"),
    (
        ("def f(): ...\n", "def f(): ...\ndef f(): ...\n", "f()"),
        ("def f(): ...\n", OVERLOADED, "f()"),
        (OVERLOADED, OVERLOADED.replace("@overload\n", ""), "f()"),
        ("from c import f\n", "from c import f\nf = None\n", "f()"),
    ),
)
def test_a_second_meaning_of_a_name_reaches_its_callers(old: str, new: str, calling: str) -> None:
    others = {"a.py": f"from b import *\n{calling}\n", "c.py": "def f(): ...\n"}
    before, after = (read({**others, "b.py": text}) for text in (old, new))
    found = documents_to_link(Project(after), after, unlinked(Edit(before, after)))
    edges_before, edges_after = resolve(Project(before)), resolve(Project(after))
    assert "id of a.py" in found
    assert edges_before["id of a.py"] != edges_after["id of a.py"]
