"""Rust."""

from quintet.codegraph.language import DefinitionNodes, Family, Language, NameRules, node_kinds, words

BUILTINS = words(
    "Vec String Option Some None Result Ok Err Box Rc Arc Cell RefCell HashMap HashSet BTreeMap BTreeSet"
    " VecDeque Iterator IntoIterator From Into TryFrom TryInto Default Clone Copy Debug Display Drop Eq"
    " PartialEq Ord PartialOrd Hash Send Sync Sized Fn FnMut FnOnce AsRef AsMut ToString ToOwned Deref"
    " println print eprintln eprint format vec panic assert assert_eq assert_ne debug_assert todo"
    " unimplemented unreachable write writeln matches include_str include_bytes env concat stringify"
    " dbg drop str u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 bool char std core alloc"
)
NODES = DefinitionNodes(
    node_kinds(
        "function_item:function struct_item:struct enum_item:enum union_item:union trait_item:trait"
        " impl_item:impl mod_item:module macro_definition:macro"
    ),
    comments=words("line_comment block_comment attribute_item"),
    containers=words("declaration_list"),
    needs_body=words("mod_item"),
)
FAMILY = Family(
    "rust",
    NameRules("file"),
    BUILTINS,
    imports=f"{__name__}.imports",
    module_endings=(".rs",),
    folder_files=words("mod lib main"),
)
RUST = Language("rust", "text/x-rust", ("rs",), NODES, FAMILY, f"{__name__}.extract")
