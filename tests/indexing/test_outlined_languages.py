"""Languages of which only the definitions are read: search, related and map know these."""

from pathlib import Path
from typing import Any

import pytest

import quintet

SOURCES = {
    "Store.swift": "class Store {\n    func keepAll() {\n        run()\n    }\n}\n",
    "Store.kt": "class Store {\n    fun keepAll() {\n        run()\n    }\n}\n",
    "Store.scala": "class Store {\n  def keepAll(): Unit = {\n    run()\n  }\n}\n",
    "store.ex": "defmodule Store do\n  def keepAll do\n    run()\n  end\nend\n",
    "store.lua": "local Store = {}\n\nfunction Store.keepAll()\n  run()\nend\n",
    "Store.hs": "class Store a where\n  keepAll :: a -> a\n  keepAll x = run x\n",
    "store.zig": "const Store = struct {\n    fn keepAll() void {\n        run();\n    }\n};\n",
}


@pytest.mark.parametrize("name", SOURCES)
def test_a_definition_is_found_by_its_name_and_by_what_contains_it(name: str, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / name).write_text(SOURCES[name], "utf-8")
    (tmp_path / "src" / "users.md").write_text("Store, keepAll, Store, keepAll and Store again.\n", "utf-8")
    with quintet.open(tmp_path / "index", None) as index:
        index.sync([tmp_path / "src"])
        results: Any = index.search("Store.keepAll", mode="lexical").body["results"]
        assert results[0]["path"].endswith(name)
        contains = index.related("Store.keepAll").wire()["neighbours"]
        assert [neighbour["steps"][0]["relation"] for neighbour in contains] == ["contains"]
        assert "keepAll" in index.map().text
