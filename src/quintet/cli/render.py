"""How results look to people. Text from files is escaped and never read as markup."""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

from rich.console import Console
from rich.style import Style
from rich.text import Text

from quintet.cli.terminal import ReaderGone, is_terminal, safe, safe_lines, tell, write, writing
from quintet.serving.views import Measure, View, place_text, printed_path, report_counts

if TYPE_CHECKING:
    from quintet.indexing.run import Report
    from quintet.model.documents import Passage
    from quintet.ports.reading import Approximation, Root
    from quintet.status import IndexStatus

INDENT = "    "
PROBLEMS_SHOWN = 20
SNIPPET_LINES = 4
SNIPPET_WIDTH = 100  # columns in a pipe, and at most on a terminal
BAR = 14  # columns: with names, numbers and remarks a line still fits into 80
DIM, BOLD, MATCH = Style(dim=True), Style(bold=True), Style(bold=True, color="yellow")


class Screen(Console):
    """Standard output: styles and links on a terminal, plain text anywhere else."""

    def __init__(self) -> None:
        super().__init__(
            file=sys.stdout,
            force_terminal=is_terminal(sys.stdout),
            markup=False,
            highlight=False,
            emoji=False,
            soft_wrap=True,
        )

    def on_broken_pipe(self) -> None:
        raise ReaderGone

    def row(self, text: Text) -> None:
        with writing():
            self.print(text)


class QueryWords:
    """The words of a query, to highlight them in results."""

    def __init__(self, query: str) -> None:
        words = sorted(set(re.findall(r"\w+", query)), key=len, reverse=True)
        self._pattern = re.compile("|".join(map(_as_pattern, words)) or r"(?!)", re.IGNORECASE)

    def first(self, line: str) -> int | None:
        match = self._pattern.search(line)
        return match.start() if match else None

    def mark(self, text: Text) -> None:
        for match in self._pattern.finditer(text.plain):
            text.stylize(MATCH, *match.span())


def _as_pattern(word: str) -> str:
    """Short words match only whole words; longer ones, and scripts without spaces, match inside words too."""
    whole = len(word) < 3 and word.isascii()
    return rf"(?<!\w){re.escape(word)}(?!\w)" if whole else re.escape(word)


def show_results(
    results: Sequence[View],
    query: str,
    roots: Sequence["Root"],
    *,
    first: int = 1,
    confidence: str | None = None,
    explain: bool = False,
) -> None:
    """Number, place, heading, score and snippet of each result; with `explain` the signals of its score; then
    the confidence of the answer."""
    screen, words = Screen(), QueryWords(query)
    locations = {root.name: root.location for root in roots}
    width = min(screen.width, SNIPPET_WIDTH) if screen.is_terminal else SNIPPET_WIDTH
    largest = max((m.share or 0.0 for view in results for m in view.measures), default=0.0)
    for number, view in enumerate(results, start=first):
        address = link(view, locations) if screen.is_terminal else None
        screen.row(_head(number, view, address, several=len(roots) > 1))
        for line in snippet(view.content, words, width - len(INDENT)):
            screen.row(Text(INDENT).append_text(line))
        if explain:
            screen.row(Text(""))
            for measure in view.measures:
                screen.row(Text(INDENT + measure_line(measure, largest)))
        if view is not results[-1]:
            screen.row(Text(""))
    if confidence is not None:
        screen.row(Text(f"\n{confidence}", style=DIM))


def _head(number: int, view: View, address: str | None, *, several: bool) -> Text:
    head = Text(f"{number:2}. ").append(safe(view.where(several)), style=BOLD + Style(link=address))
    if view.heading:
        head.append(f"  {safe(view.heading)}", style=DIM)
    return head.append(f"  {view.score:.4g}")


def link(view: View, locations: Mapping[str, str]) -> str | None:
    """The file's address with its page or line after `#`, if the root's folder is known."""
    location = locations.get(view.root or "")
    if location is None:
        return None
    address = Path(location, view.path).as_uri()
    if view.page is not None:
        return f"{address}#page={view.page}"
    return address if view.lines is None else f"{address}#{view.lines[0]}"


def snippet(content: str, words: QueryWords, width: int) -> list[Text]:
    """A few lines, from the first with a word of the query, without their common indentation."""
    lines = [line.rstrip() for line in safe_lines(content) if line.strip()]
    first = next((at for at, line in enumerate(lines) if words.first(line) is not None), 0)
    start = max(0, min(first, len(lines) - SNIPPET_LINES))
    window = dedent("\n".join(lines[start : start + SNIPPET_LINES]))
    clipped = [_clip(line, words, width) for line in window.splitlines()]
    for line in clipped:
        words.mark(line)
    return clipped


