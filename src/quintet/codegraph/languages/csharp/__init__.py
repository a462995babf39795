"""C#."""

from quintet.codegraph.language import DefinitionNodes, Family, Language, NameRules, node_kinds, words

BUILTINS = words(
    "Console String Object Int32 Int64 Boolean Double Decimal Math Exception ArgumentException"
    " ArgumentNullException InvalidOperationException NotImplementedException NotSupportedException"
    " Task List Dictionary HashSet IEnumerable IDisposable Func Action Guid DateTime TimeSpan Convert"
    " Environment GC Type Enum Tuple Nullable nameof typeof StringBuilder Regex"
)
NODES = DefinitionNodes(
    node_kinds(
        "class_declaration:class interface_declaration:interface enum_declaration:enum"
        " record_declaration:record struct_declaration:struct namespace_declaration:namespace"
        " method_declaration:function constructor_declaration:function destructor_declaration:function"
        " operator_declaration:function"
    ),
    containers=words("declaration_list preproc_if preproc_else preproc_elif"),
    needs_body=words("method_declaration namespace_declaration"),
)
RULES = NameRules("package", implicit_self=True, open_classes=True, includes=True, nested_namespaces=True)
FAMILY = Family("csharp", RULES, BUILTINS)
CSHARP = Language(
    "csharp", "text/x-csharp", ("cs",), NODES, FAMILY, f"{__name__}.extract", grammar="tree_sitter_c_sharp"
)
