"""A folder and queries about it that are answered better when words count for more than by default."""

import json
from pathlib import Path

QUERIES = 60
SYLLABLES = ("ba", "ke", "lo", "mi", "nu", "pra", "sto", "tri", "vel", "zom")


def word(number: int) -> str:
    """A word that stands in one file only."""
    return "".join(SYLLABLES[int(digit)] for digit in f"{number:03}")


def write_library(folder: Path) -> Path:
    """Each answer shares one rare word with its query; the decoys share the small words with all of them."""
    folder.mkdir()
    for number in range(QUERIES):
        (folder / f"{word(number)}.txt").write_text(f"{word(number)} grows near water\n", "utf-8")
    for number in range(3):
        text = f"What of the {word(900 + number)}, it is {word(910 + number)} open plain\n"
        (folder / f"decoy{number}.txt").write_text(text, "utf-8")
    return folder


def write_queries(folder: Path, count: int = QUERIES, split: str = "train") -> Path:
    (folder / "qrels").mkdir(parents=True)
    asked = [{"_id": f"q{number}", "text": f"the {word(number)} of it"} for number in range(count)]
    (folder / "queries.jsonl").write_text("".join(json.dumps(one) + "\n" for one in asked), "utf-8")
    answers = "".join(f"q{number}\t{word(number)}.txt\t1\n" for number in range(count))
    (folder / "qrels" / f"{split}.tsv").write_text(answers, "utf-8")
    return folder
