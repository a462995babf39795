"""What resolution has to know of each language: its family, its builtins, its everyday method names."""

FAMILIES = {
    "python": "python",
    "javascript": "script",
    "typescript": "script",
    "tsx": "script",
    "rust": "rust",
    "go": "go",
    "java": "java",
    "c": "c",
    "cpp": "c",
    "csharp": "csharp",
    "ruby": "ruby",
    "php": "php",
    "bash": "bash",
}

# Here a file is a module; elsewhere its names go into a package, a namespace or one space for all.
FILE_MODULES = frozenset({"python", "script", "rust"})
# A bare name inside a class may mean a member of it.
IMPLICIT_SELF = frozenset({"java", "csharp", "c", "ruby"})
# A class may be written in several places; its parts have one qualified name.
REOPENED = frozenset({"go", "java", "csharp", "c", "ruby", "php"})
# An import without a name brings in everything.
INCLUDES = frozenset({"c", "bash", "ruby", "php", "csharp", "java"})
# Stars of one file are seen through the files that include it.
TRANSITIVE = frozenset({"c", "bash"})

HARMLESS_BASES = frozenset({"object", "ABC", "Generic", "Protocol", "Object"})  # no methods anybody calls


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


BUILTINS: dict[str, frozenset[str]] = {
    "python": _words(
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
    ),
    "script": _words(
        "Array ArrayBuffer BigInt Boolean Buffer DataView Date Error EvalError Function Infinity Intl JSON"
        " Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set String Symbol"
        " SyntaxError TypeError URIError URL URLSearchParams WeakMap WeakRef WeakSet globalThis window"
        " document console process module exports require fetch setTimeout setInterval setImmediate"
        " clearTimeout clearInterval queueMicrotask structuredClone parseInt parseFloat isNaN isFinite"
        " encodeURI encodeURIComponent decodeURI decodeURIComponent escape unescape eval alert undefined"
        " Event EventTarget AbortController Request Response Headers FormData Blob File Worker navigator"
        " location history localStorage sessionStorage performance crypto string number boolean any unknown"
        " never void object symbol bigint Partial Required Readonly Record Pick Omit Exclude Extract"
        " NonNullable Parameters ReturnType InstanceType Awaited Uint8Array Int32Array Float32Array"
        " Float64Array Element HTMLElement Node describe it test expect beforeEach afterEach"
    ),
    "rust": _words(
        "Vec String Option Some None Result Ok Err Box Rc Arc Cell RefCell HashMap HashSet BTreeMap BTreeSet"
        " VecDeque Iterator IntoIterator From Into TryFrom TryInto Default Clone Copy Debug Display Drop Eq"
        " PartialEq Ord PartialOrd Hash Send Sync Sized Fn FnMut FnOnce AsRef AsMut ToString ToOwned Deref"
        " println print eprintln eprint format vec panic assert assert_eq assert_ne debug_assert todo"
        " unimplemented unreachable write writeln matches include_str include_bytes env concat stringify"
        " dbg drop str u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 bool char std core alloc"
    ),
    "go": _words(
        "append cap clear close complex copy delete imag len make max min new panic print println real"
        " recover any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32"
        " int64 rune string uint uint8 uint16 uint32 uint64 uintptr true false nil iota"
    ),
    "java": _words(
        "Object String StringBuilder StringBuffer Integer Long Short Byte Double Float Boolean Character"
        " Number Math System Thread Runnable Iterable Comparable CharSequence Exception RuntimeException"
        " Error Throwable IllegalArgumentException IllegalStateException NullPointerException"
        " IndexOutOfBoundsException UnsupportedOperationException ClassCastException InterruptedException"
        " CloneNotSupportedException ArithmeticException NumberFormatException Override Deprecated"
        " SuppressWarnings FunctionalInterface SafeVarargs Void Class ClassLoader Enum Record Process"
        " ThreadLocal AutoCloseable Cloneable StackTraceElement Runtime"
    ),
    "c": _words(
        "printf fprintf sprintf snprintf vprintf vfprintf vsnprintf scanf sscanf fscanf puts putchar getchar"
        " fopen fclose fread fwrite fgets fputs fseek ftell fflush feof ferror malloc calloc realloc free"
        " memcpy memmove memset memcmp memchr strlen strcpy strncpy strcat strncat strcmp strncmp strchr"
        " strrchr strstr strtok strdup strtol strtoul strtod atoi atol atof abs labs exit abort atexit qsort"
        " bsearch rand srand time clock assert isalpha isdigit isspace toupper tolower sizeof perror getenv"
        " system open close read write size_t ssize_t int8_t int16_t int32_t int64_t uint8_t uint16_t"
        " uint32_t uint64_t FILE NULL std va_start va_end static_cast dynamic_cast reinterpret_cast"
    ),
    "csharp": _words(
        "Console String Object Int32 Int64 Boolean Double Decimal Math Exception ArgumentException"
        " ArgumentNullException InvalidOperationException NotImplementedException NotSupportedException"
        " Task List Dictionary HashSet IEnumerable IDisposable Func Action Guid DateTime TimeSpan Convert"
        " Environment GC Type Enum Tuple Nullable nameof typeof StringBuilder Regex"
    ),
    "ruby": _words(
        "puts print p pp require require_relative load raise fail loop lambda proc format sprintf printf gets"
        " rand srand sleep exit abort at_exit attr_reader attr_writer attr_accessor include extend prepend"
        " private protected public module_function define_method alias_method freeze catch throw binding"
        " block_given? Array Hash String Integer Float Symbol Object Class Module Kernel Comparable"
        " Enumerable Struct Set Range Regexp Time File Dir IO Proc Exception StandardError RuntimeError"
        " ArgumentError TypeError NameError NoMethodError KeyError IndexError NotImplementedError"
    ),
    "php": _words(
        "array_map array_filter array_merge array_keys array_values array_key_exists array_push array_pop"
        " array_shift array_slice array_unique in_array count sizeof strlen strpos substr str_replace"
        " str_contains implode explode trim ltrim rtrim sprintf printf print_r var_dump json_encode"
        " json_decode isset unset empty is_array is_string is_int is_null is_callable file_get_contents"
        " file_put_contents file_exists fopen fclose preg_match preg_replace date time microtime sort usort"
        " min max abs round floor ceil define defined die exit echo print Exception RuntimeException"
        " InvalidArgumentException LogicException Throwable Closure Iterator IteratorAggregate ArrayAccess"
        " Countable JsonSerializable Stringable DateTime DateTimeImmutable stdClass"
    ),
    "bash": _words(
        "echo printf cd pwd ls cat grep sed awk cut sort uniq head tail find xargs mkdir rm cp mv touch chmod"
        " chown test read set unset export local declare readonly shift return exit source eval exec trap"
        " kill wait sleep date git curl wget tar make python python3 docker sudo true false type command"
        " getopts let basename dirname"
    ),
}

