"""API keys: shown once, stored only as salted hashes in `keys.json` of the index folder.

A key is `qk_ID_SECRET`. The id finds the entry. The secret has 256 random bits, so nobody can guess it from
its hash; scrypt protects secrets that somebody chose by hand.
"""

import hashlib
import hmac
import json
import os
import re
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Final, Literal, cast

from filelock import FileLock, Timeout

from quintet.errors import AccessError, Conflict, NotFound, StoreError, UsageError
from quintet.processes import private

Scope = Literal["read", "write"]

FILE: Final = "keys.json"
FORM: Final = re.compile(r"qk_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
NAME: Final = re.compile(r"[\w.@-][\w .@-]{0,63}")
BASE: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")  # a knowledge base's slug
COST: Final[Mapping[str, int]] = {
    "n": 2**12,
    "r": 8,
    "p": 1,
}  # 4 MB and some 10 ms, once for each process and key
LOCK_SECONDS: Final = 10
REMEMBERED: Final = 1000  # verified secrets, so that each is hashed slowly only once


@dataclass(frozen=True, slots=True)
class Key:
    """A key as it is stored. `write` allows everything `read` does, plus changes.

    `bases` are the slugs of the only knowledge bases that the key opens. Without any it opens everything.
    """

    id: str
    name: str
    scope: Scope
    created: str
    salt: str
    hash: str
    bases: tuple[str, ...] = ()

    def reaches(self, slug: str) -> bool:
        return not self.bases or slug in self.bases


class Keys:
    """The keys of one index folder. A change by another process counts from the next call on."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE
        self._version: tuple[int, ...] | None = None
        self._keys: dict[str, Key] = {}
        self._verified: dict[bytes, str] = {}
        self._pepper = secrets.token_bytes(32)
        self._guard = Lock()

    def add(self, name: str, scope: Scope, bases: Sequence[str] = ()) -> tuple[Key, str]:
        """A new key, and its text, which is never shown again."""
        slugs = tuple(sorted({_slug(base) for base in bases}))
        if not NAME.fullmatch(name):
            raise UsageError(
                f"the key name {name!r} is not allowed; use 1 to 64 letters, digits, spaces or . _ @ -",
                details={"parameter": "name"},
            )
        secret, salt = secrets.token_urlsafe(32), secrets.token_bytes(16)
        created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        with self._changing() as keys:
            if any(key.name == name for key in keys.values()):
                raise UsageError(
                    f"there is a key named {name!r} already; revoke it first, or choose another name",
                    details={"parameter": "name"},
                )
            key = Key(secrets.token_hex(6), name, scope, created, salt.hex(), _hashed(secret, salt), slugs)
            keys[key.id] = key
        return key, f"qk_{key.id}_{secret}"

    def revoke(self, name: str) -> Key:
        """Remove a key by its name or id."""
        with self._changing() as keys:
            key = next((key for key in keys.values() if name in (key.name, key.id)), None)
            if key is None:
                raise NotFound(
                    f"there is no key {name!r}; 'quintet keys list' shows them", code="document_not_found"
                )
            del keys[key.id]
        return key

    def all(self) -> list[Key]:
        return sorted(self._current().values(), key=lambda key: (key.created, key.name))

    def verify(self, presented: str) -> Key:
        """The key with this text; `unauthorized` if it is unknown or revoked."""
        form = FORM.fullmatch(presented)
        key = self._current().get(form[1]) if form else None
        if form is None or key is None or not self._matches(key, form[2]):
            raise AccessError("the API key is unknown; check it, or ask for a new one", code="unauthorized")
        return key

    def _matches(self, key: Key, secret: str) -> bool:
        """Slow once; then a digest that only this process can compute is compared."""
        mark = hmac.digest(self._pepper, f"{key.salt}:{secret}".encode(), "sha256")
        remembered = self._verified.get(mark)
        if remembered is not None:
            return hmac.compare_digest(remembered, key.hash)
        if not hmac.compare_digest(_hashed(secret, bytes.fromhex(key.salt)), key.hash):
            return False
        with self._guard:
            if len(self._verified) >= REMEMBERED:
                self._verified.clear()
            self._verified[mark] = key.hash
        return True

    def _current(self) -> dict[str, Key]:
        """The keys in the file, which is read again only after a change."""
        try:
            status = self._file.stat()
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise _unreadable(self._file, error) from error
        version = (status.st_ino, status.st_size, status.st_mtime_ns)
        with self._guard:
            if version != self._version:
                self._keys, self._version = _read(self._file), version
            return self._keys

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Key]]:
        try:
            with FileLock(self._file.with_suffix(".lock"), timeout=LOCK_SECONDS, mode=private.FILE):
                keys = _read(self._file) if self._file.exists() else {}
                yield keys
                _write(self._file, keys)
        except Timeout:
            raise Conflict(
                f"another process is changing {self._file}; try again", code="busy_writer"
            ) from None
        except OSError as error:  # of the lock: a folder or a disk that cannot be written
            raise _unwritable(self._file, error) from error


def _slug(base: str) -> str:
    slug = base.removeprefix("kb_")
    if not BASE.fullmatch(slug) or slug == "default":  # which is the index of all folders
        raise UsageError(
            f"{base[:80]!r} is not the name of a knowledge base; use its slug, as 'quintet kb list' shows it",
            details={"parameter": "kb"},
        )
    return slug


def _hashed(secret: str, salt: bytes) -> str:
    return hashlib.scrypt(secret.encode(), salt=salt, dklen=32, **cast(Any, COST)).hex()


def _read(file: Path) -> dict[str, Key]:
    try:
        stored = json.loads(file.read_text("utf-8"))
        return {entry["id"]: _key(entry) for entry in stored["keys"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _unreadable(file, error) from error


def _key(stored: Mapping[str, Any]) -> Key:
    bases = stored.get("bases", [])
    if not (isinstance(bases, list) and all(isinstance(base, str) for base in bases)):
        raise ValueError("bases must be a list of slugs")
    bytes.fromhex(stored["salt"])
    return Key(**{**stored, "bases": tuple(bases)})


def _write(file: Path, keys: Mapping[str, Key]) -> None:
    """Write all of the file or nothing. Other users can never read it."""
    text = json.dumps({"version": 1, "keys": [asdict(key) for key in keys.values()]}, indent=1) + "\n"
    fresh = file.with_name(f".{FILE}.{secrets.token_hex(6)}")
    try:
        with private.open_new(fresh, exclusive=True) as out:
            out.write(text.encode())
            out.flush()
            os.fsync(out.fileno())
        fresh.replace(file)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise _unwritable(file, error) from error


def _unwritable(file: Path, error: OSError) -> StoreError:
    reason = error.strerror or error
    return StoreError(f"{file} cannot be written: {reason}; check the disk and the permissions")


def _unreadable(file: Path, error: Exception) -> StoreError:
    return StoreError(
        f"{file} cannot be read ({type(error).__name__}); restore it, or remove it and add keys"
    )
