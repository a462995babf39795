"""Backups while a real server answers and a real writer writes."""

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "http"))

from http_serving import command, indexed, serving

import quintet

WRITER = Path(__file__).with_name("writing.py")
QUERIES = ({"query": "cache key"}, {"query": "written round", "mode": "lexical", "limit": 50})


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = indexed(tmp_path / "project")
    with quintet.open(folder / ".quintet", "hashing") as index:
        index.knowledge.create("shelf")
    return folder


def backed_up(project: Path, target: Path) -> None:
    done = command("backup", str(target), cwd=project)
    assert done.returncode == 0, done.stderr


def rounds(folder: Path) -> tuple[int, int, int]:
    """How many rounds of the writer an index contains: in its notes, its memories and its base."""
    with quintet.open(folder, "hashing", create=False) as index:
        wrong = [check.message for check in index.doctor() if not check.ok and check.name != "vectors"]
        assert wrong == []  # the vectors of a round may not have been made yet
        base = index.knowledge.get("shelf")
        text = base.source_file("changing").location.read_text("utf-8")
        memories = index.memory.recall("round is over", limit=1000).body["results"]
        numbers = [int(one["text"].split()[1]) for one in memories]
        assert sorted(numbers) == [*range(len(numbers))]
        assert text in str(base.search("version of the text").body)
        notes = index.status().files - 5
        return notes, len(numbers), int(text.split()[1]) + 1


def test_a_backup_made_while_a_server_and_a_writer_work_is_one_state_of_each_part(
    project: Path, tmp_path: Path
) -> None:
    with (
        serving(project) as server,
        server.client() as client,
        subprocess.Popen(
            [sys.executable, str(WRITER), str(project)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as writer,
    ):
        assert writer.stdin is not None and writer.stdout is not None
        done_before = int(writer.stdout.readline())
        assert client.post("/v1/search", json=QUERIES[0]).status_code == 200
        backed_up(project, tmp_path / "during")
        writer.stdin.close()
        done_after = int(writer.stdout.read().split()[-1])
        writer.wait()

        quintet.restore(tmp_path / "during", tmp_path / "restored")
        for count in rounds(tmp_path / "restored"):
            assert done_before + 1 <= count <= done_after + 1

        backed_up(project, tmp_path / "after")
        (tmp_path / "place").mkdir()
        quintet.restore(tmp_path / "after", tmp_path / "place" / ".quintet")
        with quintet.open(tmp_path / "place" / ".quintet", "hashing") as index:
            assert index.status().state_root == client.get("/v1/status").json()["state_root"]
            for query in QUERIES:
                answer = client.post("/v1/search", json=query).json()
                assert index.search(**query).body["results"] == answer["results"]

        quintet.restore(tmp_path / "during", project / ".quintet", replace=True)
        with quintet.open(tmp_path / "restored", "hashing") as index:
            assert index.status().state_root == client.get("/v1/status").json()["state_root"]
            for query in QUERIES:
                answer = client.post("/v1/search", json=query).json()
                assert index.search(**query).body["results"] == answer["results"]
