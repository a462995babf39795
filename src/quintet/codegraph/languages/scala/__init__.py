"""Scala: definitions only."""

from quintet.codegraph.language import Family, Language, NameRules, node_kinds

KINDS = node_kinds(
    "class_definition:class object_definition:class trait_definition:trait enum_definition:enum"
    " type_definition:type given_definition:variable function_definition:function"
    " function_declaration:function val_definition:variable var_definition:variable"
    " val_declaration:variable var_declaration:variable simple_enum_case:variable full_enum_case:variable"
)
FAMILY = Family("scala", NameRules("none"))
SCALA = Language(
    "scala", "text/x-scala", ("scala", "sc"), FAMILY, "quintet.codegraph.languages.outlined", kinds=KINDS
)
