"""Checks the tantivy index, and whether it would be the better choice."""

from statistics import median
from time import perf_counter

import apsw

from quintet.model.text_query import TextQuery
from quintet.ports.health import HealthCheck
from quintet.ports.reading import TextIndex
from quintet.storage.sqlite.catalog import state_of
from quintet.storage.text.analysis import plain
from quintet.storage.text.tantivy.cache import CHUNKS, TantivyCache, TantivyView
from quintet.storage.text.tantivy.fields import Analyser
from quintet.storage.text.tantivy.files import translate_tantivy_errors
from quintet.storage.text.tantivy.query import ClauseSet, TantivyClause

PROBES = 200  # chunks that are looked up
WORDS = 5
WORTH_TIMING = 20_000  # chunks; below, nothing is slow
TANTIVY_PAYS = 1_000_000  # chunks; docs/backends.md has the figures
QUESTIONS = 15


def examine_tantivy(connection: apsw.Connection, views: TantivyCache) -> HealthCheck:
    """Check the bytes of the files, and look up every word of some chunks."""
    folder = views.folder_of(state_of(connection))
    stored = folder.stored()
    wrong = [] if stored is None else folder.wrong_files(stored)
    view = views.view(connection)
    lost = 0 if wrong else _lost(connection, view)
    if not wrong and not lost:
        return HealthCheck("tantivy", True, f"{view.chunks} chunks, as in the database")
    problem = f"{len(wrong)} files are damaged" if wrong else f"{lost} chunks are not found by their words"
    return HealthCheck("tantivy", False, f"{problem}; delete {folder.path}: it is rebuilt")


def _lost(connection: apsw.Connection, view: TantivyView) -> int:
    """How many of some chunks are not found by their own words."""
    analyser, lost = Analyser(connection), 0
    for row, _, content, *_ in _some(connection, PROBES):
        clauses = tuple(
            TantivyClause("content", (word,)) for word in sorted(set(analyser.words(plain(content))))
        )
        if clauses:
            asked = view.builder.query(ClauseSet(clauses, tuple((clause,) for clause in clauses)))
            with translate_tantivy_errors(view.place):
                lost += not view.hits(view.builder.within(asked, [row]), 1)
    return lost


def examine_speed(connection: apsw.Connection, text: TextIndex) -> HealthCheck:
    """How long the postings take to score a query here, and whether tantivy would pay."""
    chunks = int(connection.execute("SELECT count(*) FROM chunks").get)
    if chunks < WORTH_TIMING:
        return speed_check(chunks, None)
    times = []
    for _, _, content, *_ in _some(connection, QUESTIONS):
        words = tuple(dict.fromkeys(text.tokens(content)))
        query = TextQuery(words[:: max(1, len(words) // WORDS)][:WORDS])
        start = perf_counter()
        text.search(query, 50)
        times.append(1000 * (perf_counter() - start))
    return speed_check(chunks, median(times))


def speed_check(chunks: int, milliseconds: float | None) -> HealthCheck:
    if milliseconds is None:
        return HealthCheck(
            "speed", True, f"Quintet's postings score text, which is fast with {chunks} chunks"
        )
    message = (
        f"Quintet's postings score text: a query of {WORDS} words takes {milliseconds:.1f} ms in {chunks} "
        "chunks"
    )
    if chunks >= TANTIVY_PAYS:
        message += "; text_index = 'tantivy' would start faster and use less memory"
    return HealthCheck("speed", True, message)


def _some(connection: apsw.Connection, count: int) -> "apsw.Cursor":
    """Chunks spread evenly over the index."""
    step = max(1, int(connection.execute("SELECT coalesce(max(row), 0) FROM chunks").get) // count)
    return connection.execute(f"{CHUNKS} WHERE c.row % ? = 0 ORDER BY c.row LIMIT ?", (step, count))
