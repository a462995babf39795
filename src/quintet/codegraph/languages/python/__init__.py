"""Python."""

from quintet.codegraph.language import Family, Language, NameRules, words

BUILTINS = words(
    "abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile"
    " complex copyright credits delattr dict dir divmod enumerate eval exec exit filter float format"
    " frozenset getattr globals hasattr hash help hex id input int isinstance issubclass iter len license"
    " list locals map max memoryview min next object oct open ord pow print property quit range repr"
    " reversed round set setattr slice sorted staticmethod str sum super tuple type vars zip"
    " __import__ __name__ __file__ __doc__ __path__ __package__ __spec__ __builtins__ NotImplemented"
    " Ellipsis BaseException Exception ArithmeticError AssertionError AttributeError BlockingIOError"
    " BrokenPipeError BufferError BytesWarning ChildProcessError ConnectionAbortedError ConnectionError"
    " ConnectionRefusedError ConnectionResetError DeprecationWarning EOFError EncodingWarning"
    " EnvironmentError FileExistsError FileNotFoundError FloatingPointError FutureWarning GeneratorExit"
    " IOError ImportError ImportWarning IndentationError IndexError InterruptedError IsADirectoryError"
    " KeyError KeyboardInterrupt LookupError MemoryError ModuleNotFoundError NameError NotADirectoryError"
    " NotImplementedError OSError OverflowError PendingDeprecationWarning PermissionError"
    " ProcessLookupError RecursionError ReferenceError ResourceWarning RuntimeError RuntimeWarning"
    " StopAsyncIteration StopIteration SyntaxError SyntaxWarning SystemError SystemExit TabError"
    " TimeoutError TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError"
    " UnicodeTranslateError UnicodeWarning UserWarning ValueError Warning ZeroDivisionError"
    " ExceptionGroup BaseExceptionGroup"
)
FAMILY = Family(
    "python",
    NameRules("file", closed_scopes=True),
    BUILTINS,
    imports=f"{__name__}.imports",
    module_endings=(".py", ".pyw", ".pyi"),
    folder_files=words("__init__"),
)
PYTHON = Language("python", "text/x-python", ("py", "pyi", "pyw"), FAMILY, f"{__name__}.extract")
