"""What a knowledge base is called and made of: one small file in its folder, replaced in one step."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from quintet.contracts.knowledge import BASE, DEFAULT_INDEX, INDEX_PREFIX, PROPERTY_KINDS
from quintet.errors import LimitError, StoreError, UsageError
from quintet.filters.fields import BUILT_IN
from quintet.knowledge.files import patiently, write_whole
from quintet.knowledge.results import PropertyFields
from quintet.model.documents import Json
from quintet.model.parameters import is_exact, shown

FILE = "base.json"
SLUG = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
PROPERTY = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}")
MOST_PROPERTIES = 64
TITLE_CHARS = 500
UNFIT = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
RESERVED_SLUGS = {DEFAULT_INDEX, "registry"}


@dataclass(frozen=True, slots=True)
class FolderSource:
    """A local folder whose files are documents of the base."""

    id: str
    name: str
    location: str


@dataclass(frozen=True, slots=True)
class Registration:
    """`uid` tells a base from another that had the same slug before it."""

    slug: str
    uid: str
    title: str
    created_ms: int
    properties: Mapping[str, str]  # type by name
    archived: bool = False
    sources: tuple[FolderSource, ...] = ()

    @property
    def index_name(self) -> str:
        return INDEX_PREFIX + self.slug


def read(folder: Path) -> Registration | None:
    """The registration in that folder; None where there is no knowledge base."""
    try:
        stored = json.loads(patiently(lambda: (folder / FILE).read_text("utf-8")))
        sources = tuple(FolderSource(**one) for one in stored.pop("sources"))
        return Registration(**stored, sources=sources)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        reason = f"{folder / FILE} cannot be read ({type(error).__name__})"
        raise StoreError(f"{reason}; restore it, or move the folder away") from error


def write(folder: Path, registration: Registration) -> None:
    stored = asdict(registration)
    write_whole(folder / FILE, json.dumps(stored, indent=1, ensure_ascii=False).encode())


def checked_slug(slug: object) -> str:
    if not isinstance(slug, str) or not SLUG.fullmatch(slug) or slug.startswith(INDEX_PREFIX):
        raise UsageError(
            f"the slug is {shown(slug)}; it must be 1 to 63 small letters, digits, '-' or '_', begin with a "
            f"letter or digit, and not begin with {INDEX_PREFIX!r}",
            details={"parameter": "slug"},
        )
    if slug in RESERVED_SLUGS:
        raise UsageError(f"the slug {slug!r} is taken by Quintet itself; choose another")
    return slug


def checked_title(title: object, parameter: str = "title") -> str:
    if not isinstance(title, str) or not title.strip() or UNFIT.search(title):
        raise UsageError(
            f"{parameter} is {shown(title)}; it must be text on one line", details={"parameter": parameter}
        )
    if len(title) > TITLE_CHARS:
        raise LimitError(f"{parameter} has {len(title)} characters; at most {TITLE_CHARS} are taken")
    return title.strip()


def checked_properties(given: object) -> dict[str, str]:
    """A schema as callers write it, `[{name, type}]`, as types by name in the order given."""
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
        raise UsageError(f"properties is {shown(given)}; it must be a list of {{'name', 'type'}} objects")
    if len(given) > MOST_PROPERTIES:
        raise LimitError(f"the schema has {len(given)} properties; at most {MOST_PROPERTIES} are taken")
    found: dict[str, str] = {}
    for one in given:
        name, kind = _property(one)
        if name in found:
            raise UsageError(f"property {name!r} is there twice; name each once")
        found[name] = kind
    return found


def _property(given: object) -> tuple[str, str]:
    if not isinstance(given, Mapping) or set(given) != {"name", "type"}:
        raise UsageError(
            f"a property is {shown(given)}; it must be an object such as {{'name': 'team', 'type': 'text'}}"
        )
    name, kind = given["name"], given["type"]
    if isinstance(name, str) and (name in BUILT_IN or name == BASE):
        raise UsageError(
            f"property {name!r} is a built-in field, which every chunk has; choose another name",
            code="reserved_property",
            details={"property": name},
        )
    if not isinstance(name, str) or not PROPERTY.fullmatch(name):
        raise UsageError(
            f"a property is called {shown(name)}; a name is a letter, then up to 62 letters, digits or '_'"
        )
    if not isinstance(kind, str) or kind not in PROPERTY_KINDS:
        raise UsageError(f"property {name} is of type {shown(kind)}; it must be {', '.join(PROPERTY_KINDS)}")
    return name, kind


def check_values(properties: Mapping[str, str], metadata: Mapping[str, Json]) -> None:
    """Every property of the schema that `metadata` has must be of its type, with all its digits."""
    for name, kind in properties.items():
        if name not in metadata:
            continue
        value = metadata[name]
        if not _is_of(kind, value):
            problem = f"the schema says {kind}"
        elif not is_exact(value):
            problem = "a whole number must fit into 64 bits to be filtered by"
        else:
            continue
        raise UsageError(f"metadata {name} is {shown(value)}; {problem}", details={"property": name})


def _is_of(kind: str, value: Json) -> bool:
    accepted = {"text": (str,), "number": (int, float), "int": (int,), "boolean": (bool,)}[kind]
    return isinstance(value, accepted) and (kind == "boolean" or not isinstance(value, bool))


def shown_properties(properties: Mapping[str, str]) -> list[PropertyFields]:
    return [{"name": name, "type": kind} for name, kind in properties.items()]
