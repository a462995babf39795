"""A lexical query, ready for a text index."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextQuery:
    """A lexical query, already safe: any of `terms`, each matched as the phrase of its own tokens.

    With `phrases_required` every phrase must be there as well; otherwise phrases are alternatives too.
    `parts` also looks for the parts of identifiers. With `stems` a term is any of its tokens, whatever their
    endings, and parts count as words of the text. `field_weights` say what a match in a field counts for,
    with `stems` only that of a word. `expression` is FTS5's own language, used as it is.
    `exact_bm25` says that the scores must be FTS5's own, whatever the index is.
    """

    terms: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    phrases_required: bool = False
    parts: bool = False
    stems: bool = False
    expression: str | None = None
    field_weights: tuple[tuple[str, float], ...] = ()
    exact_bm25: bool = False

    @property
    def needs_fts5(self) -> bool:
        return self.exact_bm25 or self.expression is not None
