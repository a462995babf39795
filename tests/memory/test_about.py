"""A memory knows what its code looked like when it was remembered, and says when that changed."""

import shutil
from pathlib import Path
from typing import Any

import pytest

import quintet
from memory.views import results
from quintet.errors import UsageError
from quintet.memory import Memory
from quintet.memory.about_files import DIGEST_CHARS, AboutFiles
from quintet.model.memories import About


def states(memory: Memory, id: str) -> list[str]:
    about: Any = memory.get(id)["about"]
    return [one["state"] for one in about]


def test_a_file_is_unchanged_then_changed_then_gone(memory: Memory, project: Path) -> None:
    kept = memory.remember("the ttl is 300", about=["src/cache.py"])
    file = project / "src" / "cache.py"
    assert states(memory, kept.id) == ["unchanged"]
    before = file.read_text("utf-8")
    file.write_text(before + "# more\n", "utf-8")
    assert states(memory, kept.id) == ["changed"]
    file.write_text(before, "utf-8")
    assert states(memory, kept.id) == ["unchanged"]
    file.unlink()
    assert states(memory, kept.id) == ["gone"]


def test_recall_says_so_for_each_result_with_its_class(memory: Memory, project: Path) -> None:
    memory.remember("the ttl is 300", about=["src/cache.py", "src/store.py"])
    memory.remember("the ttl is in seconds")
    (project / "src" / "cache.py").write_text("TTL = 10\n", "utf-8")
    found = {one["text"]: one for one in results(memory.recall("ttl"))}
    stale = found["the ttl is 300"]
    assert stale["about"] == [
        {"path": "src/cache.py", "root": "project", "state": "changed"},
        {"path": "src/store.py", "root": "project", "state": "unchanged"},
    ]
    assert (stale["freshness"], found["the ttl is in seconds"]["freshness"]) == ("Stale", "Fresh")
    (project / "src" / "store.py").unlink()
    assert results(memory.recall("300"))[0]["freshness"] == "StaleWithRisk"


def test_indexing_the_change_does_not_hide_it(memory: Memory, index: quintet.Index, project: Path) -> None:
    kept = memory.remember("the ttl is 300", about=["src/cache.py"])
    (project / "src" / "cache.py").write_text("TTL = 10\n", "utf-8")
    index.sync()
    assert states(memory, kept.id) == ["changed"]


def test_a_symbol_changes_with_its_own_lines_only(memory: Memory, project: Path) -> None:
    kept = memory.remember("get returns its key", about=["Cache.get"])
    file = project / "src" / "cache.py"
    text = file.read_text("utf-8")
    file.write_text("import os\n\n" + text.replace("TTL = 300", "TTL = 5"), "utf-8")
    assert states(memory, kept.id) == ["unchanged"]
    file.write_text(text.replace("return key", "return None"), "utf-8")
    assert states(memory, kept.id) == ["changed"]
    file.write_text("TTL = 300\n", "utf-8")
    assert states(memory, kept.id) == ["gone"]


def test_a_symbol_is_gone_though_another_word_holds_its_name(memory: Memory, project: Path) -> None:
    kept = memory.remember("get returns its key", about=["Cache.get"])
    file = project / "src" / "cache.py"
    file.write_text("target = widget\n", "utf-8")
    assert states(memory, kept.id) == ["gone"]
    file.write_text("def get(): ...\n", "utf-8")
    assert states(memory, kept.id) == ["changed"]


def test_a_path_may_be_asked_for_as_it_was_given(
    memory: Memory, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project / "src")
    kept = memory.remember("the ttl is 300", about=["cache.py"])
    memory.remember("the ttl is in seconds", about=["store.py"])
    for name in ("cache.py", "./cache.py", str(project / "src" / "cache.py"), "src/cache.py"):
        assert [one["id"] for one in results(memory.recall("ttl", about=name))] == [kept.id]
    assert memory.forget(about="cache.py") == [kept.id]


