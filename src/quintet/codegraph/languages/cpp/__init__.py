"""C++."""

from quintet.codegraph.language import DefinitionNodes, Language, node_kinds, words
from quintet.codegraph.languages.c import C_FAMILY, CONTAINERS, KIND_OF_TYPE, KINDS, NEEDS_BODY

NODES = DefinitionNodes(
    KINDS
    | node_kinds(
        "class_specifier:class namespace_definition:namespace type_definition:type concept_definition:type"
    ),
    wrappers=words("template_declaration"),
    containers=CONTAINERS,
    needs_body=NEEDS_BODY | words("class_specifier namespace_definition"),
    kind_of_type=KIND_OF_TYPE,
)
CPP = Language(
    "cpp",
    "text/x-c++",
    ("cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "ipp"),
    NODES,
    C_FAMILY,
    f"{__name__}.extract",
)
