"""The formats of files other than source code with a grammar (see `codegraph/languages/`).

The file name decides the format. The table is our own: the system's differs from machine to machine.
"""

from dataclasses import dataclass
from typing import Literal, get_args

Binary = Literal["pdf", "docx", "pptx", "xlsx", "epub"]
Parser = Literal["plain", "markdown", "html", "json", "jsonl", "rst", "lines", "csv", Binary]


@dataclass(frozen=True, slots=True)
class Format:
    """How a file is parsed, and its media type. `language` is set for source code."""

    parser: Parser
    mime_type: str
    language: str | None = None


PLAIN = Format("plain", "text/plain")
_MARKDOWN = Format("markdown", "text/markdown")
_HTML = Format("html", "text/html")
_JSON = Format("json", "application/json")
_JSONL = Format("jsonl", "application/x-ndjson")
_RST = Format("rst", "text/x-rst")
_YAML = Format("lines", "application/yaml")
_OFFICE = "application/vnd.openxmlformats-officedocument."
_MAKE = Format("lines", "text/x-makefile", "make")
_DOCKER = Format("lines", "text/x-dockerfile", "dockerfile")

_NO_GRAMMAR = {
    "sql": "sql",
    "css": "css scss less",
    "perl": "pl pm",
    "r": "r",
    "julia": "jl",
    "erlang": "erl",
    "clojure": "clj cljs",
    "dart": "dart",
    "nim": "nim",
    "ocaml": "ml mli",
    "fsharp": "fs",
    "powershell": "ps1",
    "protobuf": "proto",
    "graphql": "graphql gql",
    "terraform": "tf",
}

BY_EXTENSION: dict[str, Format] = {
    **dict.fromkeys(("md", "markdown", "mdown", "mkd", "mdx"), _MARKDOWN),
    **dict.fromkeys(("html", "htm", "xhtml"), _HTML),
    **dict.fromkeys(("json", "geojson", "ipynb", "webmanifest"), _JSON),
    **dict.fromkeys(("jsonl", "ndjson"), _JSONL),
    **dict.fromkeys(("rst", "rest"), _RST),
    **dict.fromkeys(("yaml", "yml"), _YAML),
    **dict.fromkeys(("ini", "cfg", "conf", "properties"), Format("lines", "text/plain")),
    "toml": Format("lines", "application/toml"),
    "csv": Format("csv", "text/csv"),
    "tsv": Format("csv", "text/tab-separated-values"),
    "xml": Format("lines", "application/xml"),
    "svg": Format("lines", "image/svg+xml"),
    "pdf": Format("pdf", "application/pdf"),
    "docx": Format("docx", _OFFICE + "wordprocessingml.document"),
    "pptx": Format("pptx", _OFFICE + "presentationml.presentation"),
    "xlsx": Format("xlsx", _OFFICE + "spreadsheetml.sheet"),
    "epub": Format("epub", "application/epub+zip"),
    "mk": _MAKE,
    "dockerfile": _DOCKER,
}
for _language, _extensions in _NO_GRAMMAR.items():
    BY_EXTENSION |= dict.fromkeys(_extensions.split(), Format("lines", f"text/x-{_language}", _language))
BY_EXTENSION |= dict.fromkeys(("css",), Format("lines", "text/css", "css"))

BY_NAME: dict[str, Format] = {
    "makefile": _MAKE,
    "gnumakefile": _MAKE,
    "dockerfile": _DOCKER,
    "containerfile": _DOCKER,
}


def format_of(path: str) -> Format:
    """The format that the name of a file promises; plain text if the name is unknown."""
    name = path.rpartition("/")[2].lower()
    return BY_NAME.get(name) or BY_EXTENSION.get(name.rpartition(".")[2] if "." in name else "", PLAIN)


def is_binary(path: str) -> bool:
    """Is the format binary? Binary files are parsed in a sandbox."""
    return format_of(path).parser in get_args(Binary)
