"""Ruby: expected symbols, imports and mentions, listed by hand."""

from codegraph.languages.listing import headers, imports, mentions, read, symbols
from quintet.model.symbols import Outline

SOURCE = """
require "json"
require_relative "stock/item"
require name

LIMIT = 10
Price = Struct.new(:amount)

# The shop and its parts.
module Acme
  module Tools::Deep
    # Sells items.
    class Shop < Base::Store
      include Comparable, Logs::Quiet
      extend Finders
      attr_reader :name, :best
      NAMES = %w[a b].freeze

      def initialize(best)
        super
        @best = best
        @box = Box.new(1)
      end

      # Sells one.
      def sell(item, count = LIMIT, *rest, gift: nil, &block)
        restock
        check(1)
        self.check(2)
        item.price
        @best.price
        @box.open
        fresh = Item.new(3)
        fresh.price
        Item.make
        Acme::Tools.twice(LIMIT)
        block.call
        items.each { |one, (two, three)| one.price; two }
        items.map(&:price)
        send(:restock)
        super(item)
        self.class.make
        sell(item, count - 1)
        item, other = other, item
        count
      rescue SoldOut => error
        error.report
      end

      def self.make; new; end

      class << self
        private

        def hidden; end
      end

      def shown; end

      private

      def restock; end
      def check(n) = n

      protected

      def shared; end

      public

      def open; end
      def late; end
      private :late
    end
  end
end

def helper(n)
  n.zero? ? n : helper(n - 1)
end

class ShopTest < Minitest::Test
  def test_sell; Acme::Shop.new.sell(1); end
end
"""


def outline() -> Outline:
    return read("ruby", SOURCE, "lib/shop.rb")


def test_ruby_definitions_have_their_kind_owner_and_visibility() -> None:
    assert symbols(outline()) == [
        "5 variable LIMIT public",
        "6 class Price public",
        "9 module Acme public",
        "10 module Acme.Tools.Deep public in Acme",
        "12 class Acme.Tools.Deep.Shop public",
        "15 variable Acme.Tools.Deep.Shop.name public",
        "15 variable Acme.Tools.Deep.Shop.best public",
        "16 variable Acme.Tools.Deep.Shop.NAMES public",
        "18 method Acme.Tools.Deep.Shop.initialize private",
        "25 method Acme.Tools.Deep.Shop.sell public",
        "49 method Acme.Tools.Deep.Shop.make public",
        "54 method Acme.Tools.Deep.Shop.hidden private",
        "57 method Acme.Tools.Deep.Shop.shown public",
        "61 method Acme.Tools.Deep.Shop.restock private",
        "62 method Acme.Tools.Deep.Shop.check private",
        "66 method Acme.Tools.Deep.Shop.shared protected",
        "70 method Acme.Tools.Deep.Shop.open public",
        "71 method Acme.Tools.Deep.Shop.late private",
        "77 function helper public",
        "81 class ShopTest public test",
        "82 method ShopTest.test_sell public test",
    ]


def test_ruby_definitions_have_their_lines_signature_and_comment() -> None:
    assert headers(outline()) == [
        "5-5 LIMIT = 10",
        "6-6 Price = Struct.new(:amount)",
        "9-75 module Acme | The shop and its parts.",
        "10-74 module Tools::Deep",
        "12-73 class Shop < Base::Store | Sells items.",
        "15-15 attr_reader :name, :best",
        "15-15 attr_reader :name, :best",
        "16-16 NAMES = %w[a b].freeze",
        "18-22 def initialize(best)",
        "25-47 def sell(item, count = LIMIT, *rest, gift: nil, &block) | Sells one.",
        "49-49 def self.make",
        "54-54 def hidden",
        "57-57 def shown",
        "61-61 def restock",
        "62-62 def check(n)",
        "66-66 def shared",
        "70-70 def open",
        "71-71 def late",
        "77-79 def helper(n)",
        "81-83 class ShopTest < Minitest::Test",
        "82-82 def test_sell",
    ]


