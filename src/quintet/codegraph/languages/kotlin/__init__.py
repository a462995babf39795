"""Kotlin: definitions only."""

from quintet.codegraph.language import Family, Language, NameRules, node_kinds

KINDS = node_kinds(
    "class_declaration:class object_declaration:class type_alias:type function_declaration:function"
    " property_declaration:variable enum_entry:variable"
)
FAMILY = Family("kotlin", NameRules("none"))
KOTLIN = Language(
    "kotlin", "text/x-kotlin", ("kt", "kts"), FAMILY, "quintet.codegraph.languages.outlined", kinds=KINDS
)
