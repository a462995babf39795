"""Bash and other shells."""

from quintet.codegraph.language import Family, Language, NameRules, words

BUILTINS = words(
    "echo printf cd pwd ls cat grep sed awk cut sort uniq head tail find xargs mkdir rm cp mv touch chmod"
    " chown test read set unset export local declare readonly shift return exit source eval exec trap"
    " kill wait sleep date git curl wget tar make python python3 docker sudo true false type command"
    " getopts let basename dirname"
)
RULES = NameRules(includes=True, passes_includes_on=True, nested_namespaces=True, star_names=False)
FAMILY = Family("bash", RULES, BUILTINS, imports=f"{__name__}.imports")
BASH = Language("bash", "text/x-shellscript", ("sh", "bash", "zsh", "ksh"), FAMILY, f"{__name__}.extract")
