"""PHP."""

from quintet.codegraph.language import DefinitionNodes, Family, Language, words

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
PHP = Language(
    name="php",
    mime_type="text/x-php",
    endings=("php", "phtml"),
    grammar=("tree_sitter_php", "language_php"),
    definitions=DefinitionNodes(
        kinds={
            "class_declaration": "class",
            "interface_declaration": "interface",
            "trait_declaration": "trait",
            "enum_declaration": "enum",
            "function_definition": "function",
            "method_declaration": "function",
            "namespace_definition": "namespace",
        },
        containers=frozenset({"declaration_list"}),
        needs_body=frozenset({"method_declaration", "namespace_definition"}),
    ),
    extractor=f"{__name__}.extract",
    family=Family(
        "php",
        home="package",
        imports=f"{__name__}.imports",
        builtins=BUILTINS,
        open_classes=True,
        includes=True,
        names_from_star_imports=False,
    ),
)
