"""Built-in names of Go, and the names of imported packages."""

import re

_VERSION = re.compile(r"v\d+")
BUILT_IN = frozenset(
    {"_", "any", "append", "bool", "byte", "cap", "clear", "close", "comparable", "complex", "copy", "delete"}
    | {"error", "float32", "float64", "imag", "int", "int16", "int32", "int64", "int8", "len", "make", "max"}
    | {"min", "new", "panic", "print", "println", "real", "recover", "rune", "string", "uint", "uint16"}
    | {"uint32", "uint64", "uint8", "uintptr"}
)


def package_name(path: str) -> str:
    """The name of the package at an import path, as far as the path shows it."""
    parts = [part for part in path.split("/") if part and not _VERSION.fullmatch(part)]
    last = parts[-1].partition(".v")[0] if parts else ""
    return last.removeprefix("go-").removesuffix("-go").removesuffix(".go").replace("-", "_")