def _clip(line: str, words: QueryWords, width: int) -> Text:
    """Cut to `width` columns, around the first word of the query in it."""
    at = words.first(line) or 0
    if at > width // 2 and len(line) > width:
        line = "…" + line[at - width // 3 :]
    text = Text(line)
    text.truncate(width, overflow="ellipsis")
    return text


def measure_line(measure: Measure, largest: float) -> str:
    """A measure as name, bar, number and remark.

    >>> measure_line(Measure("lexical", 0.5, 0.5, "rank 1"), 1.0)
    'lexical        ███████              0.5  rank 1'
    """
    share = measure.share or 0.0
    filled = max(1, round(BAR * share / largest)) if share > 0 and largest > 0 else 0
    value = "-" if measure.value is None else f"{measure.value:.4g}"
    return f"{measure.name:<14} {'█' * filled:<{BAR}} {value:>9}  {safe(measure.remark)}".rstrip()


def show_passages(passages: Sequence["Passage"], *, several_roots: bool) -> None:
    """On a terminal, each passage below its place, made safe; in a pipe, only the text."""
    screen = Screen()
    for passage in passages:
        chunk = passage.chunk
        if not screen.is_terminal:
            with writing():
                sys.stdout.write(chunk.content.rstrip("\n") + "\n")
            continue
        path = printed_path(passage.document.root, passage.document.path, several_roots)
        where = place_text(path, (chunk.first_line, chunk.last_line), chunk.page)
        screen.row(Text(safe(f"{where}  {chunk.heading_path}".rstrip()), style=DIM))
        for line in safe_lines(chunk.content):
            screen.row(Text(line))


def show_report(report: "Report") -> None:
    """The counts of a run; its problems and notes go to standard error."""
    for problem in report.problems[:PROBLEMS_SHOWN]:
        tell(f"warning: {problem.path}: {problem.reason}")
    if len(report.problems) > PROBLEMS_SHOWN:
        tell(f"warning: and {len(report.problems) - PROBLEMS_SHOWN} more")
    for note in report.notes:
        tell(f"note: {note['message']} [{note['code']}]")
    counts = ", ".join(f"{count} {name}" for name, count in report_counts(report).items())
    problems = f", {len(report.problems)} with problems" if report.problems else ""
    write(f"{counts}{problems} in {report.seconds:.1f} s\n")


def status_lines(folder: Path, status: "IndexStatus") -> Iterator[str]:
    rows = {
        "index": [str(folder)],
        "files": [str(status.files)],
        "chunks": [str(status.chunks)],
        "embedded": [f"{status.embedded} of {status.chunks}{_text_only(status)}"],
        "embedder": [_embedder(status.embedder)],
        "roots": [_root(root.name, root.location, root.only) for root in status.roots] or ["none yet"],
        "generation": [str(status.generation)],
        "state root": [status.state_root],
        "disk": list(_disk_lines(status)),
        "hnsw": [hnsw_line(status.hnsw)],
        "tuned": [", ".join(f"{name} {value:g}" for name, value in status.tuned.items()) or "no"],
        "cache": [
            f"{status.cache.entries} searches cached, {status.cache.hits} hits, {status.cache.misses} misses"
        ],
    }
    for name, values in rows.items():
        for at, value in enumerate(values):
            yield f"{'' if at else name:<12}{safe(value)}"


def _embedder(identity: str | None) -> str:
    """With the folder of its model, if it is one that the user named."""
    if identity is None:
        return "none (text only)"
    if not identity.startswith("folder:"):  # no need to import anything
        return identity
    from quintet.embed.known_folders import find

    folder = find(identity)
    return f"{identity} ({folder.path})" if folder else identity


def _text_only(status: "IndexStatus") -> str:
    """The rest is not waiting for a vector."""
    return f"; {status.text_only} of generated code by text only" if status.text_only else ""


def _root(name: str, location: str, only: Sequence[str] | None) -> str:
    return f"{name} = {location}" + (f" (only {', '.join(only)})" if only is not None else "")


def _disk_lines(status: "IndexStatus") -> Iterator[str]:
    lag = status.lag
    if lag.added or lag.changed or lag.removed:
        yield f"{lag.added} added, {lag.changed} changed, {lag.removed} removed since; run 'quintet index'"
    elif not lag.missing_roots:
        yield "the index is up to date"
    if lag.refused:
        yield f"{lag.refused} cannot be indexed; 'quintet index' says which and why"
    for root in lag.missing_roots:
        yield f"the folder of root {root} is missing; restore it, or run 'quintet forget {root}'"


def hnsw_line(graph: "Approximation | None") -> str:
    """The size and the recall of the HNSW graph."""
    if graph is None:
        return "none: every vector is compared"
    if not graph.rows:
        return "being built"
    shares = ", ".join(f"{share:.1%} with ef {ef}" for ef, share in graph.recall.items())
    return (
        f"{graph.rows} of {graph.of} vectors; finds {shares} of the exact best 20; "
        f"vectors=hnsw uses ef {graph.ef}"
    )
