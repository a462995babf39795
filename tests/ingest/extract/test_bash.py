"""Bash: expected symbols, imports and mentions, listed by hand."""

from ingest.extract.listing import imports, mentions, read, symbols

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


def test_bash_symbols_are_listed_with_their_owner_and_visibility() -> None:
    outline = read("bash", SOURCE, "bin/run.sh")
    assert symbols(outline) == [
        "8 variable LIMIT public",
        "9 variable NAME public",
        "13 function open_shop public",
        "24 function close_shop public",
        "30 function helper public",
        "32 function test_open public test",
    ]


def test_bash_imports_say_what_they_bring_in() -> None:
    outline = read("bash", SOURCE, "bin/run.sh")
    assert imports(outline) == [
        "module: ./lib/log.sh * as - exported",
        "module: $DIR/common.sh * as - exported",
        'module: $(dirname "$0")/tools.sh * as - exported',
    ]


def test_bash_calls_say_what_their_receiver_is() -> None:
    outline = read("bash", SOURCE, "bin/run.sh")
    assert mentions(outline, "calls") == [
        "6 module: dirname name",
        "15 open_shop: log_info name",
        "16 open_shop: helper name",
        "16 open_shop: sort_items name",
        "18 open_shop: helper2 name",
        "19 open_shop: check_stock name",
        "19 open_shop: restock name",
        "20 open_shop: open_shop name",
        "21 open_shop: sell name",
        "25 close_shop: cleanup name",
        "26 close_shop: echo name",
        "27 close_shop: helper name",
        "32 test_open: open_shop name",
        "34 module: open_shop name",
    ]


def test_bash_types_and_constants_are_mentioned() -> None:
    outline = read("bash", SOURCE, "bin/run.sh")
    assert mentions(outline, "extends") == []
    assert mentions(outline, "implements") == []
    assert mentions(outline, "references") == [
        "15 open_shop: LIMIT name",
        "26 close_shop: NAME name",
    ]


def test_bash_symbols_carry_the_comment_above_them() -> None:
    outline = read("bash", SOURCE, "bin/run.sh")
    found = {symbol.path: symbol.docstring for symbol in outline.symbols}
    assert found[()] == "Runs the shop."
    assert found["open_shop",] == "Opens the shop."


def test_broken_bash_gives_what_is_sound() -> None:
    outline = read("bash", "good() { helper; }\nbad() { if then ; \n", "a.sh")
    assert "1 function good public" in symbols(outline)
    assert "1 good: helper name" in mentions(outline, "calls")
