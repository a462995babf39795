"""Java."""

from quintet.codegraph.language import Family, Language, NameRules, node_kinds, words

BUILTINS = words(
    "Object String StringBuilder StringBuffer Integer Long Short Byte Double Float Boolean Character"
    " Number Math System Thread Runnable Iterable Comparable CharSequence Exception RuntimeException"
    " Error Throwable IllegalArgumentException IllegalStateException NullPointerException"
    " IndexOutOfBoundsException UnsupportedOperationException ClassCastException InterruptedException"
    " CloneNotSupportedException ArithmeticException NumberFormatException Override Deprecated"
    " SuppressWarnings FunctionalInterface SafeVarargs Void Class ClassLoader Enum Record Process"
    " ThreadLocal AutoCloseable Cloneable StackTraceElement Runtime"
)
KINDS = node_kinds("enum_declaration:enum record_declaration:record")
RULES = NameRules("package", implicit_self=True, open_classes=True, includes=True)
FAMILY = Family("java", RULES, BUILTINS)
JAVA = Language("java", "text/x-java", ("java",), FAMILY, f"{__name__}.extract", kinds=KINDS)
