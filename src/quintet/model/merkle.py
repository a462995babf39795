"""A Merkle tree over documents: one hash for everything that is indexed, and short proofs of inclusion.

The tree is a trie over document ids in hexadecimal. A node covers all ids with one prefix: for a single
document it is that document's leaf, for several the hash of its children in the order of their digits. So
the tree depends only on the documents, not on their order, and a changed document changes only the nodes
above it.
"""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

_CANONICAL = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False, check_circular=False
)
# Prefixes, so that no hash of one kind equals one of another.
LEAF, NODE, STATE, EMPTY = b"\x00", b"\x01", b"\x02", b"\x03"


def record(document: Sequence[object], chunks: Sequence[Sequence[object]]) -> str:
    """A document with its chunks as one line of canonical JSON."""
    return canonical({"document": list(document), "chunks": [list(chunk) for chunk in chunks]})


def canonical(value: object) -> str:
    """JSON with one way to write each value: sorted keys, no spaces, ASCII.

    >>> canonical({"b": [1, None], "a": "é"})
    '{"a":"\\\\u00e9","b":[1,null]}'
    """
    return _CANONICAL.encode(value)


def leaf(line: str) -> bytes:
    return sha256(LEAF + line.encode("ascii")).digest()


def node(children: Mapping[str, bytes]) -> bytes:
    """The hash over two or more children by their digit."""
    framed = b"".join(digit.encode("ascii") + children[digit] for digit in sorted(children))
    return sha256(NODE + framed).digest()


def state(root: bytes | None, embedder: str | None) -> str:
    """The state root: a hash of the tree and of the embedder's identity."""
    return sha256(STATE + (root or sha256(EMPTY).digest()) + canonical(embedder).encode("ascii")).hexdigest()


def tree(leaves: Mapping[str, bytes]) -> dict[str, bytes]:
    """Every node with two or more documents below it, by their common prefix; the root's is ''."""
    nodes: dict[str, bytes] = {}
    if leaves:
        _grow("", sorted(leaves), leaves, nodes)
    return nodes


def root_of(leaves: Mapping[str, bytes], nodes: Mapping[str, bytes]) -> bytes | None:
    return nodes.get("") or next(iter(leaves.values()), None)


def _grow(prefix: str, ids: Sequence[str], leaves: Mapping[str, bytes], nodes: dict[str, bytes]) -> bytes:
    """Depth is bounded by the length of an id, 32 digits."""
    if len(ids) == 1:
        return leaves[ids[0]]
    groups: dict[str, list[str]] = {}
    for document_id in ids:
        groups.setdefault(document_id[len(prefix)], []).append(document_id)
    children = {digit: _grow(prefix + digit, group, leaves, nodes) for digit, group in groups.items()}
    nodes[prefix] = node(children)
    return nodes[prefix]


def climb(line: str, document_id: str, siblings: Sequence[Mapping[str, str]]) -> bytes:
    """The root that a document's record leads to, given its siblings on each level, the lowest first.

    The siblings are untrusted: anything but a digit with a hash raises ValueError.
    """
    reached = leaf(line)
    for depth, others in zip(range(len(siblings) - 1, -1, -1), siblings, strict=True):
        known = {digit: bytes.fromhex(value) for digit, value in others.items()}
        if any(len(digit) != 1 or len(value) != sha256().digest_size for digit, value in known.items()):
            raise ValueError("not a digit with a hash")
        reached = node({**known, document_id[depth]: reached})
    return reached


def parsed(line: str) -> dict[str, Any]:
    """A record read back."""
    read: dict[str, Any] = json.loads(line)
    return read
