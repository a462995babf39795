"""Tells a `.h` file of C++ from one of C by its text."""

import re

_ONLY_IN_CPP = re.compile(r"^[ \t]*+(?:class|namespace|template|using)\b[^;\n]*+", re.MULTILINE)


def is_cpp_header(path: str, text: str) -> bool:
    return path.lower().endswith(".h") and _ONLY_IN_CPP.search(text) is not None
