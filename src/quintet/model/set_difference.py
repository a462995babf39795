"""Find the items in which two sets differ, from a sketch of each. A sketch has a fixed size.

An invertible Bloom lookup table (Goodrich and Mitzenmacher, 2011). Every item is XORed into three cells, so
XORing two sketches leaves only the difference of their sets. While that is small, some cell holds a single
item; taking it out leaves another such cell, until all items are known.
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


def toggle(sketch: bytes, documents: Iterable[tuple[str, bytes]]) -> bytes:
    """The sketch with these documents (id, leaf) added, or removed if they were in it."""
    cells = _cells(sketch)
    for document_id, leaf in documents:
        _toggle(cells, _packed(bytes.fromhex(document_id) + leaf[:LEAF]))
    return b"".join(cell.to_bytes(WIDTH, "big") for cell in cells)


def difference(sketch: bytes, other: bytes) -> list[Item] | None:
    """The items in exactly one of the two sets; None if there are too many to recover."""
    cells = [a ^ b for a, b in zip(_cells(sketch), _cells(other), strict=True)]
    items: list[Item] = []
    while len(items) <= CELLS:
        single = next((cell for cell in cells if _is_single(cell)), None)
        if single is None:
            return None if any(cells) else sorted(items)
        body = single.to_bytes(WIDTH, "big")[: ID + LEAF]
        items.append((body[:ID].hex(), body[ID:].hex()))
        _toggle(cells, single)
    return None


def changed_ids(sketch: bytes, other: bytes) -> list[str] | None:
    """Ids of the documents that were added, changed or removed from one sketch to the other."""
    items = difference(sketch, other)
    return None if items is None else sorted({document_id for document_id, _ in items})


def _packed(body: bytes) -> int:
    return int.from_bytes(body + sha256(body).digest()[:CHECK], "big")


def _toggle(cells: list[int], packed: int) -> None:
    """XOR into three cells, one in each third, so that they are always different cells."""
    third = CELLS // PLACES
    spread = sha256(b"cell" + packed.to_bytes(WIDTH, "big")).digest()
    for part in range(PLACES):
        cells[part * third + int.from_bytes(spread[4 * part : 4 * part + 4], "big") % third] ^= packed


def _cells(sketch: bytes) -> list[int]:
    return [int.from_bytes(sketch[at : at + WIDTH], "big") for at in range(0, len(sketch), WIDTH)]


def _is_single(cell: int) -> bool:
    return bool(cell) and _packed(cell.to_bytes(WIDTH, "big")[: ID + LEAF]) == cell
