"""C: expected symbols, imports and mentions, listed by hand."""

from ingest.extract.listing import imports, mentions, read, symbols

SOURCE = """
#include <stdio.h>
#include "util/list.h"

#ifndef GUARD
#define GUARD
#define LIMIT 16
#define SQUARE(x) ((x) * (x))
#endif

/** A node of the list. */
struct node {
    int value;
    struct node *next;
    void (*visit)(struct node *);
    union { int a; item_t b; } u;
};

typedef struct node node_t;
typedef struct { node_t *head; } list_t;
typedef int (*visit_fn)(node_t *);
enum colour { RED, GREEN = LIMIT };

static const int low = 3, *other;
extern int shared;
node_t *first = NULL;
int forward(int n);

// Makes a node.
static node_t *make(int value, visit_fn visit)
{
    node_t *node = malloc(sizeof(node_t));
    node->visit(node);
    visit(node);
    (*visit)(node);
    SQUARE(value);
    if (value > low)
        return make(value - 1, visit);
    int forward = 2;
    forward(1);
    return node;
}

int depth(list_t *list)
{
    enum colour c = RED;
    register_callback(make);
    for (int i = 0; i < LIMIT; i++)
        print(list, i, c);
    return list->head ? depth(list) + forward(first->value) : shared;
}
"""


def test_c_symbols_are_listed_with_their_owner_and_visibility() -> None:
    outline = read("c", SOURCE, "src/list.c")
    assert symbols(outline) == [
        "6 variable LIMIT public",
        "11 class node public",
        "12 variable node.value public",
        "13 variable node.next public",
        "14 variable node.visit public",
        "15 variable node.u public",
        "15 variable node.a public",
        "15 variable node.b public",
        "18 class node_t public",
        "19 class list_t public",
        "19 variable list_t.head public",
        "20 class visit_fn public",
        "21 class colour public",
        "21 variable RED public",
        "21 variable GREEN public",
        "23 variable low private",
        "23 variable other private",
        "25 variable first public",
        "29 function make private",
        "43 function depth public",
    ]


def test_c_imports_say_what_they_bring_in() -> None:
    outline = read("c", SOURCE, "src/list.c")
    assert imports(outline) == [
        "module: <stdio.h> * as - exported",
        "module: util/list.h * as - exported",
    ]


def test_c_calls_say_what_their_receiver_is() -> None:
    outline = read("c", SOURCE, "src/list.c")
    assert mentions(outline, "calls") == [
        "31 make: malloc name",
        "32 make: visit unknown",
        "37 make: make name",
        "46 depth: register_callback name",
        "48 depth: print name",
        "49 depth: depth name",
        "49 depth: forward name",
    ]


def test_c_types_and_constants_are_mentioned() -> None:
    outline = read("c", SOURCE, "src/list.c")
    assert mentions(outline, "extends") == []
    assert mentions(outline, "implements") == []
    assert mentions(outline, "references") == [
        "13 node.next: node name",
        "15 node.b: item_t name",
        "18 node_t: node name",
        "19 list_t.head: node_t name",
        "20 visit_fn: node_t name",
        "21 GREEN: LIMIT name",
        "25 first: node_t name",
        "29 make: node_t name",
        "29 make: visit_fn name",
        "36 make: low name",
        "43 depth: list_t name",
        "45 depth: RED name",
        "45 depth: colour name",
        "46 depth: make name",
        "47 depth: LIMIT name",
        "49 depth: first name",
        "49 depth: shared name",
    ]


def test_c_symbols_carry_their_signature_and_comment() -> None:
    outline = read("c", SOURCE, "src/list.c")
    found = {symbol.path: (symbol.signature, symbol.docstring) for symbol in outline.symbols}
    assert found["node",] == ("struct node", "A node of the list.")
    assert found["make",] == ("static node_t *make(int value, visit_fn visit)", "Makes a node.")


def test_the_prototypes_of_a_header_are_symbols() -> None:
    text = "/* Opens. */\nint open_it(const char *path, item_t *item);\nextern int count;\n"
    outline = read("c", text, "include/it.h")
    assert symbols(outline) == ["2 function open_it public", "3 variable count public"]
    assert mentions(outline, "references") == ["2 open_it: item_t name"]
    assert outline.symbols[1].docstring == "Opens."
    assert symbols(read("c", text, "src/it.c")) == []


def test_broken_c_gives_what_is_sound() -> None:
    outline = read("c", "int good(void) { return helper(); }\nint bad( {{ = ;\nint 3x", "a.c")
    assert "1 function good public" in symbols(outline)
    assert "1 good: helper name" in mentions(outline, "calls")
