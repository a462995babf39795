"""Ruby."""

from quintet.codegraph.language import DefinitionNodes, Family, Language, words

BUILTINS = words(
    "puts print p pp require require_relative load raise fail loop lambda proc format sprintf printf gets"
    " rand srand sleep exit abort at_exit attr_reader attr_writer attr_accessor include extend prepend"
    " private protected public module_function define_method alias_method freeze catch throw binding"
    " block_given? Array Hash String Integer Float Symbol Object Class Module Kernel Comparable"
    " Enumerable Struct Set Range Regexp Time File Dir IO Proc Exception StandardError RuntimeError"
    " ArgumentError TypeError NameError NoMethodError KeyError IndexError NotImplementedError"
)
RUBY = Language(
    name="ruby",
    mime_type="text/x-ruby",
    endings=("rb", "rake", "gemspec"),
    file_names=("rakefile", "gemfile"),
    grammar=("tree_sitter_ruby", "language"),
    definitions=DefinitionNodes(
        kinds={"class": "class", "module": "module", "method": "function", "singleton_method": "function"},
        containers=frozenset({"singleton_class", "body_statement"}),
    ),
    extractor=f"{__name__}.extract",
    family=Family(
        "ruby",
        home="none",
        imports=f"{__name__}.imports",
        builtins=BUILTINS,
        implicit_self=True,
        open_classes=True,
        includes=True,
        names_from_star_imports=False,
        nested_namespaces=True,
    ),
)
