"""An outline as one compact line of JSON: what resolution reads, without signatures and docstrings."""

import json
from typing import Any

from quintet.symbols import Import, Mention, Outline, Symbol

_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False)


def encoded(outline: Outline) -> str:
    """Equal text means that nothing an edge depends on has changed."""
    body = (
        outline.language,
        outline.package,
        outline.exports,
        [
            (s.kind, s.path, s.first_line, s.last_line, s.parent, s.visibility, s.is_test)
            for s in outline.symbols
        ],
        [(i.owner, i.line, i.module, i.level, i.name, i.alias, i.exported) for i in outline.imports],
        [(m.owner, m.relation, m.path, m.line, m.base) for m in outline.mentions],
    )
    return _COMPACT.encode(body)


def decoded(body: str) -> Outline:
    language, package, exports, symbols, imports, mentions = json.loads(body)
    return Outline(
        language,
        tuple(_symbol(*one) for one in symbols),
        tuple(Import(*one) for one in imports),
        tuple(Mention(owner, relation, tuple(path), *rest) for owner, relation, path, *rest in mentions),
        package,
        tuple((outside, inside) for outside, inside in exports),
    )


def _symbol(kind: Any, path: list[str], first: int, last: int, parent: int | None, *rest: Any) -> Symbol:
    visibility, is_test = rest
    return Symbol(kind, tuple(path), first, last, parent, visibility=visibility, is_test=is_test)
