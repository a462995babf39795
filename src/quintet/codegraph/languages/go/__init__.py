"""Go."""

from quintet.codegraph.language import DefinitionNodes, Family, Language, words

BUILTINS = words(
    "append cap clear close complex copy delete imag len make max min new panic print println real"
    " recover any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32"
    " int64 rune string uint uint8 uint16 uint32 uint64 uintptr true false nil iota"
)
GO = Language(
    name="go",
    mime_type="text/x-go",
    endings=("go",),
    grammar=("tree_sitter_go", "language"),
    definitions=DefinitionNodes(
        kinds={"function_declaration": "function", "method_declaration": "method", "type_spec": "type"},
        wrappers=frozenset({"type_declaration"}),
        needs_body=frozenset({"method_declaration"}),
        kind_of_type={"struct_type": "struct", "interface_type": "interface"},
    ),
    extractor=f"{__name__}.extract",
    family=Family(
        "go",
        home="folder",
        imports=f"{__name__}.imports",
        builtins=BUILTINS,
        open_classes=True,
    ),
)
