"""Ruby: constructs that are easily mistaken for others."""

from codegraph.languages.listing import mentions, read, symbols


def calls(text: str) -> list[str]:
    return mentions(read("ruby", text, "lib/shop.rb"), "calls")


def test_a_ruby_name_is_a_call_until_something_is_assigned_to_it() -> None:
    text = """
    class A
      def total; end
      def run(list)
        total
        total = 1
        total
        list.each { |total| total }
        total()
      end
      def list; total; end
    end
    """
    assert calls(text) == [
        "4 A.run: total name",
        "7 A.run: each unknown",
        "8 A.run: total name",
        "10 A.list: total name",
    ]


def test_dynamic_ruby_calls_name_no_method() -> None:
    text = """
    class A
      def run; end
      def go(name, it)
        send(:run)
        it.public_send(name)
        method(:run).call
        it.&(1)
      end
    end
    """
    assert calls(text) == [
        "4 A.go: send name",
        "5 A.go: public_send unknown",
        "6 A.go: call unknown",
        "6 A.go: method name",
        "7 A.go: & unknown",
    ]


def test_a_ruby_method_defined_twice_is_two_symbols() -> None:
    text = """
    class A
      def run; run; end
      def run(n); n; end
    end
    """
    outline = read("ruby", text, "a.rb")
    assert symbols(outline)[1:] == ["2 method A.run public", "3 method A.run public"]
    assert mentions(outline, "calls") == ["2 A.run: run name"]


def test_ruby_points_from_the_subclass_to_its_base() -> None:
    text = """
    class Base; def run; end; end
    class Kid < Base; def run; super; end; end
    """
    outline = read("ruby", text, "a.rb")
    assert mentions(outline, "extends") == ["2 Kid: Base name"]
    assert mentions(outline, "calls") == ["2 Kid.run: run super"]


def test_ruby_new_in_a_method_of_the_class_makes_one_of_it() -> None:
    text = """
    class A
      def self.one; new; end
      class << self
        def two; self.new(1); end
      end
      def three; new; end
    end
    """
    assert calls(text) == ["2 A.one: A name", "4 A.two: A name", "6 A.three: new name"]


def test_what_a_ruby_rescue_catches_has_a_type_if_it_is_one_class() -> None:
    text = """
    def run
      one
    rescue A::Lost => e
      e.report
    rescue B, C => f
      f.report
    rescue => g
      g.report
    end
    """
    assert calls(text) == [
        "2 run: one name",
        "4 run: A.Lost.report type",
        "6 run: report unknown",
        "8 run: report unknown",
    ]
