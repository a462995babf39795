"""C. C++ shares its names."""

from quintet.codegraph.language import Family, Language, NameRules, node_kinds, words

BUILTINS = words(
    "printf fprintf sprintf snprintf vprintf vfprintf vsnprintf scanf sscanf fscanf puts putchar getchar"
    " fopen fclose fread fwrite fgets fputs fseek ftell fflush feof ferror malloc calloc realloc free"
    " memcpy memmove memset memcmp memchr strlen strcpy strncpy strcat strncat strcmp strncmp strchr"
    " strrchr strstr strtok strdup strtol strtoul strtod atoi atol atof abs labs exit abort atexit qsort"
    " bsearch rand srand time clock assert isalpha isdigit isspace toupper tolower sizeof perror getenv"
    " system open close read write size_t ssize_t int8_t int16_t int32_t int64_t uint8_t uint16_t"
    " uint32_t uint64_t FILE NULL std va_start va_end static_cast dynamic_cast reinterpret_cast"
)
KINDS = node_kinds("struct_specifier:struct union_specifier:union enum_specifier:enum")
RULES = NameRules(
    implicit_self=True, open_classes=True, includes=True, passes_includes_on=True, nested_namespaces=True
)
C_FAMILY = Family("c", RULES, BUILTINS, imports=f"{__name__}.imports")
C = Language("c", "text/x-c", ("c", "h"), C_FAMILY, f"{__name__}.extract", kinds=KINDS)
