"""JavaScript. TypeScript shares its names and its extractor."""

from quintet.codegraph.language import DefinitionNodes, Family, Language, NameRules, node_kinds, words

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
KINDS = node_kinds(
    "function_declaration:function generator_function_declaration:function"
    " method_definition:function class_declaration:class"
)
VALUES = node_kinds("arrow_function:function function_expression:function class:class")
WRAPPERS = words("export_statement lexical_declaration variable_declaration")
COMMENTS = words("comment decorator")
NODES = DefinitionNodes(
    KINDS,
    COMMENTS,
    WRAPPERS,
    variables=words("variable_declarator field_definition"),
    values=VALUES,
)
SCRIPT = Family(
    "script",
    NameRules("file", closed_scopes=True, star_names=False),
    BUILTINS,
    imports=f"{__name__}.imports",
    module_endings=(".d.ts", ".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"),
    folder_files=words("index"),
)
JAVASCRIPT = Language(
    "javascript", "text/javascript", ("js", "mjs", "cjs", "jsx"), NODES, SCRIPT, f"{__name__}.extract"
)
