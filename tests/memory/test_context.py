"""Where the asker is (spec 002, section 4): a context scopes the code and says where the graph is walked
from."""

from pathlib import Path
from typing import Any

import pytest

import quintet
from memory.views import codes
from quintet.errors import NotFound, UsageError

CODE = {
    "app/engine.py": "def start():\n    return spark()\n\n\ndef spark():\n    return 1\n",
    "app/wheel.py": "def turn():\n    return 'spin wheel'\n\n\ndef brake():\n    return 'spin stop'\n",
    "app/seat.py": "from wheel import brake\n\n\ndef sit():\n    return brake()\n",
}
OTHER = {"lib/toys.py": "def top():\n    return 'spin spin spin'\n"}


@pytest.fixture
def garage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    for name, text in {**CODE, **OTHER}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    with quintet.open(tmp_path / ".quintet", embedder=None) as index:
        index.sync([tmp_path / "app", tmp_path / "lib"])
        yield index


def _names(response: quintet.Response) -> list[str]:
    body: Any = response.body
    return [item["node"]["name"] for item in body["code"]]


@pytest.mark.requirement("002-UNIFIED-CONTEXT")
def test_the_project_of_a_context_scopes_the_code(garage: quintet.Index) -> None:
    assert _names(garage.search_all("spin"))[0] == "top"
    for context in ({"project": "app"}, quintet.ContextSnapshot(project="app")):
        assert sorted(_names(garage.search_all("spin", context))) == ["brake", "turn"]
    assert _names(garage.search_all("spin", {"project": "lib"})) == ["top"]


@pytest.mark.requirement("002-UNIFIED-CONTEXT")
@pytest.mark.parametrize(
    "context",
    [
        {"symbols": ["sit"]},
        {"symbols": ["seat.sit"]},
        {"symbols": ["seat.py:5"]},
        {"open_files": ["seat.py"]},
        {"open_files": ["app/seat.py"]},
    ],
)
def test_code_around_the_cursor_rises(garage: quintet.Index, context: Any) -> None:
    """`brake` is called at the cursor; `turn` matches just as well and is shorter."""
    plain = _names(garage.search_all("spin", {"project": "app"}))
    near = garage.search_all("spin", {"project": "app", **context})
    assert plain.index("brake") > plain.index("turn")
    assert _names(near).index("brake") < _names(near).index("turn")
    body: Any = near.body
    (brake,) = [item for item in body["code"] if item["node"]["name"] == "brake"]
    assert brake["provenance"]["matched_graph_expansion"] and brake["provenance"]["matched_bm25"]
    assert codes(near).count("context_unknown") == 0


@pytest.mark.requirement("002-UNIFIED-CONTEXT")
def test_what_a_recent_memory_is_about_counts_as_open(garage: quintet.Index) -> None:
    id = garage.memory.remember("the seat squeaks", about=["seat.py"]).id
    near = garage.search_all("spin", {"project": "app", "memories": [id]})
    assert _names(near).index("brake") < _names(near).index("turn")
    with pytest.raises(NotFound, match="there is no memory"):
        garage.search_all("spin", {"memories": ["nowhere"]})


def test_what_the_search_says_takes_precedence(garage: quintet.Index) -> None:
    context = {"project": "app", "symbols": ["sit"]}
    code = {"scope_filter": {"project": "lib"}, "graph_expansion": "none"}
    found = garage.search_all("spin", context, code=code)
    assert found.body["code"] == garage.search("spin", "mcb", scope_filter={"project": "lib"}).body["results"]


def test_a_context_that_is_not_indexed_is_told_and_changes_nothing(garage: quintet.Index) -> None:
    found = garage.search_all("spin", {"open_files": ["nowhere.py"], "symbols": ["nobody"]})
    assert found.body == garage.search_all("spin").body
    assert codes(found).count("context_unknown") == 2


@pytest.mark.parametrize(
    ("context", "message"),
    [
        ({"files": []}, "an object with any of project, open_files, symbols, memories"),
        ([], "an object with any of"),
        ({"project": 5}, "context.project is 5; it must be the name of a root"),
        ({"symbols": "sit"}, "context.symbols is 'sit'; it must be a list of at most 100 texts"),
        ({"open_files": [1]}, "context.open_files"),
        ({"memories": ["x"] * 101}, "context.memories"),
    ],
)
def test_a_context_that_means_nothing_is_refused(garage: quintet.Index, context: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        garage.search_all("spin", context)


@pytest.mark.parametrize("seeds", ["x", [1], ["x"] * 1001])
def test_seeds_that_are_no_list_of_ids_are_refused(garage: quintet.Index, seeds: Any) -> None:
    with pytest.raises(UsageError, match="seeds is"):
        garage.search("spin", "mcb", seeds=seeds)


def test_seeds_that_nobody_knows_lead_nowhere(garage: quintet.Index) -> None:
    plain = garage.search("spin", "mcb", graph_expansion={"callers": {"depth": 1}})
    asked = garage.search("spin", "mcb", seeds=["nobody"], graph_expansion={"callers": {"depth": 1}})
    assert asked.body == plain.body
