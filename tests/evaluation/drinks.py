"""A tiny collection whose answers can be told by hand."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

CORPUS = (
    {"_id": "tea", "title": "Green tea", "text": "Steep the leaves for two minutes."},
    {"_id": "a/b <i>", "title": "", "text": "Coffee is ground, then brewed with boiling water."},
    {"_id": "cocoa.pdf", "title": "Cocoa", "text": ""},
    {"_id": "long", "title": "Water", "text": "Water is wet. " * 300 + "The kettle whistles at the end."},
)
QUERIES = (
    {"_id": "q1", "text": "how long are leaves steeped"},
    {"_id": "q2", "text": "ground coffee <script>alert(1)</script>"},
    {"_id": "q3", "text": "cocoa"},
    {"_id": "q4", "text": "a whistling kettle whistles"},
    {"_id": "unjudged", "text": "nobody asked"},
)
QRELS = ("q1\ttea\t2", "q1\tlong\t1", "q2\ta/b <i>\t1", "q3\tcocoa.pdf\t1", "q4\tlong\t1", "q4\ttea\t0")

Records = Sequence[Mapping[str, object]]


def write_collection(
    folder: Path, corpus: Records | None = CORPUS, queries: Records = QUERIES, qrels: Sequence[str] = QRELS
) -> Path:
    (folder / "qrels").mkdir(parents=True)
    for name, records in (("corpus", corpus), ("queries", queries)):
        if records is not None:
            lines = "".join(json.dumps(record) + "\n" for record in records)
            (folder / f"{name}.jsonl").write_text(lines, "utf-8")
    heading = "query-id\tcorpus-id\tscore"
    (folder / "qrels" / "test.tsv").write_text("\n".join([heading, *qrels]) + "\n", "utf-8")
    return folder
