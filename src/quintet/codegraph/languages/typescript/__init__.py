"""TypeScript, and TSX, which has its own grammar. The extractor is JavaScript's."""

from dataclasses import replace

from quintet.codegraph.language import node_kinds
from quintet.codegraph.languages.javascript import JAVASCRIPT

KINDS = node_kinds(
    "enum_declaration:enum type_alias_declaration:type internal_module:namespace module:namespace"
    " function_signature:overload method_signature:overload"
)
TYPESCRIPT = replace(
    JAVASCRIPT,
    name="typescript",
    mime_type="text/x-typescript",
    endings=("ts", "mts", "cts"),
    kinds=KINDS,
    grammar_function="language_typescript",
)
TSX = replace(
    TYPESCRIPT,
    name="tsx",
    endings=("tsx",),
    grammar="tree_sitter_typescript",
    grammar_function="language_tsx",
)
