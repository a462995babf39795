"""A sketch of a set that is small whatever the set's size, and tells in what two sets differ.

An invertible Bloom lookup table (Goodrich and Mitzenmacher, 2011): every item is added into three cells by
exclusive or, so adding is its own inverse, and of two sketches only the difference of their sets is left.
While that is small, cells that hold a single item give it away one after the other.
"""

from collections.abc import Iterable
from hashlib import sha256

CELLS = 96  # enough for a difference of some 60 items: thirty changed documents
PLACES = 3
ID, LEAF, CHECK = 16, 8, 4  # bytes of a cell
WIDTH = ID + LEAF + CHECK
Item = tuple[str, str]  # a document's id and the beginning of its leaf, both hexadecimal


def empty() -> bytes:
    return bytes(CELLS * WIDTH)


def toggled(sketch: bytes, documents: Iterable[tuple[str, bytes]]) -> bytes:
    """The sketch with these documents (id, leaf) added, or taken out if they were in it."""
    cells = _cells(sketch)
    for document_id, leaf in documents:
        _toggle(cells, _packed(bytes.fromhex(document_id) + leaf[:LEAF]))
    return b"".join(cell.to_bytes(WIDTH, "big") for cell in cells)


def difference(one: bytes, other: bytes) -> list[Item] | None:
    """What is in exactly one of the two sets; None if that is too much to tell."""
    cells = [a ^ b for a, b in zip(_cells(one), _cells(other), strict=True)]
    found: list[Item] = []
    while len(found) <= CELLS:
        single = next((cell for cell in cells if _is_single(cell)), None)
        if single is None:
            return None if any(cells) else sorted(found)
        body = single.to_bytes(WIDTH, "big")[: ID + LEAF]
        found.append((body[:ID].hex(), body[ID:].hex()))
        _toggle(cells, single)
    return None


def changed(one: bytes, other: bytes) -> list[str] | None:
    """Ids of the documents that were added, changed or removed from one sketch to the other."""
    found = difference(one, other)
    return None if found is None else sorted({document_id for document_id, _ in found})


def _packed(body: bytes) -> int:
    return int.from_bytes(body + sha256(body).digest()[:CHECK], "big")


def _toggle(cells: list[int], packed: int) -> None:
    """Into three cells, each in a third of its own so that they never coincide."""
    third = CELLS // PLACES
    spread = sha256(b"cell" + packed.to_bytes(WIDTH, "big")).digest()
    for part in range(PLACES):
        cells[part * third + int.from_bytes(spread[4 * part : 4 * part + 4], "big") % third] ^= packed


def _cells(sketch: bytes) -> list[int]:
    return [int.from_bytes(sketch[at : at + WIDTH], "big") for at in range(0, len(sketch), WIDTH)]


def _is_single(cell: int) -> bool:
    return bool(cell) and _packed(cell.to_bytes(WIDTH, "big")[: ID + LEAF]) == cell
