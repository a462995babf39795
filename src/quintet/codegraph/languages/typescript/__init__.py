"""TypeScript, and TSX with a grammar of its own. The extractor is JavaScript's."""

from dataclasses import replace

from quintet.codegraph.language import DefinitionNodes
from quintet.codegraph.languages.javascript import COMMENTS, JAVASCRIPT, SCRIPT_NODES, VALUES, WRAPPERS

TYPESCRIPT = replace(
    JAVASCRIPT,
    name="typescript",
    mime_type="text/x-typescript",
    endings=("ts", "mts", "cts"),
    grammar=("tree_sitter_typescript", "language_typescript"),
    definitions=DefinitionNodes(
        kinds=SCRIPT_NODES
        | {
            "abstract_class_declaration": "class",
            "interface_declaration": "interface",
            "enum_declaration": "enum",
            "type_alias_declaration": "type",
            "internal_module": "namespace",
            "module": "namespace",
        },
        comments=COMMENTS,
        wrappers=WRAPPERS | {"ambient_declaration", "expression_statement"},
        overloads=frozenset({"function_signature", "method_signature"}),
        variables=frozenset({"variable_declarator", "public_field_definition"}),
        values=VALUES,
    ),
)
TSX = replace(TYPESCRIPT, name="tsx", endings=("tsx",), grammar=("tree_sitter_typescript", "language_tsx"))
