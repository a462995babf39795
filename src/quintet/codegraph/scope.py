"""Which names stand for what where: scopes, and what each binds."""

from dataclasses import dataclass, field
from typing import Literal

Bound = Literal["symbol", "import", "variable", "local", "self"]
Type = tuple[str, ...]
MAX_SCOPES = 300  # inside one another; deeper ones share the names of the last, so that a look-up stays short


@dataclass(slots=True)
class Binding:
    """What a name stands for in a scope.

    `symbol`: a definition the graph knows; `import`: a name brought in; `variable`: a symbol too, but a value
    whose members only a static type tells; `local`: a parameter or local variable; `self`: the receiver of
    a method of class number `number`. `type` is a static type as written, its names meant in `scope`.
    """

    kind: Bound
    type: Type = ()
    scope: "Scope | None" = None
    number: int = 0
    declared: bool = False  # its type was annotated, so no assignment changes it

    def rebind(self, other: "Binding", *, keep: bool = False) -> None:
        """The same name is bound once more: a type holds only if every assignment agrees. In a file (`keep`)
        it stays what it was, elsewhere a definition that is overwritten is a local like any other."""
        if self.kind != other.kind and not keep:
            self.kind = "local"
        if other.declared and not self.declared:
            self.type, self.scope, self.declared = other.type, other.scope, True
        elif not self.declared and self.type != other.type:
            self.type = ()


@dataclass(slots=True)
class Scope:
    """A file, class, function or block. What is mentioned in it belongs to symbol number `owner`.

    `hidden` keeps its names from the functions inside (a class of Python or JavaScript); a `block` (or a
    comprehension) holds its own names, but some declarations inside bind in the function around it;
    `outward` are names that a statement such as `global` sends to another scope; `referred` are the paths
    that something in it refers to.
    """

    owner: int
    parent: "Scope | None" = None
    hidden: bool = False
    block: bool = False
    enclosing_class: int = 0
    names: dict[str, Binding] = field(default_factory=dict)
    outward: dict[str, "Scope"] = field(default_factory=dict)
    depth: int = 0
    referred: set[tuple[str, ...]] = field(default_factory=set)

    def inner(self, owner: int | None = None, *, hidden: bool = False, class_number: int = 0) -> "Scope":
        """A scope inside this one: of symbol `owner`, or without it a block of the same symbol."""
        within = class_number or self.enclosing_class
        owner, block = (self.owner, True) if owner is None else (owner, False)
        if self.depth >= MAX_SCOPES:
            return self._sharing(owner, within)
        return Scope(owner, self, hidden, block, within, depth=self.depth + 1)

    def owned_by(self, owner: int) -> "Scope":
        """The same names, for a part of symbol `owner` that is read outside it: a decorator, a base class."""
        return self._sharing(owner, self.enclosing_class)

    def _sharing(self, owner: int, enclosing_class: int) -> "Scope":
        shared = (self.names, self.outward, self.depth)
        return Scope(owner, self.parent, self.hidden, self.block, enclosing_class, *shared)

    @property
    def is_file(self) -> bool:
        return self.parent is None

    @property
    def is_class_body(self) -> bool:
        return self.owner > 0 and self.owner == self.enclosing_class

    @property
    def function(self) -> "Scope":
        """This scope, or the function, class or file that this block stands in."""
        scope = self
        while scope.block and scope.parent is not None:
            scope = scope.parent
        return scope

    def bind(self, name: str, binding: Binding) -> None:
        scope = self.outward.get(name, self)
        known = scope.names.get(name)
        if known is None:
            scope.names[name] = binding
        elif scope.is_file and binding.kind in ("symbol", "import"):
            if known.kind not in ("symbol", "import"):
                scope.names[name] = binding
        else:
            if scope.is_file and known.kind == "local":
                known.kind = binding.kind  # `global x` in a function stood above `x = ...`
            known.rebind(binding, keep=scope.is_file)

    def local(self, name: str, type: Type = (), *, declared: bool = False) -> None:
        self.bind(name, Binding("local", type, self, declared=declared))

    def find(self, name: str) -> Binding | None:
        """What `name` means here, or None when nothing in the file binds it."""
        scope: Scope | None = self
        while scope is not None:
            if scope.outward and name in scope.outward:
                return scope.outward[name].names.get(name)
            binding = scope.names.get(name)
            if binding is not None and (scope is self or not scope.hidden):
                return binding
            scope = scope.parent
        return None
