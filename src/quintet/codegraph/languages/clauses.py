"""What Elixir and Haskell share: a function may be written as several clauses, one below the other."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from quintet.codegraph.languages.outlined import OutlinedExtractor
from quintet.codegraph.layout import COMMENTS
from quintet.codegraph.scan import Scan, Step
from quintet.codegraph.scope import Scope

if TYPE_CHECKING:
    from tree_sitter import Node


class ClausesExtractor(OutlinedExtractor):
    def __init__(self, scan: Scan) -> None:
        super().__init__(scan)
        self._last_clauses: dict[int, Node] = {}  # by the id of the first

    @abstractmethod
    def clause_name(self, node: "Node") -> str:
        """The name of the function that this is a clause of; empty if it is none."""

    def last_clause(self, node: "Node") -> "Node | None":
        """The last of several clauses that begin with `node`."""
        return self._last_clauses.get(node.id)

    def clauses(self, node: "Node", scope: Scope) -> Sequence[Step]:
        """Visit only the first of clauses of one name; comments may stand between them."""
        next_steps: list[Step] = []
        first, name = node, ""
        for child in node.named_children:
            found = self.clause_name(child)
            if found and found == name:
                self._last_clauses[first.id] = child
                continue
            if child.type not in COMMENTS:
                first, name = child, found
            next_steps.append((child, scope))
        return next_steps
