"""Bytes that change on the disk: an answer is right, or it is an error that says what to do."""

import json
import random
import shutil
import subprocess
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import apsw
import pytest

import quintet
from quintet.errors import QuintetError, StoreError
from quintet.serving.keys import Keys

WORDS = ("zebra", "camel", "whale", "tide", "harbour", "lantern", "copper", "meadow")
UPLOAD = b"# Upload\n\nwhales and tides"
FLIPS = 60
SEED = 11


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an index with notes, memories and a knowledge base."""
    folder = tmp_path_factory.mktemp("sound")
    chance = random.Random(SEED)
    (folder / "notes").mkdir()
    for number in range(40):
        prose = " ".join(chance.choice(WORDS) for _ in range(80))
        (folder / "notes" / f"{number}.md").write_text(f"# Note {number}\n\n{prose}\n", "utf-8")
    with quintet.open(folder / "index", "hashing") as index:
        index.sync([folder / "notes"])
        index.memory.remember("the zebra has stripes")
        base = index.knowledge.create("shelf")
        base.put("zebras and camels", id="text")
        base.put_file(UPLOAD, "upload.md", id="upload")
        answers(index)
    return folder / "index"


@pytest.fixture
def copy(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "copy"))


def answers(index: quintet.Index) -> list[str]:
    given = [
        index.search("zebra camel", mode="lexical"),
        index.search("lantern tide", "rifflux", mode="lexical"),
        index.memory.recall("zebra"),
        index.knowledge.get("shelf").search("zebras", search_method="keyword"),
    ]
    shown = [json.dumps(response.body, sort_keys=True, default=str) for response in given]
    return [*shown, repr(index.get("3.md"))]


def altered(file: Path, sql: str) -> None:
    connection = apsw.Connection(str(file))
    connection.execute(sql)
    assert connection.changes() > 0
    connection.close()


@pytest.mark.parametrize("file", ["index.db", "memory.db", "knowledge/shelf/index.db"])
def test_a_flipped_bit_changes_no_answer_that_neither_fails_nor_is_found_by_the_doctor(
    sound: Path, tmp_path: Path, file: str
) -> None:
    with quintet.open(sound, "hashing") as index:
        expected = answers(index)
    chance = random.Random(SEED)
    wrong = []
    for number in range(FLIPS):
        folder = Path(shutil.copytree(sound, tmp_path / str(number)))
        data = bytearray((folder / file).read_bytes())
        place = chance.randrange(len(data))
        data[place] ^= 1 << chance.randrange(8)
        (folder / file).write_bytes(data)
        try:
            with quintet.open(folder, "hashing") as index:
                if answers(index) != expected and all(check.ok for check in index.doctor()):
                    wrong.append(place)
        except QuintetError:
            pass
        shutil.rmtree(folder)
    assert wrong == []


@pytest.mark.parametrize(
    ("file", "ask"),
    [
        ("index.db", lambda index: index.search("zebra")),
        ("index.db", lambda index: index.get("3.md")),
        ("memory.db", lambda index: index.memory.recall("stripes")),
        ("knowledge/shelf/index.db", lambda index: index.knowledge.get("shelf").search("zebras")),
    ],
)
def test_text_that_is_not_what_was_indexed_is_never_shown(copy: Path, file: str, ask: object) -> None:
    assert callable(ask)
    altered(copy / file, "UPDATE contents SET content = replace(content, 'a', 'e')")
    with quintet.open(copy, "hashing") as index:
        with pytest.raises(StoreError, match="is not what was indexed") as refused:
            ask(index)
        assert refused.value.code == "store_failed"
        assert "move it away" in refused.value.message
        name = {"index.db": "text", "memory.db": "memory"}.get(file, "bases")
        assert name in [check.name for check in index.doctor() if not check.ok]


def test_the_doctor_names_the_knowledge_base_and_the_upload_that_are_damaged(copy: Path) -> None:
    original = copy / "knowledge/shelf/files" / sha256(UPLOAD).hexdigest()
    original.write_bytes(b"something else")
    with quintet.open(copy, "hashing") as index:
        (found,) = (check for check in index.doctor() if not check.ok)
        assert found.name == "bases"
        assert found.message.startswith(f"shelf: the upload {original.name} is damaged; delete")
        with pytest.raises(StoreError, match="the upload of document 'upload' is damaged"):
            index.knowledge.get("shelf").update("upload", title="new")


@pytest.mark.parametrize("table", ["contents", "chunks", "documents"])
def test_a_row_that_is_gone_is_an_answer_without_it_or_an_error_of_the_store(copy: Path, table: str) -> None:
    altered(copy / "index.db", f"DELETE FROM {table} WHERE row = 3")
    with quintet.open(copy, "hashing") as index:
        for mode in ("lexical", "semantic", "hybrid"):
            with suppress(StoreError):
                index.search(" ".join(WORDS), "rifflux", mode=mode, top_k=100)
        assert not all(check.ok for check in index.doctor())


def test_a_salt_that_is_not_hexadecimal_is_an_error_of_the_store(tmp_path: Path) -> None:
    _, secret = Keys(tmp_path).add("reader", "read")
    file = tmp_path / "keys.json"
    stored = json.loads(file.read_text("utf-8"))
    stored["keys"][0]["salt"] = "not hex"
    file.write_text(json.dumps(stored), "utf-8")
    with pytest.raises(StoreError, match=r"keys\.json cannot be read \(ValueError\); restore it"):
        Keys(tmp_path).verify(secret)


def test_a_graph_that_does_not_fit_the_disk_is_an_error_of_the_store(copy: Path) -> None:
    script = (
        "import resource, signal, quintet\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"index = quintet.open({str(copy)!r}, 'hashing')\n"
        "index.search('zebra')\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "try:\n    index.build_hnsw()\nexcept quintet.StoreError as error:\n    print(error.message)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "if the disk is full, make room and build the graph again" in done.stdout
