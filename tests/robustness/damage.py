"""Damage to the files of an index, and everything that it answers: right, or an error of the store."""

import json
import os
import random
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import apsw

import quintet
from quintet.errors import QuintetError

WORDS = ("zebra", "camel", "whale", "tide", "harbour", "lantern", "copper", "meadow")
LEFT_ALONE = {".gitignore", ".managed.json", ".tantivy-meta.lock", ".tantivy-writer.lock"}
NOW_NS = 1_800_000_000 * 1_000_000_000
SECTOR = 512  # bytes that a disk may lose at once
SEED = 11
PAGE = 4096
FTS5 = ("text_", "parts_", "cjk_")
DECIDED_BY_FTS5 = {3, 5, 6, 8}  # of the answers below: phrases, and FTS5's own syntax
HIDDEN = "a match hidden in FTS5"  # see docs/decisions/0019-checksums.md
KNOWN = ("right", "refused", HIDDEN)


def make_index(folder: Path) -> Path:
    """Notes and code, memories, a knowledge base, a tantivy index and an HNSW graph."""
    chance = random.Random(SEED)
    for number in range(30):
        place = folder / "notes" / f"part{number % 3}" / f"{number}.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        prose = " ".join(chance.choice(WORDS) for _ in range(80))
        place.write_text(f"# Note {number}\n\n{prose}\n\n## More\n\n{prose[:200]}\n", "utf-8")
        os.utime(place, (1_700_000_000 + number * 86_400,) * 2)
    for number in range(10):
        place = folder / "notes" / f"module{number}.py"
        calls = f"    return tide_{(number + 3) % 10}(zebra)\n"
        imported = f"from module{(number + 3) % 10} import tide_{(number + 3) % 10}\n\n\n"
        place.write_text(f"{imported}def tide_{number}(zebra):\n{calls}", "utf-8")
        os.utime(place, (1_700_000_000,) * 2)
    with opened(folder / "index") as index:
        index.sync([folder / "notes"])
        for number in range(8):
            index.memory.remember(f"the {WORDS[number]} number {number} has stripes")
        base = index.knowledge.create("shelf")
        for number in range(8):
            base.put(f"{WORDS[number]} and {WORDS[-number]} in text {number}", id=f"text{number}")
        base.put_file(b"# Upload\n\nwhales and tides", "upload.md", id="upload")
        answers(index)
        index.build_hnsw()
    with opened(folder / "index", text_index="tantivy") as index:
        index.sync()
        answers(index)
    return folder / "index"


def opened(folder: Path, text_index: str = "fts5") -> quintet.Index:
    return quintet.open(folder, "hashing", clock_ns=lambda: NOW_NS, text_index=text_index)


def answers(index: quintet.Index) -> list[str]:
    base = index.knowledge.get("shelf")
    given = [
        index.search("zebra camel", limit=20),
        index.search("zebra camel", mode="lexical", limit=50),
        index.search("lantern tide", mode="semantic", limit=50),
        index.search("tide_3", limit=20),
        index.search("copper path:part1/**"),
        index.search('"zebra camel" meadow', "rifflux", top_k=50),
        index.search("zebra AND camel", "rifflux", mode="lexical", syntax="fts5"),
        index.search("whale", "harness"),
        index.search("tide_4 zebra", "mcb", limit=20),
        index.search("meadow", "cfs"),
        index.search("copper", "knowledge"),
        index.search("harbour", vectors="hnsw", mode="semantic"),
        index.memory.recall("stripes", limit=20),
        base.search("zebra text", top_k=20),
        base.search("whale", search_method="keyword"),
    ]
    shown = [json.dumps(response.body, sort_keys=True, default=str) for response in given]
    others = [
        index.related("tide_3", depth=2),
        index.map(),
        index.get("part0/3.md"),
        base.documents(limit=50),
        base.source_file("upload").location.read_bytes(),
    ]
    return [*shown, *map(repr, others)]


@dataclass(frozen=True, slots=True)
class Damage:
    file: str
    place: int
    bit: int | None  # None: a whole sector is lost

    def apply(self, folder: Path) -> None:
        file = folder / self.file
        data = bytearray(file.read_bytes())
        if self.bit is None:
            data[self.place : self.place + SECTOR] = bytes(len(data[self.place : self.place + SECTOR]))
        else:
            data[self.place] ^= 1 << self.bit
        file.write_bytes(data)


def damages(folder: Path, count: int, seed: int = SEED) -> Iterator[Damage]:
    """Half of them in databases, where most is; the others in any file."""
    files = sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".lock" and path.name not in LEFT_ALONE and path.stat().st_size
    )
    databases = [file for file in files if file.endswith(".db")]
    chance = random.Random(seed)
    for number in range(count):
        file = chance.choice(databases if number % 2 else files)
        size = (folder / file).stat().st_size
        if chance.random() < 0.8:
            yield Damage(file, chance.randrange(size), chance.randrange(8))
        else:
            yield Damage(file, chance.randrange(0, size, SECTOR), None)


def outcome(sound: Path, damage: Damage, expected: dict[str, list[str]], copy: Path) -> str:
    """What an index does after this damage: one of KNOWN, or else what is wrong.

    `expected` has the right answers by text index.
    """
    shutil.copytree(sound, copy)
    try:
        in_fts5 = damage.file.endswith(".db") and damage.place // PAGE + 1 in _fts5_pages(copy / damage.file)
        damage.apply(copy)
        outcomes = {_outcome(copy, name, answers, in_fts5) for name, answers in expected.items()}
    finally:
        shutil.rmtree(copy)
    bad = sorted(outcomes - set(KNOWN))
    return bad[0] if bad else max(outcomes, key=KNOWN.index)


def _fts5_pages(file: Path) -> set[int]:
    """The pages of FTS5's own tables, which have no checksums."""
    with closing(apsw.Connection(str(file))) as connection:
        rows = connection.execute("SELECT pageno, name FROM dbstat")
        return {int(page) for page, name in rows if str(name).startswith(FTS5)}


def _outcome(folder: Path, text_index: str, expected: list[str], in_fts5: bool) -> str:
    try:
        with opened(folder, text_index) as index:
            given = answers(index)
    except QuintetError as error:
        return "refused" if error.code == "store_failed" else f"{error.code}: {error.message}"
    except Exception as error:
        return f"uncaught {type(error).__name__}: {error}"
    wrong = {at for at, (one, other) in enumerate(zip(given, expected, strict=True)) if one != other}
    if wrong and in_fts5 and wrong <= DECIDED_BY_FTS5:
        return HIDDEN
    return f"wrong answers {sorted(wrong)} with {text_index}" if wrong else "right"
