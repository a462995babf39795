"""The faults that can be planted in a module, one at a time, found in its syntax tree."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
}
CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}
# What cannot change an answer, or is no rule of a specification: types, messages, the shape of a class.
LEFT_OUT = (ast.Raise, ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom)


@dataclass(frozen=True, slots=True)
class Fault:
    """A text in a file, at an offset, and what takes its place."""

    file: str
    line: int
    at: int
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.before} -> {self.after}"

    def planted(self, source: str) -> str:
        assert source[self.at :].startswith(self.before), self
        return source[: self.at] + self.after + source[self.at + len(self.before) :]


def faults_in(file: Path, root: Path) -> list[Fault]:
    """Every fault of a file, in the order of its text."""
    source = file.read_text("utf-8")
    lines = [0]
    for line in source.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    name = file.relative_to(root).as_posix()
    found = []
    for node in _code(ast.parse(source)):
        before = ast.get_source_segment(source, node)
        line = getattr(node, "lineno", 0)
        for after in _changes(node):
            assert before is not None
            row = source.splitlines()[line - 1].encode()
            at = lines[line - 1] + len(row[: getattr(node, "col_offset", 0)].decode())
            found.append(Fault(name, line, at, before, after))
    return sorted(found, key=lambda fault: (fault.at, fault.after))


def named_fault(name: str, root: Path, before: str, after: str) -> Fault:
    """The fault at the only place of a file that has this text."""
    source = (root / name).read_text("utf-8")
    assert source.count(before) == 1, f"{name}: {before!r} is there {source.count(before)} times"
    at = source.index(before)
    return Fault(name, source.count("\n", 0, at) + 1, at, before, after)


def _code(node: ast.AST) -> Iterator[ast.AST]:
    """Nodes that decide something: no annotations, decorators, messages, or classes of nothing but types."""
    if isinstance(node, LEFT_OUT) or _is_typed_dict(node):
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "bases"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _code(child)


def _is_typed_dict(node: ast.AST) -> bool:
    return isinstance(node, ast.ClassDef) and any(
        isinstance(base, ast.Name) and base.id in ("TypedDict", "Protocol", "Scores", "CallFields")
        for base in node.bases
    )


def _changes(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Compare(ops=[op]) if type(op) in COMPARISONS:
            changed = ast.Compare(node.left, [COMPARISONS[type(op)]()], node.comparators)
            yield f"({ast.unparse(changed)})"
        case ast.BinOp(left, op, right) if type(op) in ARITHMETIC:
            yield f"({ast.unparse(ast.BinOp(left, ARITHMETIC[type(op)](), right))})"
        case ast.BoolOp(op, values):
            other: ast.boolop = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield f"({ast.unparse(ast.BoolOp(other, values))})"
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            yield f"({ast.unparse(operand)})"
        case ast.IfExp(test, body, orelse):
            yield f"({ast.unparse(ast.IfExp(test, orelse, body))})"
        case ast.Call(ast.Name(name), arguments, keywords) if name in CALLS:
            yield ast.unparse(ast.Call(ast.Name(CALLS[name]), arguments, keywords))
        case ast.Tuple(elts) if len(elts) > 1 and all(_is_text(element) for element in elts):
            yield f"({ast.unparse(ast.Tuple([elts[1], elts[0], *elts[2:]], ast.Load()))})"
        case ast.Constant(bool(value)):
            yield str(not value)
        case ast.Constant(int(value) | float(value)):
            yield repr(value + 1)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
