"""Go: constructs that are easily mistaken for others."""

from codegraph.languages.listing import mentions, read, symbols


def calls(text: str) -> list[str]:
    return mentions(read("go", text, "server/server.go"), "calls")


def test_go_recursion_is_a_call_and_nothing_calls_backwards() -> None:
    text = """
    package a
    func even(n int) bool { return n == 0 || odd(n-1) }
    func odd(n int) bool { return n != 0 && even(n-1) }
    func start() { even(3) }
    """
    assert calls(text) == ["2 even: odd name", "3 odd: even name", "4 start: even name"]


def test_a_go_name_is_shadowed_by_a_parameter_or_local() -> None:
    text = """
    package a
    import "fmt"
    func f(fmt Printer, run func()) {
      fmt.Print()
      run()
      if run := other; run != nil { run() }
      for fmt := range list { fmt.Print() }
    }
    func run() { fmt.Print() }
    """
    outline = read("go", text, "a/a.go")
    assert mentions(outline, "calls") == [
        "4 f: Printer.Print type",
        "7 f: Print unknown",
        "9 run: fmt.Print name",
    ]
    assert mentions(outline, "references") == ["3 f: Printer name", "6 f: other name", "7 f: list name"]


def test_go_methods_of_one_name_belong_to_their_types() -> None:
    text = """
    package a
    type A struct{}
    type B struct{ a A }
    func (a A) Go() {}
    func (b B) Go() { b.a.Go(); b.Go() }
    """
    assert calls(text) == ["5 B.Go: A.Go type", "5 B.Go: Go self"]


def test_dynamic_go_calls_name_no_function() -> None:
    text = """
    package a
    func f(table map[string]func(), v Value) {
      table["run"]()
      pick()()
      one := pick()
      one()
      v.MethodByName("run").Call(nil)
    }
    func run() {}
    """
    assert calls(text) == [
        "4 f: pick name",
        "5 f: pick name",
        "7 f: Call unknown",
        "7 f: Value.MethodByName type",
    ]


def test_what_a_go_package_passes_on_refers_to_where_it_is_from() -> None:
    text = """
    package a
    import "example.com/kit/store"
    type Store = store.Store
    var Open = store.Open
    """
    outline = read("go", text, "a/a.go")
    assert mentions(outline, "references") == ["3 Store: store.Store name", "4 Open: store.Open name"]
    assert mentions(outline, "calls") == []


def test_a_go_switch_knows_the_type_only_in_a_case_of_one() -> None:
    text = """
    package a
    func f(x any) {
      switch one := x.(type) {
      case *A: one.Run()
      case B, C: one.Run()
      default: one.Run()
      }
    }
    """
    assert calls(text) == ["4 f: A.Run type", "5 f: Run unknown", "6 f: Run unknown"]


def test_an_embedded_go_type_is_a_base_and_not_also_a_field() -> None:
    outline = read("go", "package a\ntype A struct{ B; c int }\n", "a/a.go")
    assert mentions(outline, "extends") == ["2 A: B name"]
    assert symbols(outline) == ["2 class A public", "2 variable A.c private"]
