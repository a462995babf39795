"""Go."""

from quintet.codegraph.language import Family, Language, NameRules, node_kinds, words

BUILTINS = words(
    "append cap clear close complex copy delete imag len make max min new panic print println real"
    " recover any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32"
    " int64 rune string uint uint8 uint16 uint32 uint64 uintptr true false nil iota"
)
KINDS = node_kinds("type_spec:type")
RULES = NameRules("folder", open_classes=True)
FAMILY = Family("go", RULES, BUILTINS, imports=f"{__name__}.imports")
GO = Language("go", "text/x-go", ("go",), FAMILY, f"{__name__}.extract", kinds=KINDS)
