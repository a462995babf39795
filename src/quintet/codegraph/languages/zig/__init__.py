"""Zig: definitions only."""

from quintet.codegraph.language import Family, Language, NameRules, node_kinds

KINDS = node_kinds(
    "function_declaration:function test_declaration:function variable_declaration:variable"
    " container_field:variable"
)
FAMILY = Family("zig", NameRules("none"))
ZIG = Language("zig", "text/x-zig", ("zig",), FAMILY, f"{__name__}.extract", kinds=KINDS)
