"""JavaScript. TypeScript shares its names and its extractor."""

from quintet.codegraph.language import Family, Language, NameRules, words

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
SCRIPT = Family(
    "script",
    NameRules("file", closed_scopes=True, star_names=False),
    BUILTINS,
    imports=f"{__name__}.imports",
    module_endings=(".d.ts", ".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"),
    folder_files=words("index"),
)
JAVASCRIPT = Language(
    "javascript", "text/javascript", ("js", "mjs", "cjs", "jsx"), SCRIPT, f"{__name__}.extract"
)
