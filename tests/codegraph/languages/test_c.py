"""C: expected symbols, imports and mentions, listed by hand."""

from codegraph.languages.listing import headers, imports, mentions, read, symbols
from quintet.model.symbols import Outline

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


def outline() -> Outline:
    return read("c", SOURCE, "src/list.c")


def test_c_definitions_have_their_kind_owner_and_visibility() -> None:
    assert symbols(outline()) == [
        "6 variable LIMIT public",
        "7 function SQUARE public",
        "11 class node public",
        "12 variable node.value public",
        "13 variable node.next public",
        "14 variable node.visit public",
        "15 variable node.u public",
        "15 variable node.u.a public",
        "15 variable node.u.b public",
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


def test_c_definitions_have_their_lines_signature_and_comment() -> None:
    assert headers(outline()) == [
        "6-6 #define LIMIT 16",
        "7-7 #define SQUARE(x)",
        "11-16 struct node | A node of the list.",
        "12-12 int value",
        "13-13 struct node *next",
        "14-14 void (*visit)(struct node *)",
        "15-15 union { int a; item_t b; } u",
        "15-15 int a",
        "15-15 item_t b",
        "18-18 typedef struct node node_t",
        "19-19 typedef struct",
        "19-19 node_t *head",
        "20-20 typedef int (*visit_fn)(node_t *)",
        "21-21 enum colour",
        "21-21 RED",
        "21-21 GREEN = LIMIT",
        "23-23 static const int low = 3, *other",
        "23-23 static const int low = 3, *other",
        "25-25 node_t *first = NULL",
        "29-41 static node_t *make(int value, visit_fn visit) | Makes a node.",
        "43-50 int depth(list_t *list)",
    ]


def test_a_c_file_has_its_lines_comment_and_package() -> None:
    module = outline().symbols[0]
    assert (module.first_line, module.last_line, module.docstring) == (1, 50, "")
    assert outline().package == ""


def test_c_imports_say_what_they_bring_in() -> None:
    assert imports(outline()) == [
        "module: <stdio.h> * as - exported",
        "module: util/list.h * as - exported",
    ]


def test_c_calls_say_what_their_receiver_is() -> None:
    assert mentions(outline(), "calls") == [
        "31 make: malloc name",
        "32 make: visit unknown",
        "35 make: SQUARE name",
        "37 make: make name",
        "46 depth: register_callback name",
        "48 depth: print name",
        "49 depth: depth name",
        "49 depth: forward name",
    ]


def test_c_has_nothing_to_extend_or_implement() -> None:
    assert mentions(outline(), "extends") == []
    assert mentions(outline(), "implements") == []


def test_c_refers_to_types_constants_and_fields() -> None:
    assert mentions(outline(), "references") == [
        "13 node.next: node name",
        "14 node.visit: node name",
        "15 node.u.b: item_t name",
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


def test_a_c_function_is_shadowed_by_a_parameter_or_local() -> None:
    text = """
    int run(int x) { return x; }
    int go(int (*run)(int)) { return run(1); }
    int stop(void) { { int run = 1; use(run); } return run(2); }
    """
    outline = read("c", text, "a.c")
    assert mentions(outline, "calls") == ["3 stop: run name", "3 stop: use name"]
    assert mentions(outline, "references") == []


def test_dynamic_c_calls_name_no_function() -> None:
    text = """
    int run(int x) { return x; }
    static int (*table[])(int) = { run };
    int go(struct ops *ops, int i) { ops->run(1); return table[i](2) + (*table)(3); }
    """
    outline = read("c", text, "a.c")
    assert mentions(outline, "calls") == ["3 go: run unknown"]
    assert mentions(outline, "references") == ["2 table: run name", "3 go: ops name", "3 go: table name"]


def test_c_recursion_is_a_call_and_nothing_calls_backwards() -> None:
    text = """
    int odd(int n);
    int even(int n) { return n == 0 || odd(n - 1); }
    int odd(int n) { return n != 0 && even(n - 1); }
    """
    outline = read("c", text, "a.c")
    assert mentions(outline, "calls") == ["2 even: odd name", "3 odd: even name"]
    assert symbols(outline) == ["2 function even public", "3 function odd public"]


def test_what_only_an_included_c_file_can_define_is_mentioned() -> None:
    text = """
    #include "limits.h"
    int f(int n) { return n < MAX ? shared : NULL_VALUE; }
    """
    assert mentions(read("c", text, "a.c"), "references") == [
        "2 f: MAX name",
        "2 f: NULL_VALUE name",
        "2 f: shared name",
    ]


def test_the_fields_of_a_nameless_c_union_belong_to_what_has_its_name() -> None:
    text = """
    struct a { union { int x; } u; };
    struct b { union { int y; }; struct c { int z; } d; };
    """
    assert symbols(read("c", text, "a.h")) == [
        "1 class a public",
        "1 variable a.u public",
        "1 variable a.u.x public",
        "2 class b public",
        "2 variable b.y public",
        "2 variable b.d public",
        "2 class c public",
        "2 variable c.z public",
    ]


def test_a_c_variable_does_not_hide_a_struct_of_its_name() -> None:
    text = """
    struct ops { int x; };
    int go(struct ops *ops, enum kind kind) { return ops->x + kind; }
    """
    assert mentions(read("c", text, "a.c"), "references") == ["2 go: kind name", "2 go: ops name"]
