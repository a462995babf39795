"""C#: constructs that are easily mistaken for others."""

from codegraph.languages.listing import mentions, read, symbols


def calls(text: str) -> list[str]:
    return mentions(read("csharp", text, "src/Shop.cs"), "calls")


def test_csharp_overloads_are_symbols_of_one_name() -> None:
    text = """
    class A {
      public int F(int n) => n < 2 ? 1 : F(n - 1);
      int F(string s) { return F(s, 1); }
      protected int F(string s, int n) { return n; }
    }
    """
    outline = read("csharp", text, "A.cs")
    assert symbols(outline)[1:] == ["2 method A.F public", "3 method A.F private", "4 method A.F protected"]
    assert mentions(outline, "calls") == ["2 A.F: F name", "3 A.F: F name"]


def test_a_csharp_parameter_shadows_a_field_and_a_method() -> None:
    text = """
    class A {
      Pool pool;
      void F(Other pool, Action Run) { pool.Go(); this.pool.Go(); Run(); this.Run(); }
      void Run() { }
    }
    """
    assert calls(text) == ["3 A.F: Other.Go type", "3 A.F: Pool.Go type", "3 A.F: Run self"]


def test_dynamic_csharp_calls_name_no_method() -> None:
    text = """
    class A {
      void Run() { }
      void F(dynamic it, string name) { it.Run(); typeof(A).GetMethod("Run").Invoke(it); table[name](); }
    }
    """
    assert calls(text) == ["3 A.F: GetMethod unknown", "3 A.F: Invoke unknown", "3 A.F: Run unknown"]


def test_a_csharp_constructor_calls_that_of_its_base_or_another_of_its_own() -> None:
    text = """
    class Base { public Base(int n) { } public Base() : this(1) { } }
    class Kid : Base { Kid() : base(2) { } }
    """
    outline = read("csharp", text, "Kid.cs")
    assert mentions(outline, "extends") == ["2 Kid: Base name"]
    assert mentions(outline, "calls") == ["1 Base.Base: Base name", "2 Kid.Kid: Base name"]
