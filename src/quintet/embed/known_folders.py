"""Where the model folders are that the user has named: a list of the user's own, outside every index.

An index stores only the identity of its model, because an index may come from somebody else and must not
choose which files are read.
"""

import json
import os
import re
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from quintet.embed.models import models_folder
from quintet.errors import MissingExtra
from quintet.settings import regular_text

ARITHMETIC = 1  # of a folder's model; it rises when the vectors change
IDENTITY = re.compile(rf"folder:([0-9a-f]{{16}}):{ARITHMETIC}")


@dataclass(frozen=True, slots=True)
class KnownFolder:
    identity: str
    path: str
    title: str
    megabytes: int
    dimensions: int
    window: int

    @property
    def present(self) -> bool:
        return Path(self.path).is_dir()


def folder_identity(digest: str) -> str:
    """
    >>> folder_identity("0123456789abcdef" * 4)
    'folder:0123456789abcdef:1'
    """
    return f"folder:{digest[:16]}:{ARITHMETIC}"


def is_folder_identity(identity: str) -> bool:
    return IDENTITY.fullmatch(identity) is not None


def remember(known: KnownFolder) -> None:
    """Note where a model is, so that its indexes open without naming it again."""
    file = _file(known.identity)
    beside = file.with_name(f".{file.name}-{os.getpid()}")
    with suppress(OSError):  # a disk without room for it: the folder has to be named again, as errors say
        file.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(json.dumps(asdict(known), indent=2) + "\n", "utf-8")
        beside.replace(file)


def find(identity: str) -> KnownFolder | None:
    """The folder with the model of this identity, if it was named before."""
    return _read(_file(identity)) if is_folder_identity(identity) else None


def find_present(identity: str) -> KnownFolder:
    """The same; an error says what to do if it is not there."""
    known = find(identity)
    if known is not None and known.present:
        return known
    place = f"was in {known.path} and is not there now" if known else "is not known here"
    raise MissingExtra(
        f"this index was embedded with the model {identity}, whose folder {place}; "
        "name the folder of that model: 'quintet models add PATH'"
    )


def all_known() -> list[KnownFolder]:
    files = sorted((models_folder() / "folders").glob("*.json"))
    return [known for known in map(_read, files) if known is not None]


def _file(identity: str) -> Path:
    return models_folder() / "folders" / f"{identity.split(':')[1]}.json"


def _read(file: Path) -> KnownFolder | None:
    try:
        return KnownFolder(**json.loads(regular_text(file)))
    except (OSError, ValueError, TypeError, RecursionError):  # missing or damaged: naming it writes it anew
        return None
