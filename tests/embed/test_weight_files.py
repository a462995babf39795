"""Tables and weights are the known ones, or an error says which file is not."""

from hashlib import sha256
from pathlib import Path

import pytest

from quintet.embed.canonical import tables
from quintet.embed.canonical.weights import read_granite
from quintet.embed.models import MODELS, PACK_HASH, granite_file, local_embedder
from quintet.errors import MissingExtra, StoreError


def test_the_tables_are_what_exact_arithmetic_gives() -> None:
    assert sha256(tables.make_tables()).hexdigest() == tables.SHA256


def test_altered_tables_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = Path(tables.__file__).parent
    changed = bytearray((package / "tables.bin").read_bytes())
    changed[77] ^= 1
    (tmp_path / "tables.bin").write_bytes(changed)
    monkeypatch.setattr(tables.resources, "files", lambda _: tmp_path)
    tables.tables.cache_clear()
    with pytest.raises(StoreError) as caught:
        tables.tables()
    monkeypatch.undo()
    tables.tables()
    assert "tables.bin" in caught.value.message
    assert tables.SHA256 in caught.value.message
    assert sha256(changed).hexdigest() in caught.value.message


def pack() -> bytes:
    place = granite_file()
    assert place is not None
    return place.read_bytes()


@pytest.mark.parametrize("damage", ["cut short", "one bit", "empty"])
def test_damaged_weights_are_refused_with_both_hashes(damage: str, tmp_path: Path) -> None:
    data = bytearray(pack())
    if damage == "one bit":
        data[len(data) // 2] ^= 1
    else:
        del data[0 if damage == "empty" else -1 :]
    file = tmp_path / "granite.hmsemb"
    file.write_bytes(data)
    with pytest.raises(StoreError) as caught:
        read_granite(file, PACK_HASH)
    assert str(file) in caught.value.message
    if damage != "empty":
        assert PACK_HASH in caught.value.message
        assert sha256(data).hexdigest() in caught.value.message


def test_missing_weights_name_the_command_that_fetches_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("QUINTET_MODELS", str(tmp_path))
    with pytest.raises(MissingExtra, match="quintet models pull minilm"):
        local_embedder("minilm")


def test_an_identity_names_the_weights() -> None:
    assert PACK_HASH[:12] in MODELS["granite"].identity
