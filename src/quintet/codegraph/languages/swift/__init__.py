"""Swift: definitions only."""

from quintet.codegraph.language import Family, Language, NameRules, node_kinds

KINDS = node_kinds(
    "class_declaration:class protocol_declaration:interface typealias_declaration:type"
    " function_declaration:function protocol_function_declaration:function init_declaration:function"
    " deinit_declaration:function subscript_declaration:function property_declaration:variable"
    " protocol_property_declaration:variable enum_entry:variable"
)
FAMILY = Family("swift", NameRules("none"))
SWIFT = Language(
    "swift", "text/x-swift", ("swift",), FAMILY, "quintet.codegraph.languages.outlined", kinds=KINDS
)
