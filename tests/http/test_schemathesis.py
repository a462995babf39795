"""Schemathesis with all phases and all checks against a real server. openapi_hooks.py has the exemptions."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from http_serving import Running, indexed, serving

ALL = "examples,coverage,fuzzing,stateful"
# Six contracts make these the largest requests by far. The slow test covers them in full.
LARGE = "^(search|search_all|search_(quintet|harness|mcb|knowledge|cfs)|make_folder_context|explain_result)$"


def attack(running: Running, folder: Path, phases: str, *options: str) -> "subprocess.CompletedProcess[str]":
    """Run Schemathesis in this folder. The same seed sends the same requests."""
    words = [sys.executable, "-m", "schemathesis.cli", "run", f"{running.url}/openapi.json"]
    words += ["--phases", phases, "--checks", "all", "--seed", "1", "--generation-deterministic"]
    words += ["--no-color", "--warnings", "off", *options]
    hooks = str(Path(__file__).parent)
    environment = {**os.environ, "SCHEMATHESIS_HOOKS": "openapi_hooks", "PYTHONPATH": hooks}
    return subprocess.run(
        words, env=environment, cwd=folder, capture_output=True, text=True, check=False, timeout=3600
    )


def fill(running: Running) -> None:
    """What the examples of the document name."""
    base = "/v1/knowledge-bases/handbook"
    with running.client() as client:
        client.post("/v1/knowledge-bases", json={"slug": "handbook"}).raise_for_status()
        client.post(f"{base}/documents", json={"id": "canteen", "text": "At noon."}).raise_for_status()
        client.post(f"{base}/sources", json={"directory": "docs"}).raise_for_status()


def test_all_phases_and_checks_are_clean(tmp_path: Path) -> None:
    with serving(indexed(tmp_path / "library")) as running:
        fill(running)
        few = ("--max-examples", "2")
        most = attack(running, tmp_path, ALL, *few, "--exclude-operation-id-regex", LARGE)
        large = attack(running, tmp_path, "examples,fuzzing", *few, "--include-operation-id-regex", LARGE)
    for run in (most, large):
        assert run.returncode == 0, run.stdout[-20_000:] + run.stderr


@pytest.mark.slow
def test_all_phases_and_checks_are_clean_for_every_operation(tmp_path: Path) -> None:
    with serving(indexed(tmp_path / "library")) as running:
        fill(running)
        run = attack(running, tmp_path, ALL, "--max-examples", "100", "--continue-on-failure")
    print(run.stdout)
    assert run.returncode == 0, run.stdout[-20_000:] + run.stderr
