"""C++: expected symbols, imports and mentions, listed by hand."""

from ingest.extract.listing import imports, mentions, read, symbols

SOURCE = """
#include <vector>
#include "shop/item.hpp"

using namespace acme;
using acme::tools::Clock;
namespace fs = std::filesystem;

namespace shop { namespace detail::deep {

const int limit = 3;
enum class Colour { Red, Green };
using Items = std::vector<Item>;

/// Sells items.
template <typename T>
class Shop : public Store<T>, private base::Open {
 public:
  explicit Shop(Item best) : Store<T>(best), best_(best) {}
  virtual ~Shop() = default;

  // Sells one.
  void sell(int count) const override {
    restock();
    this->restock();
    best_.price();
    this->best_.price();
    held_->price();
    Store::sell(count);
    tools::twice(limit);
    auto fresh = Item(1);
    fresh.price();
    Item local;
    local.price();
    Item* made = new Item(2);
    made->price();
    auto owned = std::make_unique<Item>(3);
    owned->price();
    auto each = [&](Item& one, auto any) { one.price(); any.price(); };
    each(local, made);
    for (const auto& item : all_) item.price();
    for (Item& item : all_) item.price();
    auto [left, right] = pair;
    left();
    Colour c = Colour::Red;
    T generic;
    generic.price();
    create<Item>()->price();
    Item{4}.price();
    (*callback_)(1);
  }

  void sell(Item one, Item two);
  static Shop make();
  bool operator==(const Shop& other) const;
  explicit operator bool() const { return true; }

 protected:
  int count_;

 private:
  void restock();
  Item best_;
  std::shared_ptr<Item> held_;
  std::vector<Item> all_;
  void (*callback_)(int);
  struct Inner { Item kept; };
};

template <typename T>
void Shop<T>::restock() { best_.price(); helper(count_); }

}}  // namespace

static int helper(int n) { return n == 0 ? 0 : helper(n - 1); }

void Other::Nested::run(Clock& clock) { clock.tick(); this->stop(); go(); }

TEST(ShopTest, Sells) { EXPECT_EQ(helper(1), 2); }
"""


def test_cpp_symbols_are_listed_with_their_owner_and_visibility() -> None:
    outline = read("cpp", SOURCE, "src/shop.cpp")
    assert symbols(outline) == [
        "8 module shop public",
        "8 module shop.detail.deep public in shop",
        "10 variable shop.detail.deep.limit public",
        "11 class shop.detail.deep.Colour public",
        "11 variable shop.detail.deep.Colour.Red public",
        "11 variable shop.detail.deep.Colour.Green public",
        "12 class shop.detail.deep.Items public",
        "16 class shop.detail.deep.Shop public",
        "18 method shop.detail.deep.Shop.Shop public",
        "19 method shop.detail.deep.Shop.~Shop public",
        "22 method shop.detail.deep.Shop.sell public",
        "52 method shop.detail.deep.Shop.sell public",
        "53 method shop.detail.deep.Shop.make public",
        "54 method shop.detail.deep.Shop.operator== public",
        "55 method shop.detail.deep.Shop.operator bool public",
        "58 variable shop.detail.deep.Shop.count_ protected",
        "61 method shop.detail.deep.Shop.restock private",
        "62 variable shop.detail.deep.Shop.best_ private",
        "63 variable shop.detail.deep.Shop.held_ private",
        "64 variable shop.detail.deep.Shop.all_ private",
        "65 variable shop.detail.deep.Shop.callback_ private",
        "66 class shop.detail.deep.Shop.Inner private",
        "66 variable shop.detail.deep.Shop.Inner.kept public",
        "70 method shop.detail.deep.Shop.restock public",
        "74 function helper private",
        "76 method Other.Nested.run public in module",
        "78 function ShopTest_Sells public test",
    ]


def test_cpp_imports_say_what_they_bring_in() -> None:
    outline = read("cpp", SOURCE, "src/shop.cpp")
    assert imports(outline) == [
        "module: <vector> * as - exported",
        "module: shop/item.hpp * as - exported",
        "module: acme * as -",
        "module: acme::tools Clock as Clock",
        "module: std::filesystem - as fs",
    ]


