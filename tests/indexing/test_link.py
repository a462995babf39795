"""The graph after edits, in any order, cut short or not, is the graph of a first run over the same files."""

import gc
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import apsw
import pytest

import quintet

CHILD = Path(__file__).parents[1] / "robustness" / "killed_run.py"
FILES = {
    "shop/__init__.py": "from shop.prices import total\n",
    "shop/prices.py": "from shop.tax import with_tax\n\n\ndef total(cart):\n    return with_tax(sum(cart))\n",
    "shop/tax.py": "RATE = 0.2\n\n\ndef with_tax(amount):\n    return amount * (1 + RATE)\n",
    "shop/cart.py": (
        "from shop import total\n\n\nclass Cart:\n    def pay(self):\n        return total(self.items)\n\n"
        "    def empty(self):\n        self.pay()\n"
    ),
    "shop/gift.py": (
        "from shop.cart import Cart\n\n\nclass Gift(Cart):\n    def wrap(self):\n        self.empty()\n"
    ),
    "web/price.ts": (
        'import { round } from "./round";\n\nexport function show(n: number) {\n  return round(n);\n}\n'
    ),
    "web/round.ts": "export function round(n: number) {\n  return n;\n}\n",
    "README.md": "# Shop\n\nThe tax is in [the tax module](shop/tax.py).\n",
}


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")


def index(place: Path, files: Path, **options: Any) -> quintet.Report:
    with quintet.open(place, None, batch_files=2) as opened:
        return opened.sync([files], **options)


def stored(place: Path) -> dict[str, list[Any]]:
    """Symbols, edges by name, and what is still to be linked."""
    connection = apsw.Connection(str(place / "index.db"))
    try:
        return {
            "symbols": connection.execute(
                "SELECT id, number, parent, kind, qualified_name, first_line, last_line, signature "
                "FROM symbols ORDER BY id"
            ).fetchall(),
            "edges": connection.execute(
                "SELECT a.qualified_name, e.relation, b.qualified_name, e.confidence, e.line, a.id, b.id "
                "FROM edges e JOIN symbols a ON a.row = e.source JOIN symbols b ON b.row = e.target "
                "ORDER BY 1, 2, 3, 4, 5, 6, 7"
            ).fetchall(),
            "nodes of chunks": connection.execute("SELECT id, node FROM chunks ORDER BY id").fetchall(),
            "unlinked": connection.execute("SELECT document FROM unlinked").fetchall(),
        }
    finally:
        connection.close()


def edges(place: Path) -> set[tuple[str, str, str]]:
    return {(source, relation, target) for source, relation, target, *_ in stored(place)["edges"]}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    write(tmp_path / "files", FILES)
    return tmp_path / "files"


@pytest.fixture
def place(tmp_path: Path, files: Path) -> Path:
    index(tmp_path / "index", files)
    return tmp_path / "index"


def anew(place: Path, files: Path) -> dict[str, list[Any]]:
    """What a first run over the same files stores."""
    fresh = place.with_name("fresh")
    shutil.rmtree(fresh, ignore_errors=True)
    index(fresh, files)
    return stored(fresh)


def test_calls_and_imports_lead_across_files(place: Path) -> None:
    found = edges(place)
    assert ("shop.prices.total", "calls", "shop.tax.with_tax") in found
    assert ("shop.cart.Cart.pay", "calls", "shop.prices.total") in found
    assert ("shop.gift.Gift.wrap", "calls", "shop.cart.Cart.empty") in found
    assert ("web.price.show", "calls", "web.round.round") in found
    assert ("README.md", "references", "shop.tax") in found
    assert ("shop.gift.Gift", "contains", "shop.gift.Gift.wrap") in found


def test_a_run_that_changes_nothing_links_nothing(place: Path, files: Path) -> None:
    before, seen = stored(place), []
    index(place, files, progress=lambda stage, done, total: seen.append(stage))
    assert "graph" not in seen
    assert stored(place) == before


def test_an_edit_that_leaves_the_outline_links_nothing(place: Path, files: Path) -> None:
    (files / "shop/tax.py").write_text(FILES["shop/tax.py"].replace("0.2", "0.3"), "utf-8")
    seen: list[str] = []
    assert index(place, files, progress=lambda stage, done, total: seen.append(stage)).indexed == 1
    assert "graph" not in seen
    assert stored(place) == anew(place, files)


def test_lines_that_move_link_only_the_file_itself(place: Path, files: Path) -> None:
    (files / "shop/tax.py").write_text("# a remark\n" + FILES["shop/tax.py"], "utf-8")
    linked: list[int] = []
    index(
        place, files, progress=lambda stage, done, total: linked.append(total) if stage == "graph" else None
    )
    assert set(linked) == {1}
    assert stored(place) == anew(place, files)


def test_a_renamed_function_is_lost_to_its_callers_and_found_again(place: Path, files: Path) -> None:
    renamed = FILES["shop/tax.py"].replace("with_tax", "taxed")
    (files / "shop/tax.py").write_text(renamed, "utf-8")
    index(place, files)
    assert ("shop.prices.total", "calls", "shop.tax.with_tax") not in edges(place)
    assert stored(place) == anew(place, files)
    (files / "shop/tax.py").write_text(FILES["shop/tax.py"] + "\n", "utf-8")
    index(place, files)
    assert ("shop.prices.total", "calls", "shop.tax.with_tax") in edges(place)


