"""`search --receipt`, `verify`, `prove` and `why` on the command line."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Quintet, command, environment, words
from quintet.cli.files import LARGEST_JSON
from quintet.receipts.receipt import digest_of


def _index(quintet: Quintet) -> None:
    assert quintet("index", "--embedder", "hashing").code == 0


def _receipt(file: Path, quintet: Quintet, *arguments: str) -> Path:
    assert quintet("search", "cache", "--receipt", str(file), *arguments).code == 0
    return file


def test_a_receipt_changes_nothing_that_search_prints(
    indexed: Path, quintet: Quintet, tmp_path: Path
) -> None:
    plain = quintet("search", "cache", "--json")
    witnessed = quintet("search", "cache", "--json", "--receipt", str(tmp_path / "r.json"))
    assert witnessed == plain
    assert json.loads((tmp_path / "r.json").read_text())["claim"]["query"] == "cache"
    assert [file.name for file in tmp_path.iterdir()] == ["r.json"]


def test_a_receipt_of_nothing_found_is_one_too(indexed: Path, quintet: Quintet, tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    assert quintet("search", "zeppelin", "--mode", "lexical", "--receipt", str(file)).code == 1
    assert json.loads(file.read_text())["claim"]["results"] == []
    assert quintet("verify", str(file)).code == 0


def test_an_unchanged_index_is_identical(indexed: Path, quintet: Quintet, tmp_path: Path) -> None:
    file = _receipt(tmp_path / "r.json", quintet, "--contract", "cfs", "--filter", "path:docs/**")
    done = quintet("verify", str(file))
    assert (done.code, done.out) == (0, "identical\n")
    assert json.loads(quintet("verify", str(file), "--json").out)["identical"] is True


def test_one_changed_byte_ends_with_code_4_and_names_the_document(
    library: Path, quintet: Quintet, tmp_path: Path
) -> None:
    _index(quintet)
    file = _receipt(tmp_path / "r.json", quintet)
    place = library / "docs" / "keys.md"
    place.write_text(place.read_text().replace("digest", "digesd"))
    assert quintet("index").code == 0
    done = quintet("verify", str(file))
    assert done.code == 4
    assert "the index changed: library/docs/keys.md" in done.out
    told = json.loads(quintet("verify", str(file), "--json").out)
    assert (told["identical"], told["changed"]) == (False, ["library/docs/keys.md"])


def _refused(quintet: Quintet, file: Path, says: str) -> None:
    done = quintet("verify", str(file))
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert done.err.count("\n") == 1, "one sentence"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is not JSON"),
        (b"hello", "is not JSON"),
        (b"\xff\xfe\x00", "is not JSON"),
        (b"[" * 200_000, "is not JSON"),
        (b'{"a":' * 200_000, "is not JSON"),
        (b"1" * 10_000, "is not JSON"),
        (b"[]", "not a receipt"),
        (b"null", "not a receipt"),
        (b"{}", "not a receipt"),
        (b'{"claim": {}}', "version None is unknown"),
        (b'{"proof": 1}', "not a proof"),
        (b'{"proof": {}}', "version {} is unknown"),
    ],
)
def test_what_is_neither_receipt_nor_proof_is_refused(
    indexed: Path, quintet: Quintet, tmp_path: Path, content: bytes, says: str
) -> None:
    (tmp_path / "file").write_bytes(content)
    _refused(quintet, tmp_path / "file", says)


@pytest.mark.parametrize("value", ["NaN", "Infinity", "[" * 900 + "]" * 900])
def test_numbers_and_depths_that_no_receipt_has_are_refused(
    indexed: Path, quintet: Quintet, tmp_path: Path, value: str
) -> None:
    file = _receipt(tmp_path / "r.json", quintet)
    file.write_text(file.read_text().replace('"max_terms": ', f'"stranger": {value}, "max_terms": '))
    _refused(quintet, file, "changed after it was written")


def test_a_huge_file_is_not_read(indexed: Path, quintet: Quintet, tmp_path: Path) -> None:
    file = tmp_path / "huge"
    with file.open("wb") as opened:
        opened.truncate(LARGEST_JSON * 100)  # sparse
    _refused(quintet, file, "larger than any receipt")


def test_places_that_are_no_file_are_refused(indexed: Path, quintet: Quintet, tmp_path: Path) -> None:
    _refused(quintet, tmp_path, "is not a file")
    _refused(quintet, tmp_path / "missing", "cannot be read")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    _refused(quintet, tmp_path / "loop", "cannot be read")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are POSIX")
def test_a_pipe_that_nobody_writes_to_does_not_block(indexed: Path, quintet: Quintet, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    _refused(quintet, tmp_path / "pipe", "'-' reads standard input")
    done = quintet("search", "cache", "--receipt", str(tmp_path / "pipe"))
    assert done.code == 2 and "is not a file" in done.err


@pytest.mark.parametrize("place", ["/", ".", "missing/r.json", "docs/cache.md/r.json", "x" * 300])
def test_a_receipt_that_cannot_be_written_is_told(indexed: Path, quintet: Quintet, place: str) -> None:
    done = quintet("search", "cache", "--receipt", place)
    assert done.code in (2, 6), done
    assert "is not a file" in done.err or "cannot be written" in done.err


def test_a_device_stays_a_device(indexed: Path, quintet: Quintet) -> None:
    assert quintet("search", "cache", "--receipt", os.devnull).code == 2
    assert not Path(os.devnull).is_file()


def test_a_link_is_followed_and_stays(indexed: Path, quintet: Quintet, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real.json")
    _receipt(tmp_path / "link", quintet)
    assert (tmp_path / "link").is_symlink()
    assert json.loads((tmp_path / "real.json").read_text())["receipt"] == 1


def _chunk(quintet: Quintet, query: str = "cache") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(quintet("search", query, "--json").out)["results"][0]
    return found


def test_a_proof_is_checked_in_a_pipe_where_there_is_no_index(
    indexed: Path, quintet: Quintet, tmp_path: Path
) -> None:
    first = _chunk(quintet)
    proof = command("prove", first["chunk_id"], cwd=indexed)
    checked = subprocess.run(
        words(["verify", "-"]), cwd=tmp_path, input=proof.out.encode(), capture_output=True, env=environment()
    )
    root = json.loads(quintet("status", "--json").out)["state_root"]
    assert checked.returncode == 0, checked.stderr
    assert checked.stdout.decode().endswith(f"{first['path']} is in the index with state root {root}\n")


def test_a_proof_that_was_changed_does_not_hold(indexed: Path, quintet: Quintet, tmp_path: Path) -> None:
    proof = json.loads(quintet("prove", _chunk(quintet)["chunk_id"]).out)
    file = tmp_path / "proof.json"
    file.write_text(json.dumps(proof))
    assert json.loads(quintet("verify", "--json", str(file)).out)["holds"] is True
    for change in ({"content": "other"}, {"state_root": "0" * 64}, {"content": "\ud800"}, {"embedder": []}):
        file.write_text(json.dumps({**proof, **change}))
        _refused(quintet, file, "proof")


def test_what_is_not_in_the_index_cannot_be_proved(indexed: Path, quintet: Quintet) -> None:
    done = quintet("prove", "\x1b[31m0000")
    assert done.code == 3
    assert "no chunk has the id" in done.err and "\x1b" not in done.err


def test_why_ends_with_0_for_what_is_found_and_1_for_what_is_not(indexed: Path, quintet: Quintet) -> None:
    first = _chunk(quintet)
    found = quintet("why", "cache", first["chunk_id"])
    assert found.code == 0 and "it is result 1 of" in found.out
    missed = quintet("why", "cache", "notes with space.md", "--mode", "lexical")
    assert missed.code == 1
    assert "it is not among the results" in missed.out and "lexical: it does not match" in missed.out
    told = json.loads(quintet("why", "cache", first["path"], "--json").out)
    assert (told["rank"], told["path"]) == (1, first["path"])


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("cache", "nowhere.md"), 3),
        (("cache", "docs/cache.md", "--contract", "none"), 2),
        (("cache", "docs/cache.md", "--limit", "0"), 2),
        (("", "docs/cache.md"), 2),
    ],
)
def test_a_wrong_question_why_is_one_sentence(
    indexed: Path, quintet: Quintet, arguments: tuple[str, ...], code: int
) -> None:
    done = quintet("why", *arguments)
    assert (done.code, done.out) == (code, "")
    assert done.err.count("\n") == 1


def test_names_that_a_terminal_would_obey_are_spelt_out(
    library: Path, quintet: Quintet, tmp_path: Path
) -> None:
    name = "evil \u202e “name”.md"
    (library / name).write_text("# Zeppelin\n\nA zeppelin.\n", "utf-8")
    _index(quintet)
    file = tmp_path / "r.json"
    assert quintet("search", "zeppelin", "--receipt", str(file)).code == 0
    chunk = _chunk(quintet, "zeppelin")
    assert chunk["path"] == name
    (tmp_path / "proof.json").write_text(quintet("prove", chunk["chunk_id"]).out, "utf-8")
    (library / name).write_text("# Zeppelin\n\nAn airship.\n", "utf-8")
    assert quintet("index").code == 0
    forged = json.loads(file.read_text())
    forged["claim"]["results"][0].update(id="\x1b[2J", path="evil \u202e “name”.md\n\x1b[2J")
    forged["digest"] = digest_of(forged["claim"])
    (tmp_path / "forged.json").write_text(json.dumps(forged))
    for done in (
        quintet("verify", str(file)),
        quintet("verify", str(tmp_path / "forged.json")),
        quintet("verify", str(tmp_path / "proof.json")),
        quintet("why", "zeppelin", name),
    ):
        assert "evil \\u202e “name”.md" in done.out
        assert "\x1b" not in done.out and "\u202e" not in done.out


@pytest.mark.skipif(os.name == "nt", reason="names of bytes are POSIX")
def test_a_file_whose_name_is_no_text_goes_into_a_receipt_if_it_goes_into_the_index(
    library: Path, quintet: Quintet, tmp_path: Path
) -> None:
    (library / os.fsdecode(b"zeppelin-\xff.md")).write_text("# Zeppelin\n\nA zeppelin.\n")
    _index(quintet)
    file = tmp_path / "r.json"
    code = quintet("search", "zeppelin", "--mode", "lexical", "--receipt", str(file)).code
    assert code in (0, 1)
    assert len(json.loads(file.read_text())["claim"]["results"]) == 1 - code
    assert quintet("verify", str(file)).code == 0


def test_a_receipt_is_not_written_to_a_dash(indexed: Path, quintet: Quintet) -> None:
    done = quintet("search", "cache", "--receipt", "-")
    assert done.code == 2
    assert "name one to write to" in done.err
    assert not Path("-").exists()
