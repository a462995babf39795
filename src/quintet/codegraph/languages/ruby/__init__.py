"""Ruby."""

from quintet.codegraph.language import Family, Language, NameRules, words

BUILTINS = words(
    "puts print p pp require require_relative load raise fail loop lambda proc format sprintf printf gets"
    " rand srand sleep exit abort at_exit attr_reader attr_writer attr_accessor include extend prepend"
    " private protected public module_function define_method alias_method freeze catch throw binding"
    " block_given? Array Hash String Integer Float Symbol Object Class Module Kernel Comparable"
    " Enumerable Struct Set Range Regexp Time File Dir IO Proc Exception StandardError RuntimeError"
    " ArgumentError TypeError NameError NoMethodError KeyError IndexError NotImplementedError"
)
RULES = NameRules(
    implicit_self=True, open_classes=True, includes=True, nested_namespaces=True, star_names=False
)
FAMILY = Family("ruby", RULES, BUILTINS, imports=f"{__name__}.imports")
RUBY = Language(
    "ruby",
    "text/x-ruby",
    ("rb", "rake", "gemspec"),
    FAMILY,
    f"{__name__}.extract",
    file_names=("rakefile", "gemfile"),
)
