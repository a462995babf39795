"""The process that parses one binary file after another until its input ends. `parent.py` starts it."""

import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress

from quintet.formats.blocks import ParsedFile
from quintet.formats.decoding import UnreadableFile
from quintet.formats.registry import format_of
from quintet.formats.sandbox.parent import OUT_OF_MEMORY, pack, pack_refusal
from quintet.processes.channel import send
from quintet.processes.worker import open_answers, receive_in_background

BinaryParser = Callable[[str, bytes, int], ParsedFile]  # path, data, page limit


def main(memory: int, parser: BinaryParser) -> None:
    answers = open_answers()
    if memory:
        _set_limit("RLIMIT_AS", memory)
    _set_limit("RLIMIT_CORE", 0)
    messages = receive_in_background()
    send(answers, b"ready")
    while True:
        question, data = json.loads(messages.get()), messages.get()
        # The parent's timer comes first. This limit is for a process whose parent is gone while its parser
        # keeps every other thread of it from running.
        _set_limit("RLIMIT_CPU", int(_cpu_seconds() + question["seconds"]) + 1)
        try:
            send(answers, _answer(parser, question["path"], data, question["pages"]))
        except MemoryError:  # the process may be in a bad state: the next file gets a new one
            send(answers, OUT_OF_MEMORY)
            os._exit(0)  # an orderly exit would wait for the thread that listens


def _answer(parser: BinaryParser, path: str, data: bytes, pages: int) -> bytes:
    try:
        return pack(parser(path, data, pages))
    except UnreadableFile as error:
        return pack_refusal(error.reason)
    except ModuleNotFoundError as error:
        return pack_refusal(_missing_library(error.name))
    except MemoryError:
        raise
    except Exception as error:  # a library may raise anything; the cause is this file
        message = " ".join(str(error).split())[:200]
        return pack_refusal(f"damaged, or not what its name says: {type(error).__name__}: {message}")


def _missing_library(module: str | None) -> str:
    extra = "quintet" if module == "pypdfium2" else "quintet[documents]"
    return f"needs the library {module}, which is not installed; pip install '{extra}'"


def parse_binary(path: str, data: bytes, pages: int) -> ParsedFile:
    """Parse by the format that the name promises. Libraries are imported when first needed."""
    form = format_of(path)
    match form.parser:
        case "pdf":
            from quintet.formats.pdf.pages import parse_pdf

            return parse_pdf(path, data, form.mime_type, pages)
        case "pptx":
            from quintet.formats.pptx import parse_pptx

            return parse_pptx(path, data, form.mime_type, pages)
        case "docx":
            from quintet.formats.docx import parse_docx as parser
        case "xlsx":
            from quintet.formats.xlsx import parse_xlsx as parser
        case _:
            from quintet.formats.epub import parse_epub as parser
    return parser(path, data, form.mime_type)


def _set_limit(name: str, value: int) -> None:
    """Set a soft limit, if the system knows it."""
    with suppress(ImportError, AttributeError, ValueError, OSError):
        import resource

        which = getattr(resource, name)
        hard = resource.getrlimit(which)[1]
        soft = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(which, (soft, hard))


def _cpu_seconds() -> float:
    used = os.times()
    return used.user + used.system


if __name__ == "__main__":
    main(int(sys.argv[1]), parse_binary)
