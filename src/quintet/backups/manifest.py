"""The manifest of a backup: every file with its size and its SHA-256, in backup.json.

    monday/
      backup.json
      index/        the files of the index folder, without what is made from them

A backup may come from a stranger, so the manifest is checked before any of its paths is used.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import file_digest
from pathlib import Path
from typing import Any

from quintet.errors import NotFound, StoreError
from quintet.knowledge.bases import FOLDER as KNOWLEDGE
from quintet.knowledge.files import ORIGINALS
from quintet.knowledge.registration import REGISTRATION_FILE
from quintet.knowledge.runs import FOLDER as RUNS
from quintet.ports.store_files import INDEX_FILE, INDEX_FILES, KNOWLEDGE_FILES, MEMORY_FILES
from quintet.processes import private

FILE, CONTENT = "backup.json", "index"
VERSION = 1
PLAIN_FILES = ("keys.json", "tuned.json")
BASE = rf"{KNOWLEDGE}/[a-z0-9][a-z0-9_-]{{0,62}}"
DATABASE = re.compile(
    rf"{re.escape(INDEX_FILES.database)}|{re.escape(MEMORY_FILES.database)}"
    rf"|{BASE}/{re.escape(KNOWLEDGE_FILES.database)}"
)
UPLOAD = re.compile(rf"{BASE}/{ORIGINALS}/(?P<sha256>[0-9a-f]{{64}})")
OTHER = re.compile(
    rf"{'|'.join(map(re.escape, PLAIN_FILES))}|{BASE}/(?:{re.escape(REGISTRATION_FILE)}|{RUNS}/[0-9]+\.json)"
)
DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class FileFacts:
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Backup:
    """What a backup contains. `files` has the path of each file inside the index folder."""

    created: str
    documents: int
    memories: int
    bases: tuple[str, ...]
    files: Mapping[str, FileFacts]

    @property
    def size(self) -> int:
        return sum(facts.size for facts in self.files.values())


def facts_of(file: Path) -> FileFacts:
    with file.open("rb") as content:
        digest = file_digest(content, "sha256").hexdigest()
        return FileFacts(content.tell(), digest)


def write_manifest(folder: Path, backup: Backup) -> None:
    stored = {"version": VERSION, **asdict(backup)}
    private.write_new(folder / FILE, json.dumps(stored, indent=1).encode() + b"\n")


def read_manifest(folder: Path) -> Backup:
    try:
        stored = json.loads((folder / FILE).read_text("utf-8"))
        if stored.pop("version") != VERSION:
            raise ValueError("it has another version")
        files = {str(path): FileFacts(**facts) for path, facts in stored.pop("files").items()}
        backup = Backup(**{**stored, "bases": tuple(stored["bases"])}, files=files)
        _check(backup)
        return backup
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFound(f"there is no backup in {folder}: it has no {FILE}", code="not_a_backup") from error
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        reason = f"{folder / FILE} cannot be read ({type(error).__name__}: {str(error)[:200]})"
        raise StoreError(f"{reason}; use another backup") from error


def _check(backup: Backup) -> None:
    counts: tuple[Any, ...] = backup.documents, backup.memories
    if not all(isinstance(count, int) for count in counts) or not isinstance(backup.created, str):
        raise ValueError("a count or the time is not what it should be")
    for path, facts in backup.files.items():
        if not any(form.fullmatch(path) for form in (DATABASE, UPLOAD, OTHER)):
            raise ValueError(f"{path[:80]!r} is no file of an index")
        if not isinstance(facts.size, int) or not DIGEST.fullmatch(facts.sha256):
            raise ValueError(f"the size or the hash of {path!r} is none")
    if INDEX_FILE not in backup.files:
        raise ValueError(f"it has no {INDEX_FILE}")