def test_cpp_calls_say_what_their_receiver_is() -> None:
    outline = read("cpp", SOURCE, "src/shop.cpp")
    assert mentions(outline, "calls") == [
        "23 shop.detail.deep.Shop.sell: restock name",
        "24 shop.detail.deep.Shop.sell: restock self",
        "25 shop.detail.deep.Shop.sell: Item.price type",
        "26 shop.detail.deep.Shop.sell: Item.price type",
        "27 shop.detail.deep.Shop.sell: Item.price type",
        "28 shop.detail.deep.Shop.sell: Store.sell type",
        "29 shop.detail.deep.Shop.sell: tools.twice name",
        "30 shop.detail.deep.Shop.sell: Item name",
        "31 shop.detail.deep.Shop.sell: Item.price type",
        "33 shop.detail.deep.Shop.sell: Item.price type",
        "34 shop.detail.deep.Shop.sell: Item name",
        "35 shop.detail.deep.Shop.sell: Item.price type",
        "37 shop.detail.deep.Shop.sell: Item.price type",
        "38 shop.detail.deep.Shop.sell: Item.price type",
        "38 shop.detail.deep.Shop.sell: price unknown",
        "40 shop.detail.deep.Shop.sell: price unknown",
        "41 shop.detail.deep.Shop.sell: Item.price type",
        "46 shop.detail.deep.Shop.sell: price unknown",
        "47 shop.detail.deep.Shop.sell: create name",
        "47 shop.detail.deep.Shop.sell: price unknown",
        "48 shop.detail.deep.Shop.sell: Item.price type",
        "70 shop.detail.deep.Shop.restock: Item.price type",
        "70 shop.detail.deep.Shop.restock: helper name",
        "74 helper: helper name",
        "76 Other.Nested.run: Clock.tick type",
        "76 Other.Nested.run: Other.Nested.stop type",
        "76 Other.Nested.run: go name",
        "78 ShopTest_Sells: EXPECT_EQ name",
        "78 ShopTest_Sells: helper name",
    ]


def test_cpp_types_and_constants_are_mentioned() -> None:
    outline = read("cpp", SOURCE, "src/shop.cpp")
    assert mentions(outline, "extends") == [
        "16 shop.detail.deep.Shop: Store name",
        "16 shop.detail.deep.Shop: base.Open name",
    ]
    assert mentions(outline, "implements") == []
    assert mentions(outline, "references") == [
        "12 shop.detail.deep.Items: Item name",
        "18 shop.detail.deep.Shop.Shop: Item name",
        "25 shop.detail.deep.Shop.sell: best_ name",
        "27 shop.detail.deep.Shop.sell: held_ name",
        "29 shop.detail.deep.Shop.sell: limit name",
        "32 shop.detail.deep.Shop.sell: Item name",
        "40 shop.detail.deep.Shop.sell: all_ name",
        "44 shop.detail.deep.Shop.sell: Colour name",
        "44 shop.detail.deep.Shop.sell: Colour.Red type",
        "49 shop.detail.deep.Shop.sell: callback_ name",
        "52 shop.detail.deep.Shop.sell: Item name",
        "53 shop.detail.deep.Shop.make: Shop name",
        "54 shop.detail.deep.Shop.operator==: Shop name",
        "62 shop.detail.deep.Shop.best_: Item name",
        "63 shop.detail.deep.Shop.held_: Item name",
        "64 shop.detail.deep.Shop.all_: Item name",
        "66 shop.detail.deep.Shop.Inner.kept: Item name",
        "70 shop.detail.deep.Shop.restock: best_ name",
        "70 shop.detail.deep.Shop.restock: count_ name",
        "76 Other.Nested.run: Clock name",
    ]


def test_cpp_symbols_carry_the_comment_above_their_template() -> None:
    outline = read("cpp", SOURCE, "src/shop.cpp")
    shop = next(symbol for symbol in outline.symbols if symbol.name == "Shop" and symbol.kind == "class")
    assert (shop.docstring, shop.signature) == (
        "Sells items.",
        "class Shop : public Store<T>, private base::Open",
    )
    assert (shop.first_line, shop.last_line) == (16, 67)


def test_a_cpp_constructor_that_is_only_declared_is_a_method() -> None:
    outline = read(
        "cpp", "class A {\n public:\n  A();\n  A(int n);\n  A copy() { return A(1); }\n};\n", "a.hpp"
    )
    assert symbols(outline) == [
        "1 class A public",
        "3 method A.A public",
        "4 method A.A public",
        "5 method A.copy public",
    ]
    assert mentions(outline, "calls") == ["5 A.copy: A name"]


def test_broken_cpp_gives_what_is_sound() -> None:
    outline = read("cpp", "int good() { return helper(); }\nclass Bad : { void x( {{ = ;\n", "a.cpp")
    assert "1 function good public" in symbols(outline)
    assert "1 good: helper name" in mentions(outline, "calls")