def test_a_ruby_file_has_its_lines_comment_and_package() -> None:
    module = outline().symbols[0]
    assert (module.first_line, module.last_line, module.docstring) == (1, 83, "")
    assert outline().package == ""


def test_ruby_imports_say_what_they_bring_in() -> None:
    assert imports(outline()) == [
        "module: json * as - exported",
        "module: ./stock/item * as - exported",
    ]


def test_ruby_calls_say_what_their_receiver_is() -> None:
    assert mentions(outline(), "calls") == [
        "3 module: name name",
        "3 module: require name",
        "6 Price: Struct name",
        "16 Acme.Tools.Deep.Shop.NAMES: freeze unknown",
        "19 Acme.Tools.Deep.Shop.initialize: initialize super",
        "21 Acme.Tools.Deep.Shop.initialize: Box name",
        "26 Acme.Tools.Deep.Shop.sell: restock name",
        "27 Acme.Tools.Deep.Shop.sell: check name",
        "28 Acme.Tools.Deep.Shop.sell: check self",
        "29 Acme.Tools.Deep.Shop.sell: price unknown",
        "30 Acme.Tools.Deep.Shop.sell: price unknown",
        "31 Acme.Tools.Deep.Shop.sell: Box.open type",
        "32 Acme.Tools.Deep.Shop.sell: Item name",
        "33 Acme.Tools.Deep.Shop.sell: Item.price type",
        "34 Acme.Tools.Deep.Shop.sell: Item.make type",
        "35 Acme.Tools.Deep.Shop.sell: Acme.Tools.twice type",
        "36 Acme.Tools.Deep.Shop.sell: call unknown",
        "37 Acme.Tools.Deep.Shop.sell: each unknown",
        "37 Acme.Tools.Deep.Shop.sell: items name",
        "37 Acme.Tools.Deep.Shop.sell: price unknown",
        "38 Acme.Tools.Deep.Shop.sell: items name",
        "38 Acme.Tools.Deep.Shop.sell: map unknown",
        "39 Acme.Tools.Deep.Shop.sell: send name",
        "40 Acme.Tools.Deep.Shop.sell: sell super",
        "41 Acme.Tools.Deep.Shop.sell: make self",
        "42 Acme.Tools.Deep.Shop.sell: sell name",
        "46 Acme.Tools.Deep.Shop.sell: SoldOut.report type",
        "49 Acme.Tools.Deep.Shop.make: Shop name",
        "78 helper: helper name",
        "78 helper: zero? unknown",
        "82 ShopTest.test_sell: Acme.Shop name",
        "82 ShopTest.test_sell: Acme.Shop.sell type",
    ]


def test_ruby_bases_are_extended_or_implemented() -> None:
    assert mentions(outline(), "extends") == [
        "12 Acme.Tools.Deep.Shop: Base.Store name",
        "13 Acme.Tools.Deep.Shop: Comparable name",
        "13 Acme.Tools.Deep.Shop: Logs.Quiet name",
        "14 Acme.Tools.Deep.Shop: Finders name",
        "81 ShopTest: Minitest.Test name",
    ]
    assert mentions(outline(), "implements") == []


def test_ruby_refers_to_types_constants_and_fields() -> None:
    assert mentions(outline(), "references") == [
        "25 Acme.Tools.Deep.Shop.sell: LIMIT name",
        "45 Acme.Tools.Deep.Shop.sell: SoldOut name",
    ]


def test_ruby_specs_are_tests_and_a_definition_can_be_private_by_itself() -> None:
    text = "class A\n  private def one; end\n  def two; end\nend\n"
    outline = read("ruby", text, "spec/a_spec.rb")
    assert symbols(outline) == ["1 class A public", "2 method A.one private", "3 method A.two public"]
    assert outline.symbols[0].is_test


def test_broken_ruby_gives_what_is_sound() -> None:
    outline = read("ruby", "def good; helper(1); end\nclass Bad < \ndef x( end\n", "a.rb")
    assert "1 function good public" in symbols(outline)
    assert "1 good: helper name" in mentions(outline, "calls")
