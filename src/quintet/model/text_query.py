"""A lexical query, ready for a text index."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextQuery:
    """A lexical query that is safe to run: any of `terms`, each matched as the phrase of its own tokens.

    With `phrases_required` every phrase must match as well; otherwise phrases are alternatives too. `parts`
    also matches the parts of identifiers. With `stems` a term matches any of its tokens by stem, and parts
    count as words of the text. `field_weights` weigh a match by its field, with `stems` only that of a word.
    `weights` say how much each term counts, if not 1; they go with `stems`.
    `content_only` leaves heading path and title out: they neither match nor count. It goes with neither parts
    nor stems.
    `expression` is in FTS5's own language and is used unchanged. `exact_bm25` asks for FTS5's own scores,
    whichever text index is in use.
    """

    terms: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    phrases_required: bool = False
    parts: bool = False
    stems: bool = False
    expression: str | None = None
    field_weights: tuple[tuple[str, float], ...] = ()
    exact_bm25: bool = False
    content_only: bool = False
    weights: tuple[float, ...] = ()

    @property
    def needs_fts5(self) -> bool:
        return self.exact_bm25 or self.content_only or self.expression is not None
