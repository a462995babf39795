"""API keys: made, listed, taken back, and never kept as they are."""

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from quintet.cli.main import run
from quintet.errors import AccessError, NotFound, StoreError, UsageError
from quintet.serving.keys import FILE, Keys


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    return Keys(tmp_path)


def test_a_key_is_known_by_its_secret_and_kept_as_a_salted_hash(keys: Keys, tmp_path: Path) -> None:
    key, secret = keys.add("laptop", "read")
    other, same_name_elsewhere = Keys(tmp_path).add("desk", "write")
    stored = (tmp_path / FILE).read_text("utf-8")
    assert keys.verify(secret) == key
    assert keys.verify(same_name_elsewhere) == other
    assert secret.rpartition("_")[2] not in stored
    assert key.salt != other.salt
    assert [one.name for one in keys.all()] in (["laptop", "desk"], ["desk", "laptop"])


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_only_the_owner_may_read_the_file(keys: Keys, tmp_path: Path) -> None:
    keys.add("one", "read")
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    keys.add("two", "read")
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".keys")] == []


def test_a_revoked_key_is_refused_at_once_even_by_those_who_have_seen_it(keys: Keys, tmp_path: Path) -> None:
    _, secret = keys.add("laptop", "read")
    keys.verify(secret)
    assert Keys(tmp_path).revoke("laptop").name == "laptop"
    with pytest.raises(AccessError) as refused:
        keys.verify(secret)
    assert refused.value.code == "unauthorized"


def test_a_name_used_again_does_not_bring_the_old_key_back(keys: Keys) -> None:
    _, old = keys.add("laptop", "read")
    keys.revoke("laptop")
    _, new = keys.add("laptop", "read")
    assert keys.verify(new).name == "laptop"
    with pytest.raises(AccessError):
        keys.verify(old)


@pytest.mark.parametrize("presented", ["", "x", "qk_", "qk_000000000000_" + "a" * 43, "ключ", "qk_\0"])
def test_what_is_no_key_of_these_is_refused(keys: Keys, presented: str) -> None:
    keys.add("laptop", "read")
    with pytest.raises(AccessError):
        keys.verify(presented)


def test_the_secret_of_another_key_does_not_fit(keys: Keys) -> None:
    _, one = keys.add("one", "read")
    _, two = keys.add("two", "write")
    mixed = two[: len("qk_") + 12] + one[len("qk_") + 12 :]
    with pytest.raises(AccessError):
        keys.verify(mixed)


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 65, "a/b", "\x1b[31m"])
def test_a_name_that_would_not_print_well_is_refused(keys: Keys, name: str) -> None:
    with pytest.raises(UsageError, match="name"):
        keys.add(name, "read")


def test_a_name_belongs_to_one_key(keys: Keys) -> None:
    keys.add("laptop", "read")
    with pytest.raises(UsageError, match="already"):
        keys.add("laptop", "write")


def test_a_key_that_there_is_not_cannot_be_revoked(keys: Keys) -> None:
    with pytest.raises(NotFound):
        keys.revoke("nobody")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"keys": [{}]}', '{"keys": 3}'])
def test_a_damaged_file_lets_nobody_in(keys: Keys, tmp_path: Path, text: str) -> None:
    _, secret = keys.add("laptop", "read")
    (tmp_path / FILE).write_text(text, "utf-8")
    with pytest.raises(StoreError):
        keys.verify(secret)
    with pytest.raises(StoreError):
        keys.add("other", "read")


def test_keys_added_at_once_are_all_kept(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        secrets = list(pool.map(lambda n: Keys(tmp_path).add(f"key {n}", "read")[1], range(8)))
    keys = Keys(tmp_path)
    assert len(keys.all()) == 8
    assert {keys.verify(secret).name for secret in secrets} == {f"key {n}" for n in range(8)}


def test_the_command_line_adds_lists_and_revokes(
    library: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(library)
    assert run(["keys", "add", "laptop", "--write"]) == 0
    out, err = capsys.readouterr()
    key = Keys(library / ".quintet").verify(out.strip())
    assert (key.name, key.scope) == ("laptop", "write")
    assert "only time" in err
    assert run(["keys", "add", "phone", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert (made["name"], made["scope"]) == ("phone", "read")
    assert run(["keys", "list"]) == 0
    listed = capsys.readouterr().out
    assert f"{key.id}  write" in listed
    assert key.hash not in listed
    assert run(["keys", "list", "--json"]) == 0
    assert {one["name"] for one in json.loads(capsys.readouterr().out)["keys"]} == {"laptop", "phone"}
    assert run(["keys", "revoke", key.id]) == 0
    assert capsys.readouterr().out == "revoked laptop\n"
    assert run(["keys", "revoke", "laptop"]) == 3


def test_without_an_index_there_is_nothing_to_have_keys_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["keys", "add", "laptop", "--db", str(tmp_path / "nowhere")]) == 3
    assert "'quintet index'" in capsys.readouterr().err


def test_a_place_that_cannot_be_written_is_a_failed_store(keys: Keys, tmp_path: Path) -> None:
    (tmp_path / FILE).with_suffix(".lock").mkdir()
    for change in (lambda: keys.add("laptop", "read"), lambda: keys.revoke("laptop")):
        with pytest.raises(StoreError, match="check the disk"):
            change()
