"""C++: expected symbols, imports and mentions, listed by hand."""

from codegraph.languages.listing import headers, imports, mentions, read, symbols
from quintet.model.symbols import Outline

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


def outline() -> Outline:
    return read("cpp", SOURCE, "src/shop.cpp")


def test_cpp_definitions_have_their_kind_owner_and_visibility() -> None:
    assert symbols(outline()) == [
        "8 module shop public",
        "8 module shop.detail public",
        "8 module shop.detail.deep public",
        "10 variable shop.detail.deep.limit private",
        "11 class shop.detail.deep.Colour public",
        "11 variable shop.detail.deep.Colour.Red public",
        "11 variable shop.detail.deep.Colour.Green public",
        "12 class shop.detail.deep.Items public",
        "15 class shop.detail.deep.Shop public",
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
        "69 method shop.detail.deep.Shop.restock private",
        "74 function helper private",
        "76 method Other.Nested.run public in module",
        "78 function ShopTest_Sells public test",
    ]


def test_cpp_definitions_have_their_lines_signature_and_comment() -> None:
    assert headers(outline()) == [
        "8-72 namespace shop",
        "8-72 namespace detail::deep",
        "8-72 namespace detail::deep",
        "10-10 const int limit = 3",
        "11-11 enum class Colour",
        "11-11 Red",
        "11-11 Green",
        "12-12 using Items = std::vector<Item>",
        "15-67 template <typename T> class Shop : public Store<T>, private base::Open | Sells items.",
        "18-18 explicit Shop(Item best)",
        "19-19 virtual ~Shop() = default",
        "22-50 void sell(int count) const override | Sells one.",
        "52-52 void sell(Item one, Item two)",
        "53-53 static Shop make()",
        "54-54 bool operator==(const Shop& other) const",
        "55-55 explicit operator bool() const",
        "58-58 int count_",
        "61-61 void restock()",
        "62-62 Item best_",
        "63-63 std::shared_ptr<Item> held_",
        "64-64 std::vector<Item> all_",
        "65-65 void (*callback_)(int)",
        "66-66 struct Inner",
        "66-66 Item kept",
        "69-70 template <typename T> void Shop<T>::restock()",
        "74-74 static int helper(int n)",
        "76-76 void Other::Nested::run(Clock& clock)",
        "78-78 TEST(ShopTest, Sells)",
    ]


def test_a_cpp_file_has_its_lines_comment_and_package() -> None:
    module = outline().symbols[0]
    assert (module.first_line, module.last_line, module.docstring) == (1, 78, "")
    assert outline().package == ""


def test_cpp_imports_say_what_they_bring_in() -> None:
    assert imports(outline()) == [
        "module: <vector> * as - exported",
        "module: shop/item.hpp * as - exported",
        "module: acme * as -",
        "module: acme::tools Clock as Clock",
        "module: std::filesystem - as fs",
    ]


def test_cpp_calls_say_what_their_receiver_is() -> None:
    assert mentions(outline(), "calls") == [
        "18 shop.detail.deep.Shop.Shop: Store name",
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
        "48 shop.detail.deep.Shop.sell: Item name",
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


def test_cpp_bases_are_extended_or_implemented() -> None:
    assert mentions(outline(), "extends") == [
        "16 shop.detail.deep.Shop: Store name",
        "16 shop.detail.deep.Shop: base.Open name",
    ]
    assert mentions(outline(), "implements") == []


def test_cpp_refers_to_types_constants_and_fields() -> None:
    assert mentions(outline(), "references") == [
        "12 shop.detail.deep.Items: Item name",
        "18 shop.detail.deep.Shop.Shop: Item name",
        "18 shop.detail.deep.Shop.Shop: best_ name",
        "25 shop.detail.deep.Shop.sell: best_ name",
        "27 shop.detail.deep.Shop.sell: held_ name",
        "29 shop.detail.deep.Shop.sell: limit name",
        "32 shop.detail.deep.Shop.sell: Item name",
        "40 shop.detail.deep.Shop.sell: all_ name",
        "42 shop.detail.deep.Shop.sell: pair name",
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
