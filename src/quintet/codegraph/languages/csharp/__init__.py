"""C#."""

from quintet.codegraph.language import DefinitionNodes, Family, Language, words

BUILTINS = words(
    "Console String Object Int32 Int64 Boolean Double Decimal Math Exception ArgumentException"
    " ArgumentNullException InvalidOperationException NotImplementedException NotSupportedException"
    " Task List Dictionary HashSet IEnumerable IDisposable Func Action Guid DateTime TimeSpan Convert"
    " Environment GC Type Enum Tuple Nullable nameof typeof StringBuilder Regex"
)
CSHARP = Language(
    name="csharp",
    mime_type="text/x-csharp",
    endings=("cs",),
    grammar=("tree_sitter_c_sharp", "language"),
    definitions=DefinitionNodes(
        kinds={
            "class_declaration": "class",
            "interface_declaration": "interface",
            "enum_declaration": "enum",
            "record_declaration": "record",
            "struct_declaration": "struct",
            "namespace_declaration": "namespace",
            "method_declaration": "function",
            "constructor_declaration": "function",
            "destructor_declaration": "function",
            "operator_declaration": "function",
        },
        containers=frozenset({"declaration_list", "preproc_if", "preproc_else", "preproc_elif"}),
        needs_body=frozenset({"method_declaration", "namespace_declaration"}),
    ),
    extractor=f"{__name__}.extract",
    family=Family(
        "csharp",
        home="package",
        builtins=BUILTINS,
        implicit_self=True,
        open_classes=True,
        includes=True,
        nested_namespaces=True,
    ),
)
