"""Lua: definitions only."""

from quintet.codegraph.language import Family, Language, NameRules, node_kinds

KINDS = node_kinds("function_declaration:function assignment_statement:variable field:function")
FAMILY = Family("lua", NameRules("none"))
LUA = Language("lua", "text/x-lua", ("lua",), FAMILY, f"{__name__}.extract", kinds=KINDS)
