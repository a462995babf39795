"""An outline as one compact line of JSON: what resolution reads, without signatures and docstrings."""

import json

from quintet.model.symbols import Import, Mention, Outline, Symbol

_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False)


def encoded(outline: Outline) -> str:
    """Equal text means that nothing an edge depends on has changed. Imports and mentions go in whole."""
    body = (
        outline.language,
        outline.package,
        outline.exports,
        [_symbol(symbol) for symbol in outline.symbols],
        outline.imports,
        outline.mentions,
    )
    return _COMPACT.encode(body)


def _symbol(s: Symbol) -> tuple[object, ...]:
    facts = (s.kind, s.path, s.first_line, s.last_line, s.parent, s.visibility, s.is_test)
    return (*facts, s.above) if s.above else facts  # most have nothing above them


def decoded(body: str) -> Outline:
    language, package, exports, symbols, imports, mentions = json.loads(body)
    return Outline(
        language,
        tuple(
            [
                Symbol(kind, tuple(path), first, last, parent, "", "", visibility, is_test, *above)
                for kind, path, first, last, parent, visibility, is_test, *above in symbols
            ]
        ),
        tuple([Import(*parts) for parts in imports]),
        tuple(
            [
                Mention(owner, relation, tuple(path), line, base)
                for owner, relation, path, line, base in mentions
            ]
        ),
        package,
        tuple([(outside, inside) for outside, inside in exports]),
    )
