"""`quintet verify`, `prove`, `why`: answers that can be replayed, proved and questioned."""

import json
import os
import stat
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from quintet.cli import options
from quintet.cli.commands.index_and_search import NO_MATCH, opened
from quintet.cli.options import AsJson, Db
from quintet.cli.terminal import document, safe, write
from quintet.errors import Conflict, StoreError, UsageError

STANDARD_INPUT = Path("-")
LARGEST = 50_000_000  # bytes; a receipt has some kilobytes, a proof as many as its document


def register(app: typer.Typer) -> None:
    app.command("verify", short_help="Replay a receipt, or check a proof.")(verify_command)
    app.command("prove", short_help="Prove that a chunk is in the index.")(prove_command)
    app.command("why", short_help="Tell why something was, or was not, found.")(why_command)


def verify_command(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A receipt or a proof; - reads standard input.")
    ],
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """Replay the receipt in FILE on this index: identical, or what differs first and why.

    A proof (of 'quintet prove') is checked by itself: that needs no index. Exit code 4 means that the
    answer is no longer the same.

    \b
    Example:
      quintet search "cache ttl" --receipt answer.json
      quintet verify answer.json
    """
    given = read_json(file)
    if isinstance(given, dict) and "proof" in given:
        return _checked(given, as_json)
    with opened(db) as index:
        verdict = index.receipts.verify(given)
    if as_json:
        document(verdict.wire())
    elif verdict.identical:
        write("identical\n")
    else:
        same = "the results are the same, but" if verdict.same_results else "not the same:"
        write("".join(f"{safe(line)}\n" for line in (same, *(f"  {one}" for one in verdict.differences))))
    return 0 if verdict.identical else Conflict.exit_code


def _checked(proof: dict[str, Any], as_json: bool) -> int:
    from quintet.receipts.proof import check

    path, root = check(proof)
    if as_json:
        document({"holds": True, "path": path, "state_root": root})
    else:
        write(f"the proof holds: {safe(path)} is in the index with state root {root}\n")
    return 0


def prove_command(
    chunk_id: Annotated[
        str, typer.Argument(metavar="CHUNK_ID", help="A chunk's id, as search --json shows it.")
    ],
    db: Db = None,
) -> int:
    """Print a proof that a chunk is in the index, as JSON. 'quintet verify' checks it without the index.

    \b
    Example:
      quintet prove 0123456789abcdef0123456789abcdef > proof.json
    """
    with opened(db) as index:
        document(index.receipts.prove(options.as_text(chunk_id)))
    return 0


def why_command(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What was looked for.")],
    reference: Annotated[
        str,
        typer.Argument(metavar="CHUNK_ID|PATH[:LINE]", help="A chunk's id, or a path as search shows it."),
    ],
    contract: options.ContractName = None,
    mode: options.Mode = None,
    limit: options.Limit = None,
    param: options.Parameters = None,
    filter: options.Filters = None,
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """Tell why a chunk was found or not: its place in each leg, what removed it, what would bring it in.

    Of a document the chunk that came nearest is taken. Every change that is named was tried. Exit code 1
    means that it is not among the results.

    \b
    Example:
      quintet why "cache ttl" docs/deploy.md --limit 1
    """
    from quintet.contracts import HOUSE

    name = HOUSE if contract is None else options.as_text(contract)
    params = options.search_parameters(param or (), filter or (), name, mode=mode, limit=limit, syntax=None)
    with opened(db) as index:
        told = index.why(options.as_text(query), options.as_text(reference), name, **params)
    if as_json:
        document(told.wire())
    else:
        write("".join(f"{safe(line)}\n" for line in told.lines()))
    return 0 if told.rank is not None else NO_MATCH


def read_json(file: Path) -> object:
    """What a file of anybody's holds, in bounds."""
    content = _content(file)
    if len(content) > LARGEST:
        raise UsageError(f"{file} is larger than any receipt or proof ({LARGEST} bytes)")
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file} is not JSON: {str(error)[:200]}") from error


def _content(file: Path) -> bytes:
    if file == STANDARD_INPUT:
        return sys.stdin.buffer.read(LARGEST + 1)
    try:
        if not stat.S_ISREG(file.stat().st_mode):  # a pipe might never end
            raise UsageError(f"{file} is not a file; '-' reads standard input", code="invalid_path")
        with file.open("rb") as opened_file:
            return opened_file.read(LARGEST + 1)
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{file} cannot be read: {reason}", code="invalid_path") from error


def write_receipt(file: Path, receipt: object) -> None:
    write_file(file, json.dumps(receipt, indent=1) + "\n")


def write_file(file: Path, text: str) -> None:
    """All of it or nothing."""
    try:
        place = file.resolve()
        if str(file) == "-" or (place.exists() and not place.is_file()):  # a device must not become a file
            raise UsageError(f"{file} is not a file; name one to write to", code="invalid_path")
        draft = place.with_name(f".{place.name}.{os.getpid()}")
        try:
            draft.write_text(text, "utf-8", newline="\n")
            draft.replace(place)
        finally:
            draft.unlink(missing_ok=True)
    except (OSError, RuntimeError) as error:  # RuntimeError: links that lead round in a circle
        reason = getattr(error, "strerror", None) or error
        raise StoreError(f"{file} cannot be written: {reason}; choose another place") from error
