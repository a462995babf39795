"""What every engine is given: passages, vectors and queries; and the exact nearest passages of a query."""

import gzip
import json
import random
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from quintet.model.vector import quantise

from . import Given

Int16 = npt.NDArray[np.int16]
SYNTHETIC = "synthetic"
DIMENSIONS = 384
SEED = 20_24
TERMS = 5
LONGER = (8, 24)  # words of a longer query
PARAGRAPH = 200  # words of a pasted paragraph
PER_SET = 100  # queries of one real set
NEARER = 100  # candidates by float32 whose products are then worked out in integers
SAMPLE = 256  # passages whose embedding is timed
WORD = re.compile(r"[A-Za-z]{3,}")


@dataclass(frozen=True, slots=True)
class Query:
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Material:
    """Where passages and queries lie for the processes that need them. Row n is passage n."""

    place: Path

    def given(self, count: int | None = None) -> Given:
        texts = json.loads((self.place / "texts.json").read_text("utf-8"))[:count]
        return Given(range(len(texts)), texts, np.load(self.place / "vectors.npy")[: len(texts)])

    def queries(self) -> list[Query]:
        return [Query(*fields) for fields in json.loads((self.place / "queries.json").read_text("utf-8"))]

    def query_vectors(self) -> Int16:
        vectors: Int16 = np.load(self.place / "query_vectors.npy")
        return vectors

    def keep(self, texts: list[str], vectors: Int16, queries: list[Query], query_vectors: Int16) -> None:
        (self.place / "texts.json").write_text(json.dumps(texts), "utf-8")
        (self.place / "queries.json").write_text(json.dumps([(q.kind, q.text) for q in queries]), "utf-8")
        np.save(self.place / "vectors.npy", vectors)
        np.save(self.place / "query_vectors.npy", query_vectors)


def passages(corpus: Path, count: int) -> list[str]:
    """The first `count` passages, or all there are; made-up text where there is no corpus."""
    return list(islice(_stored(corpus) if corpus.is_file() else _made_up(), count))


def _stored(corpus: Path) -> Iterator[str]:
    opened: Any = gzip.open if corpus.suffix == ".gz" else open
    with opened(corpus, "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            yield f"{record.get('title', '')}\n\n{record['text']}\n".replace("\0", " ")


def _made_up() -> Iterator[str]:
    """Words by Zipf's law: the n-th is n times rarer than the first."""
    chance = random.Random(SEED)
    syllables = [consonant + vowel for consonant in "bcdfghjklmnprstvwz" for vowel in "aeiou"]
    made = ["".join(chance.choices(syllables, k=chance.randint(1, 4))) for _ in range(30_000)]
    weights = [1 / (place + 1) for place in range(len(made))]
    while True:
        yield " ".join(chance.choices(made, weights, k=90)) + "\n"


def drawn(texts: list[str], count: int, pasted: int, sets: Path) -> list[Query]:
    """Half five-term, half longer, and the real sets, in one fixed random order; pasted paragraphs last."""
    chance = random.Random(SEED)
    wordy = [found for text in texts if len(found := WORD.findall(text)) >= LONGER[1]]
    asked = [
        Query("five terms", " ".join(chance.sample(chance.choice(wordy), TERMS))) for _ in range(count // 2)
    ]
    for _ in range(count - count // 2):
        length, found = chance.randint(*LONGER), chance.choice(wordy)
        start = chance.randint(0, len(found) - length)
        asked.append(Query("longer", " ".join(found[start : start + length])))
    for file in sorted(sets.glob("*/queries.jsonl")):
        lines = file.read_text("utf-8").splitlines()
        chosen = chance.sample(lines, min(PER_SET, len(lines)))
        asked += [Query(file.parent.name, json.loads(line)["text"]) for line in chosen]
    chance.shuffle(asked)
    return asked + [Query("200 terms", _pasted(wordy, chance)) for _ in range(pasted)]


def _pasted(wordy: list[list[str]], chance: random.Random) -> str:
    at, found = chance.randrange(len(wordy)), list[str]()
    while len(found) < PARAGRAPH:
        found += wordy[at % len(wordy)]
        at += 1
    return " ".join(found[:PARAGRAPH])


def vectors_of(texts: list[str], source: str | None) -> tuple[Int16, str, float]:
    """The vectors of the passages, whose they are, and the seconds that embedding all of them takes."""
    if source == SYNTHETIC:
        return clustered(len(texts), SEED), SYNTHETIC, 0.0
    embedder = _embedder()
    if source is None:
        start = time.perf_counter()
        made = quantise(embedder.embed_documents(texts))
        return made, embedder.identity, time.perf_counter() - start
    stored = np.load(source, mmap_mode="r")
    if len(stored) < len(texts):
        raise SystemExit(f"{source} has {len(stored)} vectors; {len(texts)} passages need one each")
    sample = texts[:: -(-len(texts) // SAMPLE)]  # from everywhere: passages of one kind may stand together
    embedder.embed_documents(sample)  # at first use its processes start and read the weights
    start = time.perf_counter()
    embedder.embed_documents(sample)
    each = (time.perf_counter() - start) / len(sample)
    embedder.close()
    return quantise(np.array(stored[: len(texts)])), embedder.identity, each * len(texts)


def query_vectors_of(
    queries: list[Query], vectors: Int16, source: str | None, kept: Path | None = None
) -> Int16:
    """By the embedder of the passages; `kept` is a file that saves making those of the same queries again."""
    if source == SYNTHETIC:
        chance = np.random.default_rng(SEED)
        rows = vectors[chance.integers(0, len(vectors), len(queries))] / 32767
        return quantise(rows + 0.03 * chance.standard_normal(rows.shape))
    asked = sha256("\0".join(query.text for query in queries).encode()).hexdigest()
    if kept and kept.is_file():
        stored = np.load(kept)
        if str(stored["asked"]) == asked:
            return np.asarray(stored["vectors"])
    embedder = _embedder()
    found = quantise(embedder.embed_documents([query.text for query in queries]))
    embedder.close()
    if kept:
        np.savez(kept, asked=asked, vectors=found)
    return found


def _embedder() -> Any:
    from quintet.embed import DEFAULT, load_embedder

    return load_embedder(DEFAULT)


def clustered(rows: int, seed: int) -> Int16:
    chance = np.random.default_rng(seed)
    centres = chance.standard_normal((2_000, DIMENSIONS))
    near = 0.7 * chance.standard_normal((rows, DIMENSIONS))
    return quantise(centres[chance.integers(0, len(centres), rows)] + near)


def tenth_best(vectors: Int16, queries: Int16, k: int) -> npt.NDArray[np.int64]:
    """The exact product of the k-th nearest passage of each query: what is not below it is right."""
    floats, found = vectors.astype(np.float32), np.empty(len(queries), np.int64)
    for at in range(0, len(queries), 256):
        rough = queries[at : at + 256].astype(np.float32) @ floats.T
        near = np.argpartition(-rough, min(NEARER, len(vectors) - 1), axis=1)[:, :NEARER]
        for row, candidates in enumerate(near):
            exact = products(vectors, queries[at + row], candidates)
            found[at + row] = np.sort(exact)[-k]
    return found


def products(vectors: Int16, query: Int16, rows: Any) -> npt.NDArray[np.int64]:
    return np.asarray(vectors[rows].astype(np.int64) @ query.astype(np.int64))
