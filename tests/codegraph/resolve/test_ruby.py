"""A small Ruby project, with its edges listed by hand."""

from codegraph.resolve.outlines import edges

SHOP = {
    "lib/shop.rb": """
        require_relative "shop/item"
        require_relative "shop/counts"
        require "json"

        module Shop
          LIMIT = 3

          class Till < Base
            include Counts

            def initialize(item)
              super
              @item = item
              @box = Box.new
            end

            def sell(name, total)
              check(name)
              self.check(name)
              total = total + 1
              total
              counted
              @box.open_lid
              Item.build(LIMIT)
              found = Item.new(1)
              found.price
              send(name)
              public_send(:price)
              helper(2)
              sell(name, 0)
            end

            def self.build
              new(1)
            end

            private

            def check(name)
              JSON.parse(name)
            end

            def total; end
          end
        end
        """,
    "lib/shop/item.rb": """
        module Shop
          class Base
            def initialize(item); end
            def check(name); end
          end

          class Item < Base
            def self.build(n); new(n); end
            def price; Till; end
          end

          class Box
            def open_lid; end
          end
        end
        """,
    "lib/shop/counts.rb": "module Counts\n  def counted; check(1); end\nend\n",
    "lib/helper.rb": "def helper(n)\n  n.zero? ? n : helper(n - 1)\nend\n",
    "lib/other.rb": "class Other\n  def price; end\n  def parse(text); end\nend\n",
}


def test_ruby_files_modules_and_bases() -> None:
    assert edges(SHOP, "imports", "extends", "implements", "references") == [
        "extends lib/shop.rb:Shop.Till -> lib/shop/counts.rb:Counts exact",
        "extends lib/shop.rb:Shop.Till -> lib/shop/item.rb:Shop.Base exact",
        "extends lib/shop/item.rb:Shop.Item -> lib/shop/item.rb:Shop.Base exact",
        "imports lib/shop.rb -> lib/shop/counts.rb exact",
        "imports lib/shop.rb -> lib/shop/item.rb exact",
        "references lib/shop.rb:Shop.Till.sell -> lib/shop.rb:Shop.LIMIT exact",
        "references lib/shop/item.rb:Shop.Item.price -> lib/shop.rb:Shop.Till exact",
    ]


def test_ruby_calls_go_through_self_mixins_and_superclasses() -> None:
    assert edges(SHOP, "calls") == [
        "calls lib/helper.rb:helper -> lib/helper.rb:helper exact",
        "calls lib/shop.rb:Shop.Till.build -> lib/shop.rb:Shop.Till exact",
        "calls lib/shop.rb:Shop.Till.check -> lib/other.rb:Other.parse possible",
        "calls lib/shop.rb:Shop.Till.initialize -> lib/shop/item.rb:Shop.Base.initialize exact",
        "calls lib/shop.rb:Shop.Till.initialize -> lib/shop/item.rb:Shop.Box exact",
        "calls lib/shop.rb:Shop.Till.sell -> lib/helper.rb:helper exact",
        "calls lib/shop.rb:Shop.Till.sell -> lib/shop.rb:Shop.Till.check exact",
        "calls lib/shop.rb:Shop.Till.sell -> lib/shop.rb:Shop.Till.sell exact",
        "calls lib/shop.rb:Shop.Till.sell -> lib/shop/counts.rb:Counts.counted exact",
        "calls lib/shop.rb:Shop.Till.sell -> lib/shop/item.rb:Shop.Box.open_lid exact",
        "calls lib/shop.rb:Shop.Till.sell -> lib/shop/item.rb:Shop.Item exact",
        "calls lib/shop.rb:Shop.Till.sell -> lib/shop/item.rb:Shop.Item.build exact",
        "calls lib/shop.rb:Shop.Till.sell -> lib/shop/item.rb:Shop.Item.price exact",
        "calls lib/shop/counts.rb:Counts.counted -> lib/shop.rb:Shop.Till.check possible",
        "calls lib/shop/counts.rb:Counts.counted -> lib/shop/item.rb:Shop.Base.check possible",
        "calls lib/shop/item.rb:Shop.Item.build -> lib/shop/item.rb:Shop.Item exact",
    ]


def test_a_ruby_mixin_is_asked_before_the_superclass_and_the_last_one_first() -> None:
    project = {
        "a.rb": """
            class Base
              def one; end
              def two; end
              def three; end
            end
            module First
              def one; end
              def two; end
            end
            module Last
              def one; end
            end
            module Both
              def two; super; end
              def three; self.one; end
            end
            module More
              include First
              def four; two; end
            end
            """,
        "b.rb": """
            class Kid < Base
              include First
              include Last, Both
              def run
                one
                two
                three
                super
              end
            end
            """,
    }
    assert edges(project, "calls") == [
        "calls a.rb:Both.three -> a.rb:Base.one possible",
        "calls a.rb:Both.three -> a.rb:First.one possible",
        "calls a.rb:Both.three -> a.rb:Last.one possible",
        "calls a.rb:More.four -> a.rb:First.two exact",
        "calls b.rb:Kid.run -> a.rb:Both.three exact",
        "calls b.rb:Kid.run -> a.rb:Both.two exact",
        "calls b.rb:Kid.run -> a.rb:Last.one exact",
    ]


def test_ruby_mixins_in_a_circle_come_to_an_end() -> None:
    project = {"a.rb": "module A\n  include B\n  def run; self.go; end\nend\nmodule B\n  include A\nend\n"}
    assert edges(project) == ["extends a.rb:A -> a.rb:B exact", "extends a.rb:B -> a.rb:A exact"]


def test_a_ruby_module_opened_in_two_files_is_one_base() -> None:
    project = {
        "a.rb": "module Tools\n  def cut; end\nend\n",
        "b.rb": "module Tools\n  def glue; end\nend\n",
        "c.rb": "class Shop\n  include Tools\n  def run; cut; glue; end\nend\n",
    }
    assert edges(project) == [
        "calls c.rb:Shop.run -> a.rb:Tools.cut exact",
        "calls c.rb:Shop.run -> b.rb:Tools.glue exact",
        "extends c.rb:Shop -> a.rb:Tools exact",
    ]
