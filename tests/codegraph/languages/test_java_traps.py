"""Java: constructs that are easily mistaken for others."""

from codegraph.languages.listing import mentions, read, symbols


def calls(text: str) -> list[str]:
    return mentions(read("java", text, "src/main/java/com/acme/shop/Shop.java"), "calls")


def test_java_overloads_are_symbols_of_one_name() -> None:
    text = """
    class A {
      public int f(int n) { return n < 2 ? 1 : f(n - 1); }
      private int f(String s) { return f(s, 1); }
      int f(String s, int n) { return n; }
    }
    """
    outline = read("java", text, "A.java")
    assert symbols(outline)[1:] == ["2 method A.f public", "3 method A.f private", "4 method A.f protected"]
    assert mentions(outline, "calls") == ["2 A.f: f name", "3 A.f: f name"]


def test_a_java_local_shadows_a_field_but_no_method() -> None:
    text = """
    class A {
      Pool pool;
      void f(Other pool) { pool.go(); this.pool.go(); pool(); }
      void g() { pool.go(); { Other pool = null; pool.go(); } }
      void pool() { }
    }
    """
    assert calls(text) == [
        "3 A.f: Other.go type",
        "3 A.f: Pool.go type",
        "3 A.f: pool name",
        "4 A.g: Other.go type",
        "4 A.g: Pool.go type",
    ]


def test_dynamic_java_calls_name_no_method() -> None:
    text = """
    class A {
      void run() { }
      void f(Object it, String name) throws Exception {
        Class.forName(name).getMethod("run").invoke(it);
        it.getClass();
      }
    }
    """
    assert calls(text) == [
        "4 A.f: Class.forName type",
        "4 A.f: getMethod unknown",
        "4 A.f: invoke unknown",
        "5 A.f: Object.getClass type",
    ]


def test_java_points_from_the_subclass_to_its_base() -> None:
    text = """
    class Base { Base(int n) { } Base() { this(1); } }
    class Kid extends Base { Kid() { super(2); } }
    """
    outline = read("java", text, "Kid.java")
    assert mentions(outline, "extends") == ["2 Kid: Base name"]
    assert mentions(outline, "calls") == ["1 Base.Base: Base name", "2 Kid.Kid: Base name"]


def test_java_names_of_the_same_package_need_no_import() -> None:
    text = """
    package a;
    class A {
      @Inject Colour best = Colour.RED;
      int f() { return Limits.MAX + Colour.BLUE.size() + inherited; }
    }
    """
    assert mentions(read("java", text, "a/A.java"), "references") == [
        "3 A.best: Colour name",
        "3 A.best: Colour.RED type",
        "3 A.best: Inject name",
        "4 A.f: Colour.BLUE type",
        "4 A.f: Limits.MAX type",
    ]
