"""What the mentions of a file mean, once every field, type and import of it is known."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from quintet.codegraph.scope import Binding, Scope
from quintet.codegraph.source import LineTable
from quintet.model.symbols import Base, Mention, Relation

_INHERITS = ("extends", "implements")


class PendingMention(NamedTuple):
    """A mention before it is resolved. `path[0]` is a name in `scope` if `base` is `name` or `type`."""

    scope: Scope
    relation: Relation
    path: tuple[str, ...]
    start_byte: int
    base: Base


class MentionResolver:
    """`fields` are by class number: what `self.name` holds. With `keep_unbound`, names that the file does not
    bind are kept."""

    def __init__(
        self, lines: LineTable, fields: Mapping[int, Mapping[str, Binding]], *, keep_unbound: bool
    ) -> None:
        self._lines, self.fields, self.keep_unbound = lines, fields, keep_unbound

    def resolve(self, pending: PendingMention) -> Sequence[Mention]:
        scope, relation, path, _, base = pending
        if base not in ("name", "type"):
            return (self._mention(pending, path, base),)
        binding = scope.find(path[0])
        if binding is None:  # built in: dropped, except for the bases of a class
            return (self._mention(pending, path, base),) if self.keep_unbound or relation in _INHERITS else ()
        if base == "type" and binding.kind in ("local", "self"):
            return (self._mention(pending, path[-1:], "unknown"),)
        if base == "type" or binding.kind in ("symbol", "import"):
            return (self._mention(pending, path, base),)
        mentions = self._resolve_value(pending, binding)
        return [
            mention
            for mention in mentions
            if self.keep_unbound or mention.base != "type" or scope.find(mention.path[0])
        ]

    def _resolve_value(self, pending: PendingMention, binding: Binding) -> list[Mention]:
        """A name that holds a value. A variable of the file or of a class is a symbol itself."""
        if binding.kind == "variable" and len(pending.path) == 1:
            return [self._mention(pending, pending.path, "name")]
        if pending.relation in _INHERITS:
            return [self._mention(pending, pending.path[-1:], "unknown")]
        if pending.relation != "calls":
            return [self._mention(pending, pending.path[:1], "name")] if binding.kind == "variable" else []
        return self._resolve_call(pending, binding)

    def _resolve_call(self, pending: PendingMention, binding: Binding) -> list[Mention]:
        """A call on the value of a variable. A call of a local variable itself is dropped."""
        if binding.kind == "self":
            return self._resolve_self(pending, binding)
        if len(pending.path) == 1:
            return []
        mentions = [self._member(pending, binding, pending.path[1:])]
        if binding.kind == "variable":
            mentions.append(self._mention(pending, pending.path[:1], "name")._replace(relation="references"))
        return mentions

    def _resolve_self(self, pending: PendingMention, binding: Binding) -> list[Mention]:
        members = pending.path[1:]
        if not members:
            return []
        if len(members) == 1:
            within = pending.scope.enclosing_class == binding.number
            return [self._mention(pending, members, "self" if within else "unknown")]
        field = self.fields.get(binding.number, {}).get(members[0])
        if field is None:
            return [self._mention(pending, members[-1:], "unknown")]
        return [self._member(pending, field, members[1:])]

    def _member(self, pending: PendingMention, holder: Binding, members: tuple[str, ...]) -> Mention:
        if len(members) == 1 and holder.has_type_in(pending.scope):
            return self._mention(pending, (*holder.type, *members), "type")
        return self._mention(pending, members[-1:], "unknown")

    def _mention(self, pending: PendingMention, path: tuple[str, ...], base: Base) -> Mention:
        return Mention(
            pending.scope.owner, pending.relation, path, self._lines.line(pending.start_byte), base
        )


def without_repeats(mentions: Sequence[Mention]) -> list[Mention]:
    """Drop repeated references: each symbol keeps its first reference to a name."""
    references: set[tuple[int, tuple[str, ...]]] = set()
    distinct = []
    for mention in mentions:
        if mention.relation == "references":
            if (mention.owner, mention.path) in references:
                continue
            references.add((mention.owner, mention.path))
        distinct.append(mention)
    return distinct
