"""An index with all that a backup copies, and everything that it answers."""

import json
from pathlib import Path
from typing import Any

import quintet
from quintet.serving.keys import Keys


def make_index(place: Path, word: str) -> Path:
    """Notes, memories, a base with uploads and a source, and a key, in `place / "index"`."""
    (place / "notes").mkdir(parents=True)
    for number in range(5):
        text = f"# Note {number}\n\nThe {word} of chapter {number}.\n"
        (place / "notes" / f"{number}.md").write_text(text, "utf-8")
    with quintet.open(place / "index", "hashing") as index:
        index.sync([place / "notes"])
        index.memory.remember(f"the {word} has stripes")
        base = index.knowledge.create("shelf")
        base.put(f"a {word} in the text", id="text")
        base.put_file(f"# Upload\n\na {word} in a file".encode(), "upload.md", id="upload")
        base.add_source(place / "notes")
        base.sync_source("notes")
        answers(index)
    Keys(place / "index").add("reader", "read")
    return place / "index"


def answers(index: quintet.Index) -> list[str]:
    base = index.knowledge.get("shelf")
    bodies: list[Any] = [
        index.search("chapter").body,
        index.search("chapter 3", "rifflux", mode="lexical").body,
        index.memory.recall("stripes").body,
        base.search("text in a file").body,
        base.documents(),
        [base.source_file(id).location.read_text("utf-8") for id in ("text", "upload")],
        [key.name for key in Keys(index.folder).all()],
        index.status().state_root,
    ]
    return [json.dumps(body, sort_keys=True, default=str) for body in bodies]


def answers_of(folder: Path) -> list[str]:
    with quintet.open(folder, "hashing", create=False) as index:
        assert [check.message for check in index.doctor() if not check.ok] == []
        return answers(index)
