"""Open untrusted zip archives: what they declare is checked before anything is unpacked."""

from io import BytesIO
from zipfile import BadZipFile, ZipFile

from quintet.formats.decoding import UnreadableFile

MAX_ENTRIES = 20_000
MAX_UNPACKED = 400_000_000  # bytes; Python's zipfile never unpacks more of an entry than its declared size
OLE = bytes.fromhex("d0cf11e0a1b11ae1")  # the container of encrypted, and of old, office files
ENCRYPTED = 0x1


def open_archive(data: bytes) -> ZipFile:
    """The archive in `data`. Raises `UnreadableFile` if it is too large, encrypted or not an archive."""
    if data.startswith(OLE):
        raise UnreadableFile("encrypted, or in an old binary format")
    try:
        archive = ZipFile(BytesIO(data))
    except BadZipFile as error:
        raise UnreadableFile(
            "damaged, truncated, or not what its name says: it is not a zip archive"
        ) from error
    entries = archive.infolist()
    if len(entries) > MAX_ENTRIES:
        raise UnreadableFile(f"holds {len(entries)} parts; the limit is {MAX_ENTRIES}")
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > MAX_UNPACKED:
        raise UnreadableFile(f"would unpack to {unpacked} bytes; the limit is {MAX_UNPACKED}")
    if any(entry.flag_bits & ENCRYPTED for entry in entries):
        raise UnreadableFile("encrypted: it cannot be read without its password")
    return archive
