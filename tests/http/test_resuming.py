"""A server continues what the end of another process interrupted."""

import signal
import subprocess
import sys
from pathlib import Path

from http_serving import serving

import quintet


def test_a_server_resumes_a_sync_that_a_kill_interrupted(library: Path) -> None:
    papers = library / "papers"
    papers.mkdir()
    (papers / "a.md").write_text("zeppelins fly", "utf-8")
    with quintet.open(library / ".quintet") as index:
        index.knowledge.create("shelf").add_source(str(papers))
    script = (
        "import os, signal, quintet\n"
        f"base = quintet.open({str(library / '.quintet')!r}).knowledge.get('shelf')\n"
        "base.sync_source('papers', progress=lambda run: run.path and os.kill(os.getpid(), signal.SIGKILL))\n"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == -signal.SIGKILL
    asked = {"retrieval": {"query": "zeppelins", "index": "kb_shelf", "search_method": "keyword"}}
    with serving(library) as server, server.client() as client:
        while client.get("/v1/knowledge-bases/shelf/runs").json()["runs"][0]["state"] != "done":
            pass
        found = client.post("/v1/retrieval", json=asked).json()
        assert "zeppelins fly" in str(found)
        assert "partly_synced" not in str(found["notes"])
