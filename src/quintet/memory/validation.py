"""The checks of what callers give to memory. Each function returns the value as it will be stored."""

from collections.abc import Sequence

from quintet.errors import LimitError, UsageError
from quintet.model.memories import KINDS
from quintet.model.metadata import UNSTORABLE
from quintet.model.parameters import shown

TEXT_CHARS = 20_000  # one to five pages; anything longer is a document and belongs in a folder
NAME_CHARS = {"a tag": 100, "a session": 200, "what it is about": 1_000}
MAX_ENTRIES = {"tags": 32, "about": 32}


def check_text(text: object) -> str:
    if not isinstance(text, str) or not text.strip():
        raise UsageError(f"the text is {shown(text)}; it must contain at least one word")
    if len(text) > TEXT_CHARS:
        raise LimitError(
            f"the text has {len(text)} characters; a memory holds at most {TEXT_CHARS}: "
            "shorten it, or save it as a file and index that"
        )
    return UNSTORABLE.sub("\ufffd", text).strip()


def check_kind(kind: object) -> str:
    if not isinstance(kind, str) or kind not in KINDS:
        raise UsageError(f"kind is {shown(kind)}; it must be one of {', '.join(KINDS)}")
    return kind


def check_name(what: str, name: object) -> str:
    """A tag, a session or what a memory is about: a short text."""
    if not isinstance(name, str) or not name.strip() or UNSTORABLE.search(name):
        raise UsageError(
            f"{what} is {shown(name)}; it must be text, not empty, without NUL or lone surrogates"
        )
    if len(name) > NAME_CHARS[what]:
        raise LimitError(
            f"{what} has {len(name)} characters; at most {NAME_CHARS[what]} are allowed: shorten it"
        )
    return name.strip()


def check_names(field: str, what: str, names: object) -> tuple[str, ...]:
    """Each name once, in the order given."""
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise UsageError(f"{field} is {shown(names)}; it must be a list of texts")
    if len(names) > MAX_ENTRIES[field]:
        raise LimitError(
            f"{field} has {len(names)} entries; at most {MAX_ENTRIES[field]} are allowed: remove some"
        )
    return tuple(dict.fromkeys(check_name(what, name) for name in names))
