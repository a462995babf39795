"""Bash and other shells."""

from quintet.codegraph.language import DefinitionNodes, Family, Language, words

BUILTINS = words(
    "echo printf cd pwd ls cat grep sed awk cut sort uniq head tail find xargs mkdir rm cp mv touch chmod"
    " chown test read set unset export local declare readonly shift return exit source eval exec trap"
    " kill wait sleep date git curl wget tar make python python3 docker sudo true false type command"
    " getopts let basename dirname"
)
BASH = Language(
    name="bash",
    mime_type="text/x-shellscript",
    endings=("sh", "bash", "zsh", "ksh"),
    grammar=("tree_sitter_bash", "language"),
    definitions=DefinitionNodes(kinds={"function_definition": "function"}),
    extractor=f"{__name__}.extract",
    family=Family(
        "bash",
        home="none",
        imports=f"{__name__}.imports",
        builtins=BUILTINS,
        includes=True,
        passes_includes_on=True,
        names_from_star_imports=False,
        nested_namespaces=True,
    ),
)
