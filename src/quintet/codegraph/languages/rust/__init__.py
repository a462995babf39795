"""Rust."""

from quintet.codegraph.language import DefinitionNodes, Family, Language, words

BUILTINS = words(
    "Vec String Option Some None Result Ok Err Box Rc Arc Cell RefCell HashMap HashSet BTreeMap BTreeSet"
    " VecDeque Iterator IntoIterator From Into TryFrom TryInto Default Clone Copy Debug Display Drop Eq"
    " PartialEq Ord PartialOrd Hash Send Sync Sized Fn FnMut FnOnce AsRef AsMut ToString ToOwned Deref"
    " println print eprintln eprint format vec panic assert assert_eq assert_ne debug_assert todo"
    " unimplemented unreachable write writeln matches include_str include_bytes env concat stringify"
    " dbg drop str u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 bool char std core alloc"
)
RUST = Language(
    name="rust",
    mime_type="text/x-rust",
    endings=("rs",),
    grammar=("tree_sitter_rust", "language"),
    definitions=DefinitionNodes(
        kinds={
            "function_item": "function",
            "struct_item": "struct",
            "enum_item": "enum",
            "union_item": "union",
            "trait_item": "trait",
            "impl_item": "impl",
            "mod_item": "module",
            "macro_definition": "macro",
        },
        comments=frozenset({"line_comment", "block_comment", "attribute_item"}),
        containers=frozenset({"declaration_list"}),
        needs_body=frozenset({"mod_item"}),
    ),
    extractor=f"{__name__}.extract",
    family=Family(
        "rust",
        home="file",
        imports=f"{__name__}.imports",
        builtins=BUILTINS,
        module_endings=(".rs",),
        folder_files=frozenset({"mod", "lib", "main"}),
    ),
)
