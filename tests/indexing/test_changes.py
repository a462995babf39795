"""What is to be read again: decided from sizes, times and hashes alone."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from quintet.indexing.changes import Changes, KnownFile, find_changes
from quintet.indexing.files import DiskFile

SECOND = 1_000_000_000
MILLISECOND = 1_000_000
MODIFIED = 1_700_000_000 * SECOND + 123_456_789

FILE = DiskFile("a.md", "/root/a.md", 10, MODIFIED)
KNOWN = KnownFile(size=10, modified_ns=MODIFIED, content_hash="h", indexed_ns=MODIFIED + SECOND)

NAMES = st.text("abc/", min_size=1, max_size=3)
TIMES = st.integers(0, 4 * SECOND) | st.integers(0, 4).map(lambda seconds: seconds * SECOND)
FILES = st.dictionaries(NAMES, st.tuples(st.integers(0, 2), TIMES)).map(
    lambda files: [DiskFile(path, "/" + path, *facts) for path, facts in sorted(files.items())]
)
CATALOGUE = st.dictionaries(NAMES, st.builds(KnownFile, st.integers(0, 2), TIMES, st.just("h"), TIMES))


def _one(file: DiskFile, known: KnownFile) -> str:
    """The name of the group that the one known file falls into."""
    result = find_changes([file], {file.path: known})
    return next(group for group in ("unchanged", "suspects") if getattr(result, group))


def test_a_file_of_the_same_size_and_time_is_unchanged() -> None:
    assert find_changes([FILE], {"a.md": KNOWN}) == Changes((FILE,), (), (), ())


def test_a_file_of_another_size_or_time_is_suspect_even_if_the_time_is_earlier() -> None:
    assert _one(replace(FILE, size=11), KNOWN) == "suspects"
    assert _one(replace(FILE, modified_ns=MODIFIED + 1), KNOWN) == "suspects"
    assert _one(replace(FILE, modified_ns=MODIFIED - 1), KNOWN) == "suspects"


def test_a_file_indexed_within_the_clocks_grain_of_its_last_change_is_suspect() -> None:
    assert _one(FILE, replace(KNOWN, indexed_ns=MODIFIED + 20 * MILLISECOND - 1)) == "suspects"
    assert _one(FILE, replace(KNOWN, indexed_ns=MODIFIED + 20 * MILLISECOND)) == "unchanged"


def test_a_time_of_whole_seconds_is_trusted_only_after_two_of_them() -> None:
    whole = MODIFIED // SECOND * SECOND
    file, known = replace(FILE, modified_ns=whole), replace(KNOWN, modified_ns=whole)
    assert _one(file, replace(known, indexed_ns=whole + 2 * SECOND - 1)) == "suspects"
    assert _one(file, replace(known, indexed_ns=whole + 2 * SECOND)) == "unchanged"


def test_a_file_from_the_future_is_always_suspect() -> None:
    assert _one(FILE, replace(KNOWN, indexed_ns=MODIFIED - SECOND)) == "suspects"


def test_an_old_file_that_the_index_does_not_know_is_added() -> None:
    old = replace(FILE, modified_ns=1)
    assert find_changes([old], {}) == Changes((), (), (old,), ())


def test_force_trusts_nothing_that_is_known() -> None:
    assert find_changes([FILE], {"a.md": KNOWN}, force=True) == Changes((), (FILE,), (), ())


@given(FILES, CATALOGUE, st.booleans())
def test_every_found_file_is_in_exactly_one_group(
    found: list[DiskFile], known: dict[str, KnownFile], force: bool
) -> None:
    result = find_changes(found, known, force=force)
    grouped = [*result.unchanged, *result.suspects, *result.added]
    assert sorted(grouped, key=lambda file: file.path) == found
    assert {file.path for file in result.added} == {file.path for file in found} - known.keys()


@given(FILES, CATALOGUE)
def test_removed_is_what_is_known_and_not_found_in_order(
    found: list[DiskFile], known: dict[str, KnownFile]
) -> None:
    assert list(find_changes(found, known).removed) == sorted(known.keys() - {file.path for file in found})


@given(FILES, CATALOGUE)
def test_what_is_called_unchanged_has_the_size_and_time_that_are_known(
    found: list[DiskFile], known: dict[str, KnownFile]
) -> None:
    for file in find_changes(found, known).unchanged:
        assert (file.size, file.modified_ns) == (known[file.path].size, known[file.path].modified_ns)
