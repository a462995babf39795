"""Every SQLite error turned into one of ours, with what to do about it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from quintet.errors import Conflict, StoreError
from quintet.processes.lock import disk_error

REBUILT = "move it away and run 'quintet index' to build a new one"
RESTORED = "move it away and import the last export, or put its documents in again"


@contextmanager
def translate_errors(file: Path, way_out: str = REBUILT) -> Iterator[None]:
    """Turn what SQLite raises into an error of the tree, once, here. `way_out` is what to do about damage."""
    try:
        yield
    except (apsw.NotADBError, apsw.CorruptError, UnicodeDecodeError) as error:
        raise StoreError(f"{file} is not a Quintet index or is damaged ({error}); {way_out}") from error
    except apsw.FullError as error:
        raise StoreError(
            f"the disk that holds {file} is full; free some space and run the command again: "
            "what was committed is kept"
        ) from error
    except apsw.IOError as error:
        raise StoreError(
            f"the disk that holds {file} could not be read or written ({error}); if it is full, or the "
            "size of files is limited, make room and run the command again: what was committed is kept"
        ) from error
    except (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError) as error:
        raise StoreError(
            f"{file} cannot be opened for writing ({error}); "
            "check the permissions of the folder, or choose another with --db"
        ) from error
    except (apsw.BusyError, apsw.LockedError) as error:
        raise Conflict(
            f"{file} is in use by another process; try again when it has finished", code="busy_writer"
        ) from error
    except apsw.Error as error:
        raise StoreError(f"SQLite failed on {file}: {error}; if it happens again, {way_out}") from error
    except OSError as error:
        raise disk_error(error, file) from error
