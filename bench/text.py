"""Full text at scale: FTS5's own bm25() and tantivy by themselves, beside our two text indexes.

    python bench/text.py --corpus FILE.jsonl.gz [--rows 100000] [--json FILE]

Lines of the corpus are objects with `title` and `text`. Questions are words of its passages. Everyone is
asked for the best fifty chunk ids. Contenders take turns question by question, and figures are medians of the
turns; all of them use one thread, so its own time tells their ratio even on a busy machine.
"""

import argparse
import gzip
import itertools
import json
import random
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import apsw
import numpy as np
import tantivy

from quintet.model.documents import Chunk, Document, digest
from quintet.model.text_query import TextQuery
from quintet.ports.reading import Root, TextIndex
from quintet.ports.writing import Entry
from quintet.storage.sqlite.store import SqliteStore

DEPTH = 50
QUESTIONS = {5: 100, 200: 20}  # by their number of words; FTS5 alone takes seconds for the long ones
TURNS = 5
Search = Callable[[Sequence[str]], list[str]]
Passage = tuple[str, str]  # title, text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with gzip.open(given.corpus, "rt", encoding="utf-8") as lines:
        read = [json.loads(line) for line in itertools.islice(lines, given.rows)]
    text = json.dumps(measure([(record["title"], record["text"]) for record in read]), indent=1)
    if given.json:
        given.json.write_text(text + "\n", "utf-8")
    print(text)


def measure(passages: list[Passage]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        store = SqliteStore(place / "index")
        store.create()
        fill(store, passages)
        build = timed_build(place / "index")
        bare = bare_tantivy(place / "bare", passages)
        fts5, both = SqliteStore(place / "index"), SqliteStore(place / "index", text_index="tantivy")
        with fts5.snapshot() as exact, both.snapshot() as quick:
            questions = {length: asked(passages, exact.text, length) for length in QUESTIONS}
            contenders = {
                "bm25() of FTS5": plain_fts5(place / "index" / "index.db"),
                "quintet, fts5": ours(exact.text),
                "quintet, fts5, stems and weights": ours(exact.text, house=True),
                "bare tantivy": bare,
                "quintet, tantivy": ours(quick.text),
                "quintet, tantivy, stems and weights": ours(quick.text, house=True),
            }
            figures = {f"{length} words": turns(contenders, questions[length]) for length in QUESTIONS}
        derived = [file for file in (place / "index").glob("tantivy-*/*/*") if file.is_file()]
        return {
            "chunks": len(passages),
            "characters": sum(len(text) for _, text in passages),
            "tantivy build": build,
            "tantivy bytes": sum(file.stat().st_size for file in derived),
            "bare tantivy bytes": sum(file.stat().st_size for file in (place / "bare").iterdir()),
            "database bytes": (place / "index" / "index.db").stat().st_size,
            "peak MB of this process": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
            "ms": figures,
        }


def fill(store: SqliteStore, passages: list[Passage]) -> None:
    with store.writer(1) as writer:
        for at in range(0, len(passages), 5_000):
            with writer.batch():
                writer.put_root(Root("bench", "/bench"))
                for number, (title, text) in enumerate(passages[at : at + 5_000], at):
                    document = Document("bench", f"{number:07d}.txt", title, "text/plain", None, 1, 1, "")
                    chunk = Chunk(digest(document.id), document.id, 0, text, "", 1, 1)
                    writer.put(Entry(document, (chunk,), 1))
        writer.settle()


def timed_build(folder: Path) -> dict[str, float]:
    start, cpu = time.perf_counter(), time.process_time()
    store = SqliteStore(folder, text_index="tantivy")
    with store.snapshot() as snapshot:
        snapshot.text.search(TextQuery(("word",)), 1)
    store.close()
    taken, used = time.perf_counter() - start, time.process_time() - cpu
    return {"seconds": round(taken, 1), "cpu seconds": round(used, 1)}


def bare_tantivy(folder: Path, passages: list[Passage]) -> Search:
    """The obvious way: title and text in one field, ids stored, words looked up one by one."""
    folder.mkdir()
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw")
    builder.add_text_field("body")
    index = tantivy.Index(builder.build(), path=str(folder))
    writer = index.writer(500_000_000, 1)
    for number, (title, text) in enumerate(passages):
        writer.add_document(tantivy.Document(id=f"{number:032x}", body=f"{title}\n{text}"))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher, schema = index.searcher(), index.schema

    def search(words: Sequence[str]) -> list[str]:
        terms = [
            (tantivy.Occur.Should, tantivy.Query.term_query(schema, "body", word, "freq")) for word in words
        ]
        found = searcher.search(tantivy.Query.boolean_query(terms), DEPTH, count=False).hits
        return [str(searcher.doc(address).get_first("id")) for _, address in found]

    return search


def plain_fts5(file: Path) -> Search:
    connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
    connection.pragma("mmap_size", 1 << 30)
    connection.pragma("cache_size", -65_536)

    def search(words: Sequence[str]) -> list[str]:
        asked = " OR ".join(f'"{word}"' for word in words)
        best = "SELECT rowid FROM text WHERE text MATCH ? ORDER BY rank LIMIT ?"
        rows = connection.execute(f"SELECT id FROM chunks WHERE row IN ({best})", (asked, DEPTH))
        return [chunk_id for (chunk_id,) in rows]

    return search


def ours(text: TextIndex, *, house: bool = False) -> Search:
    weights = (("heading_path", 2.0), ("title", 2.0)) if house else ()

    def search(words: Sequence[str]) -> list[str]:
        query = TextQuery(tuple(words), parts=house, stems=house, field_weights=weights)
        return [hit.chunk_id for hit in text.search(query, DEPTH)]

    return search


def asked(passages: list[Passage], text: TextIndex, length: int) -> list[list[str]]:
    """Words of a passage in any order; two hundred are taken from as many passages as they need."""
    chance = random.Random(length)
    questions = []
    for _ in range(QUESTIONS[length]):
        words: dict[str, None] = {}
        while len(words) < length:
            words |= dict.fromkeys(text.tokens(chance.choice(passages)[1]))
        questions.append(chance.sample(list(words), length))
    return questions


def turns(contenders: dict[str, Search], questions: list[list[str]]) -> dict[str, dict[str, float]]:
    for search in contenders.values():
        search(questions[0])
    figures: dict[str, list[dict[str, float]]] = {name: [] for name in contenders}
    for _ in range(TURNS):
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in contenders}
        for question in questions:
            for name, search in contenders.items():
                start, own = time.perf_counter(), time.thread_time()
                search(question)
                taken[name].append((time.perf_counter() - start, time.thread_time() - own))
        for name, seconds in taken.items():
            figures[name].append(quantiles(1000 * np.array(seconds)))
        for turn in figures.values():
            bare = figures["bare tantivy"][-1]
            turn[-1] |= {f"{key} of bare": turn[-1][key] / bare[key] for key in ("own p50", "own p95")}
    return {
        name: {key: round(median(turn[key] for turn in found), 2) for key in found[0]}
        for name, found in figures.items()
    }


def quantiles(milliseconds: Any) -> dict[str, float]:
    p50, p95 = np.quantile(milliseconds, [0.5, 0.95], axis=0).tolist()
    return {"p50": p50[0], "p95": p95[0], "own p50": p50[1], "own p95": p95[1]}


if __name__ == "__main__":
    main()
