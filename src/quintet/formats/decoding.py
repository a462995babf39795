"""Bytes to text, and the exception for a file that has no text to index."""

import codecs

NUL_CHECK_BYTES = 8192  # git and grep also look for a NUL only at the start
BOMS = (  # UTF-32 first: its little-endian mark begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8-sig"),
)


class UnreadableFile(Exception):  # noqa: N818  (a property of the file, not a failure of ours)
    """The file cannot be indexed. `reason` completes "it is …" or "it …" in a report."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def decode_text(data: bytes) -> str:
    """Decode by the byte order mark, otherwise as UTF-8. Raises `UnreadableFile` if the bytes are neither."""
    encoding = next((name for mark, name in BOMS if data.startswith(mark)), "utf-8")
    if encoding.startswith("utf-8") and b"\0" in data[:NUL_CHECK_BYTES]:
        raise UnreadableFile("binary")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        # utf-8-sig counts from after its mark
        start = error.start + (len(codecs.BOM_UTF8) if encoding == "utf-8-sig" else 0)
        name = encoding.removesuffix("-sig").upper()
        raise UnreadableFile(f"not valid {name} at byte {start}") from error
