"""C++. Its names and headers are shared with C."""

from quintet.codegraph.language import DefinitionNodes, Language
from quintet.codegraph.languages.c import C_FAMILY, C_KINDS, CONTAINERS, KIND_OF_TYPE, NEEDS_BODY

CPP = Language(
    name="cpp",
    mime_type="text/x-c++",
    endings=("cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "ipp"),
    grammar=("tree_sitter_cpp", "language"),
    definitions=DefinitionNodes(
        kinds=C_KINDS
        | {"class_specifier": "class", "namespace_definition": "namespace", "concept_definition": "type"},
        wrappers=frozenset({"template_declaration"}),
        containers=CONTAINERS,
        needs_body=NEEDS_BODY | {"class_specifier", "namespace_definition"},
        kind_of_type=KIND_OF_TYPE,
    ),
    extractor=f"{__name__}.extract",
    family=C_FAMILY,
)
