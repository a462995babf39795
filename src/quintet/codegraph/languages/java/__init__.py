"""Java."""

from quintet.codegraph.language import DefinitionNodes, Family, Language, words

BUILTINS = words(
    "Object String StringBuilder StringBuffer Integer Long Short Byte Double Float Boolean Character"
    " Number Math System Thread Runnable Iterable Comparable CharSequence Exception RuntimeException"
    " Error Throwable IllegalArgumentException IllegalStateException NullPointerException"
    " IndexOutOfBoundsException UnsupportedOperationException ClassCastException InterruptedException"
    " CloneNotSupportedException ArithmeticException NumberFormatException Override Deprecated"
    " SuppressWarnings FunctionalInterface SafeVarargs Void Class ClassLoader Enum Record Process"
    " ThreadLocal AutoCloseable Cloneable StackTraceElement Runtime"
)
JAVA = Language(
    name="java",
    mime_type="text/x-java",
    endings=("java",),
    grammar=("tree_sitter_java", "language"),
    definitions=DefinitionNodes(
        kinds={
            "class_declaration": "class",
            "interface_declaration": "interface",
            "annotation_type_declaration": "interface",
            "enum_declaration": "enum",
            "record_declaration": "record",
            "method_declaration": "function",
            "constructor_declaration": "function",
            "compact_constructor_declaration": "function",
        },
        comments=frozenset({"line_comment", "block_comment"}),
        containers=frozenset({"enum_body_declarations"}),
        needs_body=frozenset({"method_declaration"}),
    ),
    extractor=f"{__name__}.extract",
    family=Family(
        "java",
        home="package",
        builtins=BUILTINS,
        implicit_self=True,
        open_classes=True,
        includes=True,
    ),
)
