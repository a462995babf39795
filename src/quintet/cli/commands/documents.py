"""`quintet get` and `quintet forget`: read indexed documents, or remove them from the index."""

from typing import Annotated

import typer

from quintet.cli.arguments import as_text
from quintet.cli.exit_codes import NO_MATCH
from quintet.cli.index_folder import open_index
from quintet.cli.options import AsJson, Db, MaybeText, argument, flag
from quintet.cli.terminal import tell, write, write_json
from quintet.errors import UsageError


def get_command(
    reference: Annotated[str, argument("CHUNK_ID|PATH[:LINES]", "A chunk id, or a path as search shows it.")],
    as_json: AsJson = False,
    db: Db = None,
) -> int:
    """Print passages in full: one chunk, a document, or the chunks that overlap some lines of it.

    In a pipe only the text is printed. PATH may be the path that search shows, a path on disk, or a path that
    begins with its root's name. If it matches several documents, the error lists them.

    \b
    Example:
      quintet get docs/cache.md:10-24
    """
    with open_index(db) as index:
        passages, roots = index.get(as_text(reference)), index.roots()
    if as_json:
        from quintet.serving.results import passage_fields

        write_json({"passages": [passage_fields(passage) for passage in passages]})
    else:
        from quintet.cli.render import show_passages

        show_passages(passages, several_roots=len(roots) > 1)
        if not passages:
            tell(f"no passage at {reference}")
    return 0 if passages else NO_MATCH


def forget_command(
    path: Annotated[MaybeText, argument("PATH", "A document, a folder, or a root by name or place.")] = None,
    everything: Annotated[bool, flag("--all", "Everything; leaves an empty index.")] = False,
    db: Db = None,
) -> int:
    """Remove a document, a folder or a whole root from the index. Files and memories are not touched.

    A later run over the same folder adds them again; to keep them out, name them in .quintetignore.

    \b
    Example:
      quintet forget drafts/
    """
    if (path is None) != everything:
        raise UsageError("name one PATH to forget, or give --all to forget everything")
    with open_index(db) as index:
        count = index.clear() if path is None else index.forget(as_text(path))
    write(f"forgot {count} document{'' if count == 1 else 's'}\n")
    return 0


def register(app: typer.Typer) -> None:
    app.command("get", short_help="Print a chunk, a document or some lines of it.")(get_command)
    app.command("forget", short_help="Remove a document, a folder or a root.")(forget_command)
