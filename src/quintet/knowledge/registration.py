"""The registration of a knowledge base: its names, its schema and its sources, in base.json."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from quintet.contracts.bases import BASE, DEFAULT_INDEX, INDEX_PREFIX, PROPERTY_KINDS
from quintet.errors import LimitError, StoreError, UsageError
from quintet.filters.fields import BUILT_IN
from quintet.knowledge.files import replace_file, retry_on_windows
from quintet.knowledge.results import PropertyFields
from quintet.model.documents import Json
from quintet.model.parameters import is_exact, shown

REGISTRATION_FILE = "base.json"
SLUG = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
PROPERTY = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}")
MAX_PROPERTIES = 64
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
    """`uid` distinguishes a base from a deleted one that had the same slug."""

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


class RegistrationFile:
    """base.json in the folder of a knowledge base. It is always replaced as a whole."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / REGISTRATION_FILE

    def exists(self) -> bool:
        return self._file.exists()

    def read(self) -> Registration | None:
        """The registration; None if the folder holds no knowledge base."""
        try:
            stored = json.loads(retry_on_windows(lambda: self._file.read_text("utf-8")))
            sources = tuple(FolderSource(**source) for source in stored.pop("sources"))
            return Registration(**stored, sources=sources)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            reason = f"{self._file} cannot be read ({type(error).__name__})"
            raise StoreError(f"{reason}; restore it, or move the folder away") from error

    def write(self, registration: Registration) -> None:
        stored = asdict(registration)
        replace_file(self._file, json.dumps(stored, indent=1, ensure_ascii=False).encode())


def check_slug(slug: object) -> str:
    if not isinstance(slug, str) or not SLUG.fullmatch(slug) or slug.startswith(INDEX_PREFIX):
        raise UsageError(
            f"the slug is {shown(slug)}; it must be 1 to 63 lower-case letters, digits, '-' or '_', begin "
            f"with a letter or digit, and not begin with {INDEX_PREFIX!r}",
            details={"parameter": "slug"},
        )
    if slug in RESERVED_SLUGS:
        raise UsageError(f"the slug {slug!r} is reserved; choose another")
    return slug


def check_title(title: object, parameter: str = "title") -> str:
    if not isinstance(title, str) or not title.strip() or UNFIT.search(title):
        raise UsageError(
            f"{parameter} is {shown(title)}; it must be text on one line", details={"parameter": parameter}
        )
    if len(title) > TITLE_CHARS:
        raise LimitError(f"{parameter} has {len(title)} characters; at most {TITLE_CHARS} are allowed")
    return title.strip()


def check_properties(properties: object) -> dict[str, str]:
    """A schema as callers write it, `[{name, type}]`, as a mapping from name to type."""
    if isinstance(properties, (str, bytes)) or not isinstance(properties, Sequence):
        raise UsageError(
            f"properties is {shown(properties)}; it must be a list of {{'name', 'type'}} objects"
        )
    if len(properties) > MAX_PROPERTIES:
        raise LimitError(f"the schema has {len(properties)} properties; at most {MAX_PROPERTIES} are allowed")
    types: dict[str, str] = {}
    for item in properties:
        name, kind = _check_property(item)
        if name in types:
            raise UsageError(f"property {name!r} is given twice; name each property once")
        types[name] = kind
    return types


def _check_property(item: object) -> tuple[str, str]:
    if not isinstance(item, Mapping) or set(item) != {"name", "type"}:
        raise UsageError(
            f"a property is {shown(item)}; it must be an object such as {{'name': 'team', 'type': 'text'}}"
        )
    name, kind = item["name"], item["type"]
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
    """Each value of a property must have the type of the schema, and a whole number must fit 64 bits."""
    for name, kind in properties.items():
        if name not in metadata:
            continue
        value = metadata[name]
        if not _has_type(kind, value):
            problem = f"the schema says {kind}"
        elif not is_exact(value):
            problem = "a whole number must fit into 64 bits to be filtered by"
        else:
            continue
        raise UsageError(f"metadata {name} is {shown(value)}; {problem}", details={"property": name})


def _has_type(kind: str, value: Json) -> bool:
    types = {"text": (str,), "number": (int, float), "int": (int,), "boolean": (bool,)}[kind]
    return isinstance(value, types) and (kind == "boolean" or not isinstance(value, bool))


def list_properties(properties: Mapping[str, str]) -> list[PropertyFields]:
    return [{"name": name, "type": kind} for name, kind in properties.items()]
