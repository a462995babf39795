"""Inclusion proofs: a chunk is in the index with a state root. They are checked without the index."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from quintet.errors import UsageError
from quintet.model import merkle
from quintet.model.documents import Json, Passage, embedding_context, embedding_text

VERSION = 1
MAX_LEVELS = 32  # the digits of a document id
CHUNK_ID, HEADING, TEXT_HASH = 0, 6, 8  # positions in the chunk of a record
PATH, LANGUAGE = 2, 5  # positions in the document of a record


def make_proof(
    passage: Passage, line: str, siblings: Sequence[Mapping[str, str]], root: str, embedder: str | None
) -> dict[str, Json]:
    """The text of a chunk, the record of its document, and the siblings from there up to the state root."""
    levels: list[Json] = [dict(level) for level in siblings]
    return {
        "proof": VERSION,
        "state_root": root,
        "embedder": embedder,
        "chunk_id": passage.chunk.id,
        "content": passage.chunk.content,
        "record": line,
        "siblings": levels,
    }


def check_proof(proof: Mapping[str, Any]) -> tuple[str, str]:
    """The path and the state root of a valid proof. Otherwise raises UsageError with the reason."""
    if proof.get("proof") != VERSION:
        raise UsageError(f"proof version {proof.get('proof')!r} is unknown; this Quintet reads {VERSION}")
    record, chunk = _record_and_chunk(proof)
    context = embedding_context(record["document"][LANGUAGE], record["document"][PATH])
    text = embedding_text(context, chunk[HEADING], proof["content"])
    if sha256(text.encode("utf-8", "surrogatepass")).hexdigest() != chunk[TEXT_HASH]:
        raise UsageError("the proof is wrong: its text does not match its record")
    try:
        root = merkle.climb(str(proof["record"]), record["document"][0], proof["siblings"])
    except (ValueError, TypeError, AttributeError, IndexError, KeyError) as error:
        raise UsageError("this is not a proof: its siblings are not hashes by digit") from error
    if merkle.state(root, proof.get("embedder")) != proof.get("state_root"):
        raise UsageError("the proof is wrong: its record does not lead to its state root")
    return f"{record['document'][1]}/{record['document'][2]}", str(proof["state_root"])


def _record_and_chunk(proof: Mapping[str, Any]) -> tuple[dict[str, Any], list[Any]]:
    """The record of the proof, and its chunk that the proof is about."""
    try:
        record = merkle.parsed(proof["record"])
        if not isinstance(proof["content"], str) or len(proof["siblings"]) > MAX_LEVELS:
            raise TypeError
        if not isinstance(proof["embedder"], (str, type(None))):
            raise TypeError
        chunk = next(chunk for chunk in record["chunks"] if chunk[CHUNK_ID] == proof["chunk_id"])
        texts = (*record["document"][:3], chunk[HEADING], chunk[TEXT_HASH])
        if not all(isinstance(text, str) for text in texts):
            raise TypeError
    except StopIteration:
        raise UsageError("the proof is wrong: its chunk is not in its record") from None
    except (ValueError, TypeError, KeyError, IndexError, RecursionError, AttributeError) as error:
        raise UsageError("this is not a proof: its record cannot be read") from error
    return record, chunk
