"""Rust."""

from quintet.codegraph.language import Family, Language, NameRules, node_kinds, words

BUILTINS = words(
    "Vec String Option Some None Result Ok Err Box Rc Arc Cell RefCell HashMap HashSet BTreeMap BTreeSet"
    " VecDeque Iterator IntoIterator From Into TryFrom TryInto Default Clone Copy Debug Display Drop Eq"
    " PartialEq Ord PartialOrd Hash Send Sync Sized Fn FnMut FnOnce AsRef AsMut ToString ToOwned Deref"
    " println print eprintln eprint format vec panic assert assert_eq assert_ne debug_assert todo"
    " unimplemented unreachable write writeln matches include_str include_bytes env concat stringify"
    " dbg drop str u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 bool char std core alloc"
)
KINDS = node_kinds("struct_item:struct enum_item:enum union_item:union trait_item:trait")
FAMILY = Family(
    "rust",
    NameRules("file"),
    BUILTINS,
    imports=f"{__name__}.imports",
    module_endings=(".rs",),
    folder_files=words("mod lib main"),
)
RUST = Language("rust", "text/x-rust", ("rs",), FAMILY, f"{__name__}.extract", kinds=KINDS)
