"""JavaScript."""

from quintet.codegraph.language import DefinitionNodes, Family, Language, words

BUILTINS = words(
    "Array ArrayBuffer BigInt Boolean Buffer DataView Date Error EvalError Function Infinity Intl JSON"
    " Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set String Symbol"
    " SyntaxError TypeError URIError URL URLSearchParams WeakMap WeakRef WeakSet globalThis window"
    " document console process module exports require fetch setTimeout setInterval setImmediate"
    " clearTimeout clearInterval queueMicrotask structuredClone parseInt parseFloat isNaN isFinite"
    " encodeURI encodeURIComponent decodeURI decodeURIComponent escape unescape eval alert undefined"
    " Event EventTarget AbortController Request Response Headers FormData Blob File Worker navigator"
    " location history localStorage sessionStorage performance crypto string number boolean any unknown"
    " never void object symbol bigint Partial Required Readonly Record Pick Omit Exclude Extract"
    " NonNullable Parameters ReturnType InstanceType Awaited Uint8Array Int32Array Float32Array"
    " Float64Array Element HTMLElement Node describe it test expect beforeEach afterEach"
)
SCRIPT_NODES = {
    "function_declaration": "function",
    "generator_function_declaration": "function",
    "class_declaration": "class",
    "method_definition": "function",
}
VALUES = {"arrow_function": "function", "function_expression": "function", "class": "class"}
WRAPPERS = frozenset({"export_statement", "lexical_declaration", "variable_declaration"})
COMMENTS = frozenset({"comment", "decorator"})
SCRIPT = Family(
    "script",
    home="file",
    imports=f"{__name__}.imports",
    builtins=BUILTINS,
    module_endings=(".d.ts", ".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"),
    folder_files=frozenset({"index"}),
    closed_scopes=True,
    names_from_star_imports=False,
)
JAVASCRIPT = Language(
    name="javascript",
    mime_type="text/javascript",
    endings=("js", "mjs", "cjs", "jsx"),
    grammar=("tree_sitter_javascript", "language"),
    definitions=DefinitionNodes(
        kinds=SCRIPT_NODES,
        comments=COMMENTS,
        wrappers=WRAPPERS,
        variables=frozenset({"variable_declarator", "field_definition"}),
        values=VALUES,
    ),
    extractor=f"{__name__}.extract",
    family=SCRIPT,
)
