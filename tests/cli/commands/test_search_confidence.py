"""How sure an answer is, at the command line, over MCP and in the HTTP description."""

import json
from contextlib import closing
from pathlib import Path

import anyio
import pytest
from jsonschema import Draft202012Validator
from mcp.client.client import Client

import quintet as library_of_quintet
from cli.conftest import Quintet
from quintet.contracts.confidence import FITTED, Calibration
from quintet.http.schema.openapi import body_schema
from quintet.mcp.server import build_server
from quintet.serving.shared_index import SharedIndex

HASHING = "hash-384"
COUNT = 12


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Twelve files by hashed words, as the current folder, and what their cosines are said to mean."""
    for number in range(COUNT):
        (tmp_path / f"f{number}.md").write_text(f"# Part {number}\n\nthe cache, part {number}\n", "utf-8")
    monkeypatch.setitem(FITTED, HASHING, Calibration(0.0, 0.0, 0.0, 0.0, 0.0))
    monkeypatch.chdir(tmp_path)
    with library_of_quintet.open(tmp_path / ".quintet", "hashing") as index:
        index.sync([tmp_path])
    return tmp_path


def say(monkeypatch: pytest.MonkeyPatch, odds: float) -> None:
    monkeypatch.setitem(FITTED, HASHING, Calibration(odds, 0.0, 0.0, 0.0, 0.0))


def test_people_read_it_below_the_results(shelf: Path, quintet: Quintet) -> None:
    done = quintet("search", "cache", "--limit", "2")
    assert done.out.splitlines()[-2:] == ["", "confidence 0.5"]
    assert done.err == ""


def test_what_is_not_known_is_not_shown(shelf: Path, quintet: Quintet) -> None:
    assert "confidence" not in quintet("search", "cache", "--mode", "semantic").out
    assert "confidence" not in quintet("search", "cache", "--contract", "cfs").out


def test_programs_read_it_behind_the_mode(shelf: Path, quintet: Quintet) -> None:
    wire = json.loads(quintet("search", "cache", "--json").out)
    assert list(wire) == ["query", "mode", "confidence", "results", "status", "notes"]
    assert wire["confidence"] == 0.5
    assert json.loads(quintet("search", "cache", "--mode", "semantic", "--json").out)["confidence"] is None


def test_low_confidence_is_a_note_on_standard_error(
    shelf: Path, quintet: Quintet, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(monkeypatch, -3.0)
    done = quintet("search", "cache")
    assert done.code == 0
    assert done.err.startswith("note: the first result has only a 4.7 % chance of answering, ")
    assert done.err.endswith("[low_confidence]\n")


@pytest.mark.parametrize("odds", (0.0, -3.0))
def test_models_read_it_in_the_first_line(shelf: Path, monkeypatch: pytest.MonkeyPatch, odds: float) -> None:
    say(monkeypatch, odds)
    with library_of_quintet.open(shelf / ".quintet", create=False) as index:
        expected = index.search("cache").wire()

    async def called(shared: SharedIndex) -> tuple[str, object]:
        async with Client(build_server(shared)) as client:
            result = await client.call_tool("search", {"query": "cache"})
            return result.content[0].text, result.structured_content  # type: ignore[union-attr]

    with closing(SharedIndex(library_of_quintet.open(shelf / ".quintet"), base=shelf)) as shared:
        shown, structured = anyio.run(called, shared)
    assert shown.splitlines()[0] == f"10 results [ok], confidence {expected['confidence']}"
    assert ("[low_confidence]" in shown) == (odds < 0)
    assert structured == expected


@pytest.mark.parametrize(
    ("confidence", "fits"), [(0.5, True), (None, True), (0, True), (1.5, False), ("0.5", False)]
)
def test_the_http_description_says_what_it_may_be(shelf: Path, confidence: object, fits: bool) -> None:
    with library_of_quintet.open(shelf / ".quintet", create=False) as index:
        wire = {**index.search("cache").wire(), "confidence": confidence}
    assert Draft202012Validator(body_schema("quintet")).is_valid(wire) is fits
