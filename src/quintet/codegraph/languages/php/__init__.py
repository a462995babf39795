"""PHP."""

from quintet.codegraph.language import Family, Language, NameRules, node_kinds, words

BUILTINS = words(
    "array_map array_filter array_merge array_keys array_values array_key_exists array_push array_pop"
    " array_shift array_slice array_unique in_array count sizeof strlen strpos substr str_replace"
    " str_contains implode explode trim ltrim rtrim sprintf printf print_r var_dump json_encode"
    " json_decode isset unset empty is_array is_string is_int is_null is_callable file_get_contents"
    " file_put_contents file_exists fopen fclose preg_match preg_replace date time microtime sort usort"
    " min max abs round floor ceil define defined die exit echo print Exception RuntimeException"
    " InvalidArgumentException LogicException Throwable Closure Iterator IteratorAggregate ArrayAccess"
    " Countable JsonSerializable Stringable DateTime DateTimeImmutable stdClass"
)
KINDS = node_kinds("trait_declaration:trait enum_declaration:enum namespace_definition:namespace")
RULES = NameRules("package", open_classes=True, includes=True, star_names=False)
FAMILY = Family("php", RULES, BUILTINS, imports=f"{__name__}.imports")
PHP = Language(
    "php",
    "text/x-php",
    ("php", "phtml"),
    FAMILY,
    f"{__name__}.extract",
    kinds=KINDS,
    grammar_function="language_php",
)
