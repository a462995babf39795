"""How long recall takes over 10,000 memories, and how long it takes to remember one more.

    python bench/memory.py [COUNT]

Hashed words stand in for a model, so the figures hold the engine's time, not the model's.
"""

import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import quintet
from quintet.memory.json_lines import export_line
from quintet.memory.memo_entry import memo_id
from quintet.model.memories import KINDS, Memo

SEED = 7
WORDS = 4_000
ROUNDS = 300


def vocabulary(chance: random.Random) -> list[str]:
    return ["".join(chance.choices("abcdefghiklmnoprstuvw", k=chance.randint(3, 10))) for _ in range(WORDS)]


def sentence(chance: random.Random, words: list[str], length: int) -> str:
    """Few words are common, most are rare, as in any language."""
    return " ".join(words[min(int(chance.paretovariate(0.7)), WORDS) - 1] for _ in range(length))


def memories(count: int, chance: random.Random, words: list[str]) -> list[str]:
    """Lines as an export has them; every twentieth is superseded by the one after it."""
    made: list[Memo] = []
    for number in range(count):
        text, kind = sentence(chance, words, chance.randint(10, 60)) + f" n{number}", chance.choice(KINDS)
        at = 1_700_000_000_000 + number
        made.append(
            Memo(
                memo_id(kind, text, 0),
                text,
                kind,
                at,
                at,
                tags=(f"t{number % 50}",),
                sessions=(f"s{number % 20}",),
            )
        )
    lines = []
    for number, memo in enumerate(made):
        older, newer = number % 20 == 1, number % 20 == 0 and number + 1 < count
        fields = json.loads(export_line(memo))
        fields["supersedes"] = [made[number - 1].id] if older else []
        if newer:
            fields |= {"superseded_by": made[number + 1].id, "valid_until_ms": made[number + 1].created_ms}
        lines.append(json.dumps(fields))
    return lines


def timed(name: str, rounds: int, call: Callable[[int], object]) -> dict[str, object]:
    """On a busy machine the processor time says more than the clock."""
    seconds, worked = [], []
    for number in range(rounds):
        start, before = time.perf_counter(), time.process_time()
        call(number)
        seconds.append(time.perf_counter() - start)
        worked.append(time.process_time() - before)
    p50, p95 = statistics.median(seconds), sorted(seconds)[int(0.95 * len(seconds))]
    figures = {"p50_ms": p50, "p95_ms": p95, "processor_p50_ms": statistics.median(worked)}
    return {"what": name, **{figure: round(1e3 * value, 2) for figure, value in figures.items()}}


def main(count: int) -> None:
    chance = random.Random(SEED)
    words = vocabulary(chance)
    with tempfile.TemporaryDirectory() as folder, quintet.open(Path(folder) / "index", "hashing") as index:
        memory = index.memory
        start = time.perf_counter()
        memory.import_(memories(count, chance, words))
        print(json.dumps({"what": f"import {count}", "seconds": round(time.perf_counter() - start, 1)}))
        queries = [sentence(chance, words, chance.randint(2, 8)) for _ in range(ROUNDS)]
        memory.recall(queries[0])
        asked: dict[str, dict[str, object]] = {
            "recall": {},
            "recall with a kind": {"kind": "decision"},
            "recall with a tag": {"tags": ["t7"]},
            "recall of a session": {"session": "s3"},
            "recall of everything": {"include_superseded": True},
        }
        for name, params in asked.items():
            print(
                json.dumps(timed(name, ROUNDS, lambda at, given=params: memory.recall(queries[at], **given)))
            )
        print(json.dumps(timed("remember", 50, lambda at: memory.remember(queries[at] + " anew"))))
        print(json.dumps(timed("timeline", 50, lambda at: memory.timeline())))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