def test_a_path_that_several_roots_have_is_asked_for_in_all_of_them(
    memory: Memory, index: quintet.Index, tmp_path: Path
) -> None:
    (tmp_path / "twin" / "src").mkdir(parents=True)
    (tmp_path / "twin" / "src" / "cache.py").write_text("TTL = 5\n", "utf-8")
    index.sync([tmp_path / "twin"])
    kept = {
        memory.remember(f"ttl of {root}", about=[f"{root}/src/cache.py"]).id for root in ("project", "twin")
    }
    (project, twin) = (memory.recall("ttl", about=f"{root}/src/cache.py") for root in ("project", "twin"))
    assert [one["text"] for one in results(project)] == ["ttl of project"]
    assert [one["text"] for one in results(twin)] == ["ttl of twin"]
    everywhere = memory.recall("ttl", about="src/cache.py")
    assert {one["id"] for one in results(everywhere)} == kept


def test_a_symbol_is_shown_with_its_place(memory: Memory) -> None:
    kept = memory.remember("get returns its key", about=["Cache.get"])
    assert memory.get(kept.id)["about"] == [
        {
            "path": "src/cache.py",
            "symbol": "cache.Cache.get",
            "root": "project",
            "lines": [5, 6],
            "state": "unchanged",
        }
    ]


def test_lines_of_a_file_are_followed_when_they_move(memory: Memory, project: Path) -> None:
    kept = memory.remember("clear does nothing", about=["src/cache.py:9-10"])
    file = project / "src" / "cache.py"
    file.write_text("# moved down\n" + file.read_text("utf-8"), "utf-8")
    assert states(memory, kept.id) == ["unchanged"]
    file.write_text(file.read_text("utf-8").replace("pass", "return"), "utf-8")
    assert states(memory, kept.id) == ["changed"]


def test_a_symbol_defined_twice_is_refused_with_its_places(memory: Memory) -> None:
    with pytest.raises(UsageError, match=r"defined in 2 places \(src/cache.py:9-10, src/store.py:1-2\)"):
        memory.remember("clear it", about=["clear"])
    memory.remember("clear it", about=["src/store.py:1-2"])


def test_a_name_that_means_nothing_yet_is_kept_as_unknown(memory: Memory) -> None:
    kept = memory.remember("to be written", about=["src/later.py", "Later.get", "C++ & co"])
    assert states(memory, kept.id) == ["unknown"] * 3
    assert [note["code"] for note in kept.notes] == ["about_unknown"] * 3
    (note,) = memory.remember("no such line", about=["src/cache.py", "src/cache.py:90-91"]).notes
    assert "nothing was found under 'src/cache.py:90-91'" in note["message"]
    assert [sorted(one) for one in memory.get(kept.id)["about"]] == [  # type: ignore[union-attr, arg-type]
        ["path", "state"],
        ["state", "symbol"],
        ["state", "symbol"],
    ]


def test_a_file_that_is_not_indexed_counts_if_it_lies_in_an_indexed_folder(
    memory: Memory, project: Path, tmp_path: Path
) -> None:
    (project / "new.py").write_text("x = 1\n", "utf-8")
    (tmp_path / "outside.py").write_text("x = 1\n", "utf-8")
    inside = memory.remember("inside", about=["new.py"])
    outside = memory.remember("outside", about=[str(tmp_path / "outside.py")])
    assert (states(memory, inside.id), states(memory, outside.id)) == (["unchanged"], ["unknown"])


def test_a_file_may_be_named_as_it_lies_on_disk(memory: Memory, project: Path) -> None:
    kept = memory.remember("by its place", about=[str(project / "src" / "cache.py"), "./src/cache.py"])
    (about,) = memory.get(kept.id)["about"]  # type: ignore[misc, union-attr]
    assert about["path"] == "src/cache.py"  # type: ignore[index, call-overload]


def test_saying_it_again_confirms_it_for_the_code_as_it_is_now(memory: Memory, project: Path) -> None:
    kept = memory.remember("the ttl is a number", about=["src/cache.py"])
    (project / "src" / "cache.py").write_text("TTL = 10\n", "utf-8")
    assert states(memory, kept.id) == ["changed"]
    memory.remember("the ttl is a number", about=["src/cache.py"])
    assert states(memory, kept.id) == ["unchanged"]


