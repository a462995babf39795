"""Bash: expected symbols, imports and mentions, listed by hand."""

from codegraph.languages.listing import headers, imports, mentions, read, symbols
from quintet.model.symbols import Outline

SOURCE = """
#!/usr/bin/env bash
# Runs the shop.

source ./lib/log.sh
. "$DIR/common.sh"
source "$(dirname "$0")/tools.sh"

readonly LIMIT=3
NAME="shop"
NAME=again

# Opens the shop.
open_shop() {
    local NAME="$1" count=2
    log_info "$NAME" "$LIMIT"
    helper "$count" | sort_items
    "$cmd" now
    $(helper2 x)
    if check_stock; then command restock; fi
    open_shop "$LIMIT"
    for item in a b; do sell "$item"; done
}

function close_shop {
    trap cleanup EXIT
    echo "$NAME"
    helper
}

helper() { :; }

test_open() { open_shop; }

open_shop "$@"
"""


def outline() -> Outline:
    return read("bash", SOURCE, "bin/run.sh")


def test_bash_definitions_have_their_kind_owner_and_visibility() -> None:
    assert symbols(outline()) == [
        "8 variable LIMIT public",
        "9 variable NAME public",
        "13 function open_shop public",
        "24 function close_shop public",
        "30 function helper public",
        "32 function test_open public test",
    ]


def test_bash_definitions_have_their_lines_signature_and_comment() -> None:
    assert headers(outline()) == [
        "8-8 LIMIT=3",
        '9-9 NAME="shop"',
        "13-22 open_shop() | Opens the shop.",
        "24-28 function close_shop",
        "30-30 helper()",
        "32-32 test_open()",
    ]


def test_a_bash_file_has_its_lines_comment_and_package() -> None:
    module = outline().symbols[0]
    assert (module.first_line, module.last_line, module.docstring) == (1, 34, "Runs the shop.")
    assert outline().package == ""


def test_bash_imports_say_what_they_bring_in() -> None:
    assert imports(outline()) == [
        "module: ./lib/log.sh * as - exported",
        "module: $DIR/common.sh * as - exported",
        'module: $(dirname "$0")/tools.sh * as - exported',
    ]


def test_bash_calls_say_what_their_receiver_is() -> None:
    assert mentions(outline(), "calls") == [
        "6 module: dirname name",
        "15 open_shop: log_info name",
        "16 open_shop: helper name",
        "16 open_shop: sort_items name",
        "18 open_shop: helper2 name",
        "19 open_shop: check_stock name",
        "20 open_shop: open_shop name",
        "21 open_shop: sell name",
        "25 close_shop: cleanup name",
        "26 close_shop: echo name",
        "27 close_shop: helper name",
        "32 test_open: open_shop name",
        "34 module: open_shop name",
    ]


def test_bash_has_nothing_to_extend_or_implement() -> None:
    assert mentions(outline(), "extends") == []
    assert mentions(outline(), "implements") == []


def test_bash_refers_to_types_constants_and_fields() -> None:
    assert mentions(outline(), "references") == [
        "15 open_shop: LIMIT name",
        "26 close_shop: NAME name",
    ]


def test_broken_bash_gives_what_is_sound() -> None:
    outline = read("bash", "good() { helper; }\nbad() { if then ; \n", "a.sh")
    assert "1 function good public" in symbols(outline)
    assert "1 good: helper name" in mentions(outline, "calls")


def test_a_bash_variable_shadows_no_function() -> None:
    text = """
    run() { stop; }
    go() { local run=1; run; }
    """
    assert mentions(read("bash", text, "a.sh"), "calls") == ["1 run: stop name", "2 go: run name"]


def test_dynamic_bash_calls_name_no_function() -> None:
    text = """
    run() { stop; }
    go() { $name; "$name" run; eval "$name"; "${name}_run"; command run; exec run; sudo run; }
    """
    assert mentions(read("bash", text, "a.sh"), "calls") == ["1 run: stop name"]


def test_a_bash_function_defined_twice_is_two_symbols() -> None:
    text = """
    if fast; then
        run() { one; }
    else
        run() { run; }
    fi
    """
    outline = read("bash", text, "a.sh")
    assert symbols(outline) == ["2 function run public", "4 function run public"]
    assert mentions(outline, "calls") == ["1 module: fast name", "2 run: one name", "4 run: run name"]


def test_a_bash_loop_in_a_function_sets_the_variable_of_the_file() -> None:
    text = """
    item=1
    go() { for item in a b; do use "$item"; done; }
    show() { use "$item" "${item:-x}"; }
    """
    assert mentions(read("bash", text, "a.sh"), "references") == [
        "2 go: item name",
        "3 show: item name",
    ]
