"""Scopes, and what each name means in them."""

from dataclasses import dataclass, field
from typing import Literal

Bound = Literal["symbol", "import", "variable", "local", "self"]
Type = tuple[str, ...]
MAX_SCOPES = 300  # nested; deeper scopes share the names of the last one, to keep look-ups short


@dataclass(slots=True)
class Binding:
    """What a name means in a scope.

    `symbol`: a definition; `import`: an imported name; `variable`: a symbol that holds a value, whose members
    depend on its static type; `local`: a parameter or local variable; `self`: the receiver in a method of
    class number `number`. `type` is a static type as written; its names are looked up in `scope`.
    """

    kind: Bound
    type: Type = ()
    scope: "Scope | None" = None
    number: int = 0
    declared: bool = False  # annotated, so that no assignment changes the type

    def rebind(self, other: "Binding", *, keep: bool = False) -> None:
        """Bind the same name again: the type stays only if every assignment agrees. With `keep`, as in a
        file, the kind stays too; elsewhere a definition that is overwritten becomes a local."""
        if self.kind != other.kind and not keep:
            self.kind = "local"
        if other.declared and not self.declared:
            self.type, self.scope, self.declared = other.type, other.scope, True
        elif not self.declared and self.type != other.type:
            self.type = ()

    def has_type_in(self, scope: "Scope") -> bool:
        """Whether the static type is known and its first name means the same in `scope`."""
        if not self.type or self.scope is None:
            return False
        binding = self.scope.find(self.type[0])
        if binding is not None and binding.kind in ("local", "self"):
            return False
        return scope.find(self.type[0]) is binding


@dataclass(slots=True)
class Scope:
    """A file, class, function or block. Its mentions belong to symbol number `owner`.

    `hidden`: the functions inside do not see its names (a class of Python or JavaScript). `block`: a block or
    comprehension has its own names, but some declarations inside it bind in the function around it.
    `outward`: names that a statement such as `global` binds in another scope. `referred`: the paths that
    something in the scope refers to.
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
        """A scope inside this one: that of symbol `owner`, or without one a block of the same symbol."""
        within = class_number or self.enclosing_class
        owner, block = (self.owner, True) if owner is None else (owner, False)
        if self.depth >= MAX_SCOPES:
            return self._sharing(owner, within)
        return Scope(owner, self, hidden, block, within, depth=self.depth + 1)

    def owned_by(self, owner: int) -> "Scope":
        """A scope with the same names for a part of symbol `owner` outside its body: a decorator, a base
        class."""
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
        """This scope, or the function, class or file around this block."""
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
                known.kind = binding.kind  # a `global x` in a function above `x = ...`
            known.rebind(binding, keep=scope.is_file)

    def local(self, name: str, type: Type = (), *, declared: bool = False) -> None:
        self.bind(name, Binding("local", type, self, declared=declared))

    def find(self, name: str) -> Binding | None:
        """What `name` means here; None if the file does not bind it."""
        scope: Scope | None = self
        while scope is not None:
            if scope.outward and name in scope.outward:
                return scope.outward[name].names.get(name)
            binding = scope.names.get(name)
            if binding is not None and (scope is self or not scope.hidden):
                return binding
            scope = scope.parent
        return None
