"""TypeScript, and TSX, which has its own grammar. The extractor is JavaScript's."""

from dataclasses import replace

from quintet.codegraph.language import DefinitionNodes, node_kinds, words
from quintet.codegraph.languages.javascript import COMMENTS, JAVASCRIPT, KINDS, VALUES, WRAPPERS

NODES = DefinitionNodes(
    KINDS
    | node_kinds(
        "class_declaration:class abstract_class_declaration:class interface_declaration:interface"
        " enum_declaration:enum type_alias_declaration:type internal_module:namespace module:namespace"
    ),
    COMMENTS,
    WRAPPERS | words("ambient_declaration expression_statement"),
    overloads=words("function_signature method_signature"),
    variables=words("variable_declarator public_field_definition"),
    values=VALUES,
)
TYPESCRIPT = replace(
    JAVASCRIPT,
    name="typescript",
    mime_type="text/x-typescript",
    endings=("ts", "mts", "cts"),
    definitions=NODES,
    grammar_function="language_typescript",
)
TSX = replace(
    TYPESCRIPT,
    name="tsx",
    endings=("tsx",),
    grammar="tree_sitter_typescript",
    grammar_function="language_tsx",
)
