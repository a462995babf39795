"""C++."""

from quintet.codegraph.language import Language, node_kinds
from quintet.codegraph.languages.c import C_FAMILY, KINDS

CPP = Language(
    "cpp",
    "text/x-c++",
    ("cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "ipp"),
    C_FAMILY,
    f"{__name__}.extract",
    kinds=KINDS | node_kinds("namespace_definition:namespace concept_definition:type"),
)
