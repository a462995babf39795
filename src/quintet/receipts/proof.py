"""Inclusion proofs: this chunk is in the index with that state root. Checked without the index."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from quintet.errors import UsageError
from quintet.model import merkle
from quintet.model.documents import Json, Passage, embedding_text

VERSION = 1
DEEPEST = 32  # digits of a document's id
CHUNK_ID, HEADING, TEXT_HASH = 0, 6, 8  # where a record's chunk keeps them


def make(
    passage: Passage, line: str, siblings: Sequence[Mapping[str, str]], root: str, embedder: str | None
) -> dict[str, Json]:
    """A chunk's text, its document's record, and the siblings that lead from there to the state root."""
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
    """The path that is proved and the state root it is proved for; an error names what does not fit."""
    if proof.get("proof") != VERSION:
        raise UsageError(f"proof version {proof.get('proof')!r} is not known; this Quintet reads {VERSION}")
    record, chunk = _found(proof)
    text = embedding_text(chunk[HEADING], proof["content"])
    if sha256(text.encode("utf-8", "surrogatepass")).hexdigest() != chunk[TEXT_HASH]:
        raise UsageError("the proof does not hold: its text is not what the record says")
    try:
        reached = merkle.climb(str(proof["record"]), record["document"][0], proof["siblings"])
    except (ValueError, TypeError, AttributeError, IndexError, KeyError) as error:
        raise UsageError("this is no proof: its siblings are not hashes by digit") from error
    if merkle.state(reached, proof.get("embedder")) != proof.get("state_root"):
        raise UsageError("the proof does not hold: its record does not lead to its state root")
    return f"{record['document'][1]}/{record['document'][2]}", str(proof["state_root"])


def _found(proof: Mapping[str, Any]) -> tuple[dict[str, Any], list[Any]]:
    """The record, and the chunk of it that the proof is about."""
    try:
        record = merkle.parsed(proof["record"])
        if not isinstance(proof["content"], str) or len(proof["siblings"]) > DEEPEST:
            raise TypeError
        if not isinstance(proof["embedder"], (str, type(None))):
            raise TypeError
        chunk = next(one for one in record["chunks"] if one[CHUNK_ID] == proof["chunk_id"])
        named = (*record["document"][:3], chunk[HEADING], chunk[TEXT_HASH])
        if not all(isinstance(name, str) for name in named):
            raise TypeError
    except StopIteration:
        raise UsageError("the proof does not hold: its chunk is not in its record") from None
    except (ValueError, TypeError, KeyError, IndexError, RecursionError, AttributeError) as error:
        raise UsageError("this is no proof: its record cannot be read") from error
    return record, chunk