# An unknown receiver that is asked for one of these is more likely a list, a string or a file than ours.
COMMON_MEMBERS = _words(
    "__call__ __enter__ __exit__ __init__ acquire add all any append apply as_str bind call cancel"
    " capitalize charAt clear clone close collect commit concat connect contains containsKey copy count"
    " cursor debug decode delete difference discard done each each_with_index emit empty? encode endsWith"
    " endswith entries entrySet equals error every exception execute exists expect extend fetch fetchall"
    " fetchone fill filter find find_all first flatMap flatten flush fold forEach format from fromkeys get"
    " get_mut getattr group groups has hasNext hashCode hexdigest include? includes index indexOf info"
    " insert inspect intersection into isEmpty is_dir is_empty is_file is_none is_ok is_some isdigit items"
    " iter iterator join keys last len length ljust locals lock log lower lstrip map match merge mkdir"
    " name next nil? notify off on open parse partition peek poll pop popitem post print push put query"
    " raise_for_status read readline readlines recv reduce release remove removeprefix removesuffix render"
    " repeat replace reset resolve result reverse rfind rollback rstrip run save search seek select send"
    " set setdefault shift show size slice some sort splice split splitlines start startsWith startswith"
    " status stop str stream strip sub submit subscribe substring sum tell test then title toArray"
    " toLowerCase toString toUpperCase to_a to_h to_i to_s to_str to_string trim truncate union unlock"
    " unwrap unwrap_or update upper value values wait warn warning with write writelines zip"
)
