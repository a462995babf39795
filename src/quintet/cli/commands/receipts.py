"""`quintet verify`, `prove`, `why`: answers that can be replayed, proved and questioned."""

from pathlib import Path
from typing import Annotated, Any

import typer

from quintet.cli.arguments import as_text
from quintet.cli.commands.search import SearchOptions
from quintet.cli.exit_codes import NO_MATCH
from quintet.cli.files import read_json_file
from quintet.cli.index_folder import open_index
from quintet.cli.options import AsJson, Db, argument, grouped
from quintet.cli.terminal import write_json, write_lines
from quintet.errors import Conflict


def verify_command(
    file: Annotated[Path, argument("FILE", "A receipt or a proof; - reads standard input.")],
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """Replay the receipt in FILE on this index: identical, or the first differences and their cause.

    A proof (from 'quintet prove') is checked without an index. Exit code 4 means that the answer is no
    longer the same.

    \b
    Example:
      quintet search "cache ttl" --receipt answer.json
      quintet verify answer.json
    """
    receipt = read_json_file(file)
    if isinstance(receipt, dict) and "proof" in receipt:
        return _check_proof(receipt, as_json)
    with open_index(db) as index:
        verdict = index.receipts.verify(receipt)
    if as_json:
        write_json(verdict.wire())
    elif verdict.identical:
        write_lines(["identical"])
    else:
        head = "the results are the same, but" if verdict.same_results else "not the same:"
        write_lines([head, *(f"  {difference}" for difference in verdict.differences)])
    return 0 if verdict.identical else Conflict.exit_code


def _check_proof(proof: dict[str, Any], as_json: bool) -> int:
    from quintet.receipts.proof import check_proof

    path, root = check_proof(proof)
    if as_json:
        write_json({"holds": True, "path": path, "state_root": root})
    else:
        write_lines([f"the proof is valid: {path} is in the index with state root {root}"])
    return 0


def prove_command(
    chunk_id: Annotated[str, argument("CHUNK_ID", "A chunk's id, as search --json shows it.")],
    db: Db = None,
) -> int:
    """Print a proof that a chunk is in the index, as JSON. 'quintet verify' checks it without the index.

    \b
    Example:
      quintet prove 0123456789abcdef0123456789abcdef > proof.json
    """
    with open_index(db) as index:
        write_json(index.receipts.prove(as_text(chunk_id)))
    return 0


@grouped
def why_command(
    query: Annotated[str, argument("QUERY", "The query of the search.")],
    reference: Annotated[
        str,
        argument("CHUNK_ID|PATH[:LINE]", "A chunk's id, or a path as search shows it."),
    ],
    options: SearchOptions,
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """Explain why a chunk was found or not: its rank in each leg, what removed it, what would bring it in.

    For a document it explains the chunk that came closest. It names only changes that it has tried. Exit code
    1 means that the chunk is not among the results.

    \b
    Example:
      quintet why "cache ttl" docs/deploy.md --limit 1
    """
    params = options.parameters()
    with open_index(db) as index:
        explanation = index.why(as_text(query), as_text(reference), options.contract_name, **params)
    if as_json:
        write_json(explanation.wire())
    else:
        write_lines(explanation.lines())
    return 0 if explanation.rank is not None else NO_MATCH


def register(app: typer.Typer) -> None:
    app.command("verify", short_help="Replay a receipt, or check a proof.")(verify_command)
    app.command("prove", short_help="Prove that a chunk is in the index.")(prove_command)
    app.command("why", short_help="Explain why a chunk was, or was not, found.")(why_command)