def test_a_removed_file_and_its_return_leave_no_trace(place: Path, files: Path) -> None:
    before = stored(place)
    (files / "shop/prices.py").unlink()
    index(place, files)
    assert stored(place) == anew(place, files)
    write(files, FILES)
    index(place, files)
    assert stored(place) == before


def variant(text: str, chance: random.Random) -> str:
    """The file with a name, a base, an import or a line changed."""
    names = ("total", "with_tax", "Cart", "pay", "empty", "round", "shop", "tax")
    match chance.randrange(4):
        case 0:
            return text.replace(chance.choice(names), chance.choice(names))
        case 1:
            return "# moved\n" * chance.randrange(1, 3) + text
        case 2:
            lines = text.splitlines(keepends=True)
            return "".join(
                line for line in lines if not line.startswith(chance.choice(("from", "import", "export")))
            )
        case _:
            return text + f"\n\ndef {chance.choice(names)}():\n    return {chance.choice(names)}()\n"


@pytest.mark.parametrize("seed", range(8))
def test_any_edits_end_where_a_first_run_does(place: Path, files: Path, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(3):
        for name in chance.sample(sorted(FILES), 3):
            target = files / name
            if target.exists() and chance.random() < 0.2:
                target.unlink()
            else:
                write(files, {name: variant(FILES[name], chance)})
        index(place, files)
    assert stored(place) == anew(place, files)


class Stopped(Exception):  # noqa: N818
    pass


def test_a_run_stopped_before_linking_is_completed_by_the_next(place: Path, files: Path) -> None:
    write(files, {"shop/tax.py": FILES["shop/tax.py"].replace("with_tax", "taxed")})
    write(files, {"shop/more.py": "from shop.tax import taxed\n\n\ndef more():\n    return taxed(1)\n"})

    def stop(stage: str, done: int, total: int) -> None:
        if stage == "graph":
            raise Stopped

    with pytest.raises(Stopped):
        index(place, files, progress=stop)
    assert len(stored(place)["unlinked"]) == 2
    index(place, files)
    assert stored(place) == anew(place, files)


def test_the_collector_rests_while_edges_are_made_and_works_again_after_a_stop(
    place: Path, files: Path
) -> None:
    write(files, {"shop/tax.py": FILES["shop/tax.py"].replace("with_tax", "taxed")})
    during = []

    def stop(stage: str, done: int, total: int) -> None:
        if stage == "graph":
            during.append(gc.isenabled())
            raise Stopped

    with pytest.raises(Stopped):
        index(place, files, progress=stop)
    assert during == [False]
    assert gc.isenabled()


def test_a_change_undone_between_two_cut_runs_brings_the_edges_back(place: Path, files: Path) -> None:
    before = stored(place)

    def stop(stage: str, done: int, total: int) -> None:
        if stage == "graph":
            raise Stopped

    write(files, {"shop/tax.py": FILES["shop/tax.py"].replace("with_tax", "taxed")})
    with pytest.raises(Stopped):
        index(place, files, progress=stop)
    write(files, {"shop/tax.py": FILES["shop/tax.py"]})
    index(place, files)
    assert stored(place) == before


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX")
@pytest.mark.parametrize("moment", (2, 5, 6, 7, 8))
def test_a_killed_run_is_completed_by_the_next(tmp_path: Path, files: Path, moment: int) -> None:
    place = tmp_path / "index"
    command = [sys.executable, str(CHILD), "commit", str(moment), str(place), str(files)]
    done = subprocess.run(command, capture_output=True, check=False, timeout=120)
    assert done.returncode == -signal.SIGKILL, done.stderr
    index(place, files)
    assert stored(place) == anew(place, files)


def test_edges_stay_within_a_root(tmp_path: Path) -> None:
    write(tmp_path / "one", {"a.py": "from b import f\n\n\ndef g():\n    f()\n"})
    write(tmp_path / "two", {"b.py": "def f():\n    pass\n"})
    with quintet.open(tmp_path / "index", None) as opened:
        opened.sync([tmp_path / "one", tmp_path / "two"])
    assert {relation for _, relation, _ in edges(tmp_path / "index")} == {"contains"}


def test_another_way_of_linking_makes_every_edge_anew(
    place: Path, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    linked: list[int] = []
    monkeypatch.setattr("quintet.indexing.link.LINKER", "next")
    for _ in range(2):
        index(
            place,
            files,
            progress=lambda stage, done, total: linked.append(total) if stage == "graph" else None,
        )
    assert linked == [len(FILES), len(FILES)]


def test_forgetting_a_document_takes_the_edges_to_it(
    place: Path, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files)
    with quintet.open(place, None) as opened:
        opened.forget("shop/tax.py")
    assert not any("shop.tax" in target for _, _, target in edges(place))
    index(place, files)
    assert stored(place) == anew(place, files)


def test_a_package_that_is_indexed_by_itself_knows_its_own_name(tmp_path: Path) -> None:
    write(tmp_path / "files", FILES)
    index(tmp_path / "index", tmp_path / "files" / "shop")
    assert ("prices.total", "calls", "tax.with_tax") in edges(tmp_path / "index")
