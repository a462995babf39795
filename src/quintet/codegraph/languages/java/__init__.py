"""Java."""

from quintet.codegraph.language import DefinitionNodes, Family, Language, NameRules, node_kinds, words

BUILTINS = words(
    "Object String StringBuilder StringBuffer Integer Long Short Byte Double Float Boolean Character"
    " Number Math System Thread Runnable Iterable Comparable CharSequence Exception RuntimeException"
    " Error Throwable IllegalArgumentException IllegalStateException NullPointerException"
    " IndexOutOfBoundsException UnsupportedOperationException ClassCastException InterruptedException"
    " CloneNotSupportedException ArithmeticException NumberFormatException Override Deprecated"
    " SuppressWarnings FunctionalInterface SafeVarargs Void Class ClassLoader Enum Record Process"
    " ThreadLocal AutoCloseable Cloneable StackTraceElement Runtime"
)
NODES = DefinitionNodes(
    node_kinds(
        "class_declaration:class interface_declaration:interface annotation_type_declaration:interface"
        " enum_declaration:enum record_declaration:record method_declaration:function"
        " constructor_declaration:function compact_constructor_declaration:function"
    ),
    comments=words("line_comment block_comment"),
    containers=words("enum_body_declarations"),
    needs_body=words("method_declaration"),
)
RULES = NameRules("package", implicit_self=True, open_classes=True, includes=True)
FAMILY = Family("java", RULES, BUILTINS)
JAVA = Language("java", "text/x-java", ("java",), NODES, FAMILY, f"{__name__}.extract")