def test_a_folder_that_is_not_there_says_nothing_about_its_files(
    memory: Memory, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = memory.remember("the ttl is 300", about=["src/cache.py"])
    monkeypatch.chdir(tmp_path)
    shutil.move(project / ".quintet", tmp_path / "kept")
    shutil.rmtree(project)
    with quintet.open(tmp_path / "kept", "hashing") as moved:
        assert states(moved.memory, kept.id) == ["unknown"]


def test_a_path_that_leads_out_of_its_folder_is_never_read(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "secret").write_text("x", "utf-8")
    (tmp_path / "root" / "link").symlink_to(tmp_path / "secret")
    subjects = AboutFiles({"r": str(tmp_path / "root")}, 1_000)
    for path in ("../secret", "link", str(tmp_path / "secret")):
        assert subjects.record(About(path, root="r")).digest is None


def test_a_file_that_grew_too_large_has_changed(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x", "utf-8")
    recorded = AboutFiles({"r": str(tmp_path)}, 10).record(About("a", root="r"))
    (tmp_path / "a").write_text("x" * 11, "utf-8")
    assert AboutFiles({"r": str(tmp_path)}, 10).state(recorded) == "changed"


def test_a_file_that_is_no_text_is_compared_by_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\0\1\2")
    recorded = AboutFiles({"r": str(tmp_path)}, 10).record(About("a", root="r"))
    assert AboutFiles({"r": str(tmp_path)}, 10).state(recorded) == "unchanged"
    (tmp_path / "a").write_bytes(b"\0\1\3")
    assert AboutFiles({"r": str(tmp_path)}, 10).state(recorded) == "changed"


def test_a_symbol_is_kept_under_its_full_name_and_asked_for_by_any_of_its_names(
    memory: Memory, project: Path, index: quintet.Index
) -> None:
    kept = memory.remember("get returns its key", about=["get"])
    (about,) = memory.get(kept.id)["about"]  # type: ignore[misc, union-attr]
    assert about["symbol"] == "cache.Cache.get"  # type: ignore[index, call-overload]
    for name in ("get", "Cache.get", "Cache::get", "cache.Cache.get"):
        assert [one["id"] for one in results(memory.recall("key", about=name))] == [kept.id]
    for name in ("et", "Other.get", "Cache", "."):
        assert results(memory.recall("key", about=name)) == []
    (project / "src" / "cache.py").write_text("TTL = 5\n", "utf-8")
    index.sync()
    assert memory.forget(about="get") == [kept.id]


def test_a_name_that_meant_nothing_is_asked_for_by_the_full_name_it_got_later(
    memory: Memory, project: Path, index: quintet.Index
) -> None:
    kept = memory.remember("put comes later", about=["put"])
    (project / "src" / "later.py").write_text("def put():\n    pass\n", "utf-8")
    index.sync()
    for name in ("put", "later.put"):
        assert [one["id"] for one in results(memory.recall("later", about=name))] == [kept.id]


def test_all_subjects_of_a_recall_share_one_allowance_for_lines_that_moved(tmp_path: Path) -> None:
    lines = [f"line {number}" for number in range(10)]
    (tmp_path / "a").write_text("\n".join(lines), "utf-8")
    asked = [About("a", root="r", lines=range) for range in ((1, 2), (4, 5), (1, 3), (6, 8))]
    recorded = [AboutFiles({"r": str(tmp_path)}, 1_000).record(one) for one in asked]
    (tmp_path / "a").write_text("\n".join(["more", *lines]), "utf-8")
    chars = len("more") + sum(map(len, lines))
    two, three = (count * chars + DIGEST_CHARS * 11 for count in (2, 3))
    for allowance, moved in ((0, 0), (two, 2), (two + three - 1, 2), (two + three, 4)):
        subjects = AboutFiles({"r": str(tmp_path)}, 1_000, allowance)
        states = [subjects.state(one) for one in recorded]
        assert states == ["unchanged"] * moved + ["changed"] * (4 - moved)


def test_lines_that_did_not_move_need_no_allowance(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one\ntwo\n", "utf-8")
    recorded = AboutFiles({"r": str(tmp_path)}, 1_000).record(About("a", root="r", lines=(2, 2)))
    (tmp_path / "a").write_text("ONE\ntwo\n", "utf-8")
    assert AboutFiles({"r": str(tmp_path)}, 1_000, 0).state(recorded) == "unchanged"
