"""Embedding takes the processor time of one thread: no thread of BLAS works or spins beside it."""

import json
import os
import subprocess
import sys

import pytest

PROGRAM = """
import json, sys, time
from quintet.embed.canonical import compiled
from quintet.embed.models import local_embedder
if sys.argv[3] == "numpy":
    compiled.compiled_passes = lambda: None
embedder = local_embedder(sys.argv[1], processes=1)
text = "The ferry waits for the tide. " * int(sys.argv[2])
embedder.embed_query(text)
process, thread = time.process_time(), time.thread_time()
for _ in range(8):
    embedder.embed_query(text)
print(json.dumps([time.process_time() - process, time.thread_time() - thread]))
"""
SHARE = 1.1  # processor time of the process, over that of the thread that embeds


def processor_times(name: str, sentences: int, steps: str) -> tuple[float, float]:
    surroundings = {key: value for key, value in os.environ.items() if not key.endswith("_NUM_THREADS")}
    command = [sys.executable, "-c", PROGRAM, name, str(sentences), steps]
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=True)
    process, thread = json.loads(done.stdout)
    return process, thread


@pytest.mark.parametrize("steps", ["fastest", "numpy"])
@pytest.mark.parametrize("sentences", [2, 60])
def test_embedding_uses_one_thread_whatever_blas_would_like(sentences: int, steps: str) -> None:
    process, thread = processor_times("granite", sentences, steps)
    assert process <= SHARE * thread


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="BLAS has one thread here")
def test_the_measure_sees_threads_where_there_are_some() -> None:
    process, thread = processor_times("granite-1", sentences=60, steps="numpy")
    assert process > SHARE * thread
