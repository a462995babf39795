"""Haskell: definitions only."""

from quintet.codegraph.language import Family, Language, NameRules, node_kinds

KINDS = node_kinds(
    "data_type:type newtype:type type_synonym:type data_family:type type_family:type class:interface"
    " instance:impl"
)
FAMILY = Family("haskell", NameRules("none"))
HASKELL = Language("haskell", "text/x-haskell", ("hs",), FAMILY, f"{__name__}.extract", kinds=KINDS)
