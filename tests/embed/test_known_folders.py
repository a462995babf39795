"""An index remembers its model by identity; the user's own list says where the folder is."""

from dataclasses import replace
from pathlib import Path

import pytest

import quintet
from embed.folders import RandomModel, random_model
from quintet.embed.folder import open_folder
from quintet.embed.known_folders import all_known, find
from quintet.errors import Conflict, MissingExtra, UsageError
from quintet.index import Index

TEXT = "# Harbour\n\nThe harbour master closed the northern gate before the storm.\n"


def hits(index: Index, query: str, mode: str) -> int:
    return len(index.search(query, mode=mode).body["results"])


@pytest.fixture(scope="module")
def model() -> RandomModel:
    return random_model("xlm-roberta", width=16, inner=32, layers=1, heads=2)


@pytest.fixture(autouse=True)
def own_list(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    folder = tmp_path / "own list"
    monkeypatch.setenv("QUINTET_MODELS", str(folder))
    return folder


@pytest.fixture
def folder(model: RandomModel, tmp_path: Path) -> Path:
    return model.write(tmp_path / "models" / "small")


@pytest.fixture
def indexed(folder: Path, tmp_path: Path) -> Path:
    """An index made with the model in `folder`."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "harbour.md").write_text(TEXT, "utf-8")
    with quintet.open(tmp_path / "index", embedder=folder) as index:
        assert index.sync([tmp_path / "notes"]).embedded == 1
    return tmp_path / "index"


def test_an_index_opens_again_without_naming_the_folder(folder: Path, indexed: Path) -> None:
    with quintet.open(indexed) as index:
        response = index.search("storm", mode="semantic")
        assert len(response.body["results"]) == 1 and response.notes == []
        assert index.status().embedder == open_folder(folder).identity
        assert (index.embedder.dimensions, index.embedder.kind) == (16, "canonical")  # type: ignore[union-attr]
        assert index.sync().pending == 0


def test_a_folder_that_moved_is_named_once_more(folder: Path, indexed: Path) -> None:
    moved = folder.rename(folder.with_name("elsewhere"))
    with pytest.raises(MissingExtra) as caught:
        quintet.open(indexed)
    assert str(folder) in caught.value.message
    assert open_folder(moved).identity in caught.value.message
    assert "'quintet models add PATH'" in caught.value.message
    with quintet.open(indexed, embedder=str(moved)) as index:
        assert hits(index, "storm", "semantic") == 1
    with quintet.open(indexed) as index:
        assert hits(index, "storm", "semantic") == 1


def test_a_folder_that_nobody_named_here_is_an_error_that_says_what_to_do(
    folder: Path, indexed: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("QUINTET_MODELS", str(tmp_path / "another user"))
    with pytest.raises(MissingExtra, match=r"folder:[0-9a-f]{16}:1, whose folder is not known here"):
        quintet.open(indexed)
    with quintet.open(indexed, embedder=None) as index:
        assert hits(index, "storm", "lexical") == 1


def test_a_model_that_changed_gives_no_vectors_that_do_not_belong(
    folder: Path, indexed: Path, model: RandomModel, tmp_path: Path
) -> None:
    other = random_model("xlm-roberta", width=16, inner=32, layers=1, heads=2, seed=6).write(
        tmp_path / "other"
    )
    (other / "model.safetensors").replace(folder / "model.safetensors")
    with quintet.open(indexed) as index:
        notes = index.search("storm").notes
        assert [note["code"] for note in notes if note["code"] == "leg_failed"] == ["leg_failed"]
        (tmp_path / "notes" / "more.md").write_text("# More\n\nBees dance.\n", "utf-8")
        with pytest.raises(Conflict, match="was changed: its identity is"):
            index.sync()
    with pytest.raises(Conflict, match="was embedded with"):
        quintet.open(indexed, embedder=folder)
    with quintet.open(indexed, embedder=None) as index:
        assert index.reembed(folder).embedded == 2
    with quintet.open(indexed) as index:
        assert hits(index, "bees dance", "semantic") == 2


def test_the_list_holds_each_model_once_and_forgets_what_is_damaged(
    folder: Path, model: RandomModel, own_list: Path, tmp_path: Path
) -> None:
    for place in (folder, model.write(tmp_path / "copy")):
        quintet.open(tmp_path / "one", embedder=place).close()
    quintet.open(tmp_path / "two", embedder=replace(model, window=32).write(tmp_path / "short")).close()
    assert sorted(known.path for known in all_known()) == [str(tmp_path / "copy"), str(tmp_path / "short")]
    identity = open_folder(folder).identity
    (file,) = [file for file in own_list.rglob("*.json") if identity.split(":")[1] in file.name]
    file.write_text("{", "utf-8")
    assert find(identity) is None and len(all_known()) == 1


def test_an_own_list_that_cannot_be_written_is_no_obstacle(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    monkeypatch.setenv("QUINTET_MODELS", str(tmp_path / "file"))
    with quintet.open(tmp_path / "index", embedder=folder) as index:
        assert index.embedder is not None


def test_a_folder_that_cannot_be_used_leaves_no_index_behind(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"modules\.json"):
        quintet.open(tmp_path / "index", embedder=tmp_path)
    assert not (tmp_path / "index").exists()


def test_settings_beside_an_index_cannot_name_a_model(folder: Path, indexed: Path) -> None:
    (indexed.parent / "quintet.toml").write_text(f'embedder = "{folder.as_posix()}"\n', "utf-8")
    with pytest.raises(UsageError, match="unknown setting 'embedder'"):
        quintet.open(indexed)


def test_an_own_embedder_may_have_an_identity_like_ours(tmp_path: Path) -> None:
    class Own:
        identity, dimensions = "folder:mine", 4

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [[1.0, 0.0, 0.0, 0.0] for _ in texts]

        def embed_query(self, text: str) -> list[float]:
            return [1.0, 0.0, 0.0, 0.0]

    (tmp_path / "note.md").write_text(TEXT, "utf-8")
    with quintet.open(tmp_path / "index", embedder=Own()) as index:
        index.sync([tmp_path / "note.md"])
    with quintet.open(tmp_path / "index") as index:
        assert index.embedder is None
