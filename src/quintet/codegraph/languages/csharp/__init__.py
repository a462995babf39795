"""C#."""

from quintet.codegraph.language import Family, Language, NameRules, node_kinds, words

BUILTINS = words(
    "Console String Object Int32 Int64 Boolean Double Decimal Math Exception ArgumentException"
    " ArgumentNullException InvalidOperationException NotImplementedException NotSupportedException"
    " Task List Dictionary HashSet IEnumerable IDisposable Func Action Guid DateTime TimeSpan Convert"
    " Environment GC Type Enum Tuple Nullable nameof typeof StringBuilder Regex"
)
KINDS = node_kinds(
    "enum_declaration:enum record_declaration:record"
    " struct_declaration:struct namespace_declaration:namespace"
)
RULES = NameRules("package", implicit_self=True, open_classes=True, includes=True, nested_namespaces=True)
FAMILY = Family("csharp", RULES, BUILTINS)
CSHARP = Language(
    "csharp",
    "text/x-csharp",
    ("cs",),
    FAMILY,
    f"{__name__}.extract",
    kinds=KINDS,
    grammar="tree_sitter_c_sharp",
)
