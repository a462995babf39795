"""Roots: what they are called, what they cover, and how one becomes part of another."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import quintet
from quintet import Index, UsageError
from quintet.indexing.roots import disk_spelling

LONG_AGO = 1_500_000_000 * 10**9


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """work/docs, work/docs/guide and home/docs, each with a file of the same name."""
    for folder in ("work/docs", "work/docs/guide", "home/docs"):
        (tmp_path / folder).mkdir(parents=True)
        for name in ("readme.txt", "notes.txt"):
            file = tmp_path / folder / name
            file.write_text(f"The lantern in {folder}/{name}.\n", "utf-8")
            os.utime(file, ns=(LONG_AGO, LONG_AGO))
    return tmp_path


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    with quintet.open(tmp_path / "index", "hashing") as opened:
        yield opened


def _documents(index: Index) -> list[str]:
    """Every document as root:path."""
    results = index.search("lantern", "harness", mode="keyword", final_limit=80).body["results"]
    return sorted(f"{one['source']}:{one['path']}" for one in results)


def _roots(index: Index) -> dict[str, str]:
    return {root.name: root.location for root in index.status().roots}


WHOLE = ["docs:guide/notes.txt", "docs:guide/readme.txt", "docs:notes.txt", "docs:readme.txt"]


def test_two_roots_with_the_same_relative_paths_both_stay(index: Index, place: Path) -> None:
    index.sync([place / "work/docs/guide", place / "home/docs"])
    assert _documents(index) == ["docs:notes.txt", "docs:readme.txt", "guide:notes.txt", "guide:readme.txt"]


def test_pruning_one_root_never_touches_another(index: Index, place: Path) -> None:
    index.sync([place / "work/docs/guide", place / "home/docs"])
    (place / "home/docs/readme.txt").unlink()
    assert index.sync([place / "work/docs/guide"]).removed == 0
    assert len(_documents(index)) == 4
    assert index.sync([place / "home/docs"]).removed == 1
    assert _documents(index) == ["docs:notes.txt", "guide:notes.txt", "guide:readme.txt"]


def test_an_inner_folder_named_later_belongs_to_the_outer_root(index: Index, place: Path) -> None:
    index.sync([place / "work/docs"])
    report = index.sync([place / "work/docs/guide"])
    assert (report.indexed, report.skipped) == (0, 2)
    assert _documents(index) == WHOLE
    assert list(_roots(index)) == ["docs"]


def test_an_outer_folder_named_later_takes_the_inner_root_in(index: Index, place: Path) -> None:
    index.sync([place / "work/docs/guide"])
    report = index.sync([place / "work/docs"])
    assert _documents(index) == WHOLE
    assert list(_roots(index)) == ["docs"]
    assert [note["code"] for note in report.notes] == ["roots_joined"]


@pytest.mark.parametrize("order", [("work/docs", "work/docs/guide"), ("work/docs/guide", "work/docs")])
def test_nested_folders_in_one_call_are_one_root_whatever_their_order(
    index: Index, place: Path, order: tuple[str, str]
) -> None:
    index.sync([place / one for one in order])
    assert _documents(index) == WHOLE
    assert list(_roots(index)) == ["docs"]


def test_however_the_same_files_came_in_the_state_is_the_same(index: Index, place: Path) -> None:
    index.sync([place / "work/docs"])
    states = {index.status().state_root}
    for number, calls in enumerate(
        [
            [["work/docs/guide"], ["work/docs"]],
            [["work/docs/guide/notes.txt"], ["work/docs/readme.txt"], ["work/docs"]],
            [["work/docs", "work/docs/guide", "work/docs/notes.txt"]],
        ]
    ):
        with quintet.open(place / f"index{number}", "hashing") as other:
            for call in calls:
                other.sync([place / one for one in call])
            states.add(other.status().state_root)
    assert len(states) == 1


def test_a_single_file_is_a_root_of_its_folder_with_only_that_file(index: Index, place: Path) -> None:
    index.sync([place / "home/docs/readme.txt"])
    assert _documents(index) == ["docs:readme.txt"]
    index.sync([place / "home/docs/notes.txt"])
    assert _documents(index) == ["docs:notes.txt", "docs:readme.txt"]
    (root,) = index.status().roots
    assert root.only == ("notes.txt", "readme.txt")


def test_a_single_file_that_changes_or_goes_is_followed(index: Index, place: Path) -> None:
    file = place / "home/docs/readme.txt"
    index.sync([file])
    file.write_text("A lantern, changed.\n", "utf-8")
    assert index.sync().indexed == 1
    file.unlink()
    assert index.sync().removed == 1


def test_a_file_and_then_its_folder_is_the_whole_folder(index: Index, place: Path) -> None:
    index.sync([place / "home/docs/readme.txt"])
    assert index.sync([place / "home/docs"]).indexed == 1
    assert _documents(index) == ["docs:notes.txt", "docs:readme.txt"]
    assert [root.only for root in index.status().roots] == [None]


def test_a_folder_and_then_a_file_of_it_stays_the_whole_folder(index: Index, place: Path) -> None:
    index.sync([place / "home/docs"])
    assert index.sync([place / "home/docs/readme.txt"]).removed == 0
    assert [root.only for root in index.status().roots] == [None]


def test_without_paths_everything_that_is_indexed_is_looked_at_again(index: Index, place: Path) -> None:
    index.sync([place / "work/docs/guide", place / "home/docs/readme.txt"])
    for file in ("work/docs/guide/readme.txt", "home/docs/readme.txt"):
        (place / file).write_text("A lantern, changed.\n", "utf-8")
    report = index.sync()
    assert (report.indexed, report.skipped) == (2, 1)


def test_without_paths_a_new_index_takes_the_current_folder(
    index: Index, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place / "home/docs")
    assert index.sync().indexed == 2
    assert _roots(index) == {"docs": str((place / "home/docs").resolve())}


def test_a_root_can_be_given_a_name(index: Index, place: Path) -> None:
    index.sync([f"handbook={place / 'home/docs'}"])
    assert _documents(index) == ["handbook:notes.txt", "handbook:readme.txt"]
    assert index.sync([f"handbook={place / 'home/docs'}"]).skipped == 2
    assert index.sync([place / "home/docs"]).skipped == 2


def test_a_folder_whose_own_name_holds_an_equals_sign_is_that_folder(index: Index, tmp_path: Path) -> None:
    odd = tmp_path / "a=b"
    odd.mkdir()
    (odd / "x.txt").write_text("lantern", "utf-8")
    index.sync([odd])
    assert _documents(index) == ["a=b:x.txt"]


def test_folders_of_the_same_name_get_their_parents_in_front(index: Index, place: Path) -> None:
    index.sync([place / "home/docs"])
    index.sync([place / "work/docs"])
    assert set(_roots(index)) == {"docs", "work/docs"}


@pytest.mark.parametrize("taken", ["docs=work/docs", "handbook=home/docs"])
def test_a_name_that_is_taken_or_another_name_for_a_root_is_refused(
    index: Index, place: Path, monkeypatch: pytest.MonkeyPatch, taken: str
) -> None:
    monkeypatch.chdir(place)
    index.sync(["home/docs"])
    with pytest.raises(UsageError) as caught:
        index.sync([taken])
    assert caught.value.code == "invalid_path"
    assert list(_roots(index)) == ["docs"]


def test_two_names_for_one_folder_or_one_name_for_two_are_refused(
    index: Index, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    for paths in (["one=home/docs", "two=home/docs"], ["one=home/docs", "one=work/docs"]):
        with pytest.raises(UsageError) as caught:
            index.sync(paths)
        assert caught.value.code == "invalid_path"
    assert index.status().files == 0


def test_a_path_through_a_link_is_the_folder_it_leads_to(index: Index, place: Path) -> None:
    (place / "link").symlink_to(place / "home/docs")
    index.sync([place / "link"])
    assert index.sync([place / "home/docs"]).skipped == 2
    assert list(_roots(index)) == ["docs"]


@pytest.mark.requirement("000-4.2")
def test_ids_do_not_depend_on_the_machine_the_order_or_other_files(index: Index, place: Path) -> None:
    index.sync([place / "home/docs"])
    before = _ids(index)
    elsewhere = place / "another/machine/docs"
    elsewhere.mkdir(parents=True)
    for name in ("readme.txt", "notes.txt"):
        (elsewhere / name).write_text(f"The lantern in home/docs/{name}.\n", "utf-8")
    with quintet.open(place / "other", "hashing") as other:
        other.sync([elsewhere / "readme.txt"])
        other.sync([elsewhere])
        assert _ids(other) == before
        assert other.status().state_root == index.status().state_root

    (place / "home/docs/notes.txt").rename(place / "home/docs/moved.txt")
    (place / "home/docs/aaa.txt").write_text("The lantern of something unrelated.\n", "utf-8")
    index.sync()
    assert _ids(index)["readme.txt"] == before["readme.txt"]


def _ids(index: Index) -> dict[str, tuple[str, str]]:
    results = index.search("lantern", "cfs", mode="lexical").body["results"]
    return {one["document"]["path"]: (one["document"]["id"], one["chunk"]["id"]) for one in results}


def test_a_part_that_the_disk_spells_decomposed_is_the_part_that_is_meant(index: Index, place: Path) -> None:
    folder = place / "work" / "docs" / "cafe\u0301"
    folder.mkdir()
    for name in ("kept.txt", "gone.txt"):
        (folder / name).write_text("The lantern in the cellar.\n", "utf-8")
        os.utime(folder / name, ns=(LONG_AGO, LONG_AGO))
    index.sync([place / "work" / "docs"])
    (folder / "gone.txt").unlink()
    report = index.sync([folder])
    assert (report.indexed, report.skipped, report.removed) == (0, 1, 1)


def test_a_single_file_that_the_disk_spells_decomposed_is_known_again(index: Index, place: Path) -> None:
    file = place / "cafe\u0301.txt"
    file.write_text("The lantern in the cellar.\n", "utf-8")
    os.utime(file, ns=(LONG_AGO, LONG_AGO))
    assert (index.sync([file]).indexed, index.sync([file]).skipped) == (1, 1)
    file.unlink()
    assert index.sync().removed == 1


def test_a_root_has_a_composed_name_wherever_it_comes_from(index: Index, place: Path) -> None:
    for name in ("cafe\u0301", "other"):
        (place / name).mkdir()
        (place / name / "a.txt").write_text("The lantern.\n", "utf-8")
    index.sync([str(place / "cafe\u0301"), f"re\u0301sume\u0301={place / 'other'}"])
    assert sorted(_roots(index)) == ["caf\u00e9", "r\u00e9sum\u00e9"]
    assert [one.document.path for one in index.get(str(place / "cafe\u0301" / "a.txt"))] == ["a.txt"]


@pytest.mark.parametrize("asked", ["WORK/DOCS", "work/docs", "WORK/docs"])
def test_a_place_is_spelt_as_the_disk_spells_it(place: Path, asked: str) -> None:
    """Here these are no names of it; on macOS and Windows they are."""
    assert disk_spelling(place / asked) == place / "work" / "docs"
    (place / "cafe\u0301").mkdir()
    assert disk_spelling(place / "caf\u00e9") == place / "cafe\u0301"
    (place / "work" / "README.md").write_text("The lantern.\n", "utf-8")
    assert disk_spelling(place / "work" / "readme.MD") == place / "work" / "README.md"
    assert disk_spelling(place / "gone" / asked) == place / "gone" / asked


def test_of_two_folders_that_differ_in_case_each_is_itself(place: Path) -> None:
    (place / "Work").mkdir()
    assert [disk_spelling(place / name).name for name in ("work", "Work")] == ["work", "Work"]
