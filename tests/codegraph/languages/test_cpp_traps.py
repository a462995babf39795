"""C++: constructs that are easily mistaken for others."""

from codegraph.languages.listing import after, imports, mentions, read, symbols


def test_cpp_overloads_and_hidden_fields_are_told_apart() -> None:
    text = """
    struct Shape { void draw(); void draw(int n) { draw(); } };
    struct Box : Shape {
      Shape inner;
      void draw() { Shape::draw(); inner.draw(); }
      void show(Box& inner) { inner.draw(); this->inner.draw(); }
    };
    void each(void (*draw)(), Shape* any) { draw(); any->draw(); }
    """
    outline = read("cpp", text, "a.cpp")
    assert symbols(outline)[:3] == [
        "1 class Shape public",
        "1 method Shape.draw public",
        "1 method Shape.draw public",
    ]
    assert mentions(outline, "calls") == [
        "1 Shape.draw: draw name",
        "4 Box.draw: Shape.draw type",
        "4 Box.draw: Shape.draw type",
        "5 Box.show: Box.draw type",
        "5 Box.show: Shape.draw type",
        "7 each: Shape.draw type",
    ]


def test_dynamic_cpp_calls_name_no_function() -> None:
    text = """
    void run();
    struct A { void (A::*member)(); void go(); };
    void A::go() { (this->*member)(); table[0](); std::invoke(run); pick()(); }
    """
    outline = read("cpp", text, "a.cpp")
    assert mentions(outline, "calls") == ["3 A.go: pick name"]
    assert mentions(outline, "references") == [
        "3 A.go: member name",
        "3 A.go: run name",
        "3 A.go: table name",
    ]


def test_a_cpp_header_passes_on_what_it_uses() -> None:
    text = "using base::Shape;\nusing namespace tools;\n"
    assert imports(read("cpp", text, "a.hpp")) == [
        "module: base Shape as Shape exported",
        "module: tools * as - exported",
    ]
    assert imports(read("cpp", text, "a.cpp")) == ["module: base Shape as Shape", "module: tools * as -"]


def test_cpp_constants_of_a_file_are_its_own() -> None:
    text = """
    const int a = 1;
    constexpr int b = 2;
    const char *c = 0;
    extern const int d = 4;
    inline constexpr int e = 5;
    int f;
    """
    assert symbols(read("cpp", text, "a.cpp")) == [
        "1 variable a private",
        "2 variable b private",
        "3 variable c public",
        "4 variable d public",
        "5 variable e public",
        "6 variable f public",
    ]
    assert {symbol.visibility for symbol in read("cpp", text, "a.hpp").symbols} == {"public"}


def test_a_cpp_constructor_calls_that_of_its_base_or_another_of_its_own() -> None:
    text = """
    class A : public base::B {
      A(int n) : base::B(n), size_{n} {}
      A() : A(1) {}
      int size_;
    };
    """
    outline = read("cpp", text, "a.cpp")
    assert mentions(outline, "calls") == ["2 A.A: base.B name", "3 A.A: A name"]
    assert mentions(outline, "references") == ["2 A.A: size_ name"]


def test_a_cpp_template_hides_the_names_of_its_parameters_alone() -> None:
    text = """
    template <typename T, Colour N, int M = 3>
    struct A { T held; Colour best; int size() { return N + M + rest; } };
    """
    assert after(1, mentions(read("cpp", text, "a.hpp"), "references")) == [
        "2 A.best: Colour name",
        "2 A.size: rest name",
    ]
