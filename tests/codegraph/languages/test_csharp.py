"""C#: expected symbols, imports and mentions, listed by hand."""

from codegraph.languages.listing import after, headers, imports, mentions, read, symbols, up_to
from quintet.model.symbols import Outline

SOURCE = """
using System;
using static Acme.Tools.Numbers;
using Goods = Acme.Stock.Item;
global using Acme.Shared;

namespace Acme.Shop
{
    /// <summary>Sells goods.</summary>
    [Serializable]
    public class Shop<T> : Store<T>, IOpen where T : Priced
    {
        private const int Limit = 10;
        protected Item best = new Item(Limit), worst;
        public Item Newest { get; set; } = new Item(1);
        public event Action Sold;
        public int Count => CountAll();

        public Shop(Item best) : base(best)
        {
            this.best = best;
            this.Restock();
        }

        // Sells one.
        public async Task<Item> Sell(string name, Func<int> restock, Item? gift)
        {
            restock();
            best.Price();
            this.worst.Price();
            Newest.Price();
            var fresh = new Item(Round(1));
            fresh.Price();
            Goods other = Find(name);
            other.Price();
            gift?.Wrap();
            await base.Sell(name);
            Numbers.Twice(Limit);
            Acme.Tools.Texts.Trim(name);
            lower.Close();
            all.ForEach(each => each.Price());
            all.Select((Item one, int two) => one.Price());
            foreach (var item in all) { item.Price(); }
            foreach (Item item in all) { item.Price(); }
            if (other is Gift present) { present.Wrap(); }
            if (Try(out Item found)) { found.Price(); }
            int Local(int n) => n == 0 ? n : Local(n - 1);
            Local(2);
            Create<Item>().Price();
            (other as Gift).Wrap();
            T generic = default;
            generic.Price();
            dynamic anything = other;
            anything.Price();
            return Colour.Red == null ? fresh : new Item { Name = nameof(Sell) };
        }

        int Sell(int times) { return times == 0 ? Limit : Sell(times - 1); }

        private void Restock() { Sold?.Invoke(); }

        public static Shop<T> operator +(Shop<T> a, Shop<T> b) => a.Merge(b);

        interface IOpen : IDisposable
        {
            void Welcome();
            void Greet() { Welcome(); }
        }

        public enum State { Open = 1, Closed }
    }

    public record Price(int Amount, Item Item);

    internal struct Point : IShape { public int X; public delegate void Moved(Point to); }
}

namespace Acme.Other { class Late { void Run() { new Acme.Shop.Late(); } } }
"""


def outline() -> Outline:
    return read("csharp", SOURCE, "src/Shop.cs")


def test_csharp_definitions_have_their_kind_owner_and_visibility() -> None:
    assert symbols(outline()) == [
        "9 class Shop public",
        "12 variable Shop.Limit private",
        "13 variable Shop.best protected",
        "13 variable Shop.worst protected",
        "14 variable Shop.Newest public",
        "15 variable Shop.Sold public",
        "16 variable Shop.Count public",
        "18 method Shop.Shop public",
        "25 method Shop.Sell public",
        "46 function Shop.Sell.Local public",
        "57 method Shop.Sell private",
        "59 method Shop.Restock private",
        "61 method Shop.operator + public",
        "63 interface Shop.IOpen private",
        "65 method Shop.IOpen.Welcome public",
        "66 method Shop.IOpen.Greet public",
        "69 class Shop.State public",
        "69 variable Shop.State.Open public",
        "69 variable Shop.State.Closed public",
        "72 class Price public",
        "72 variable Price.Amount public",
        "72 variable Price.Item public",
        "74 class Point protected",
        "74 variable Point.X public",
        "74 class Point.Moved public",
        "77 module Acme.Other public in module",
        "77 class Acme.Other.Late protected",
        "77 method Acme.Other.Late.Run private",
    ]


def test_csharp_definitions_have_their_lines_signature_and_comment() -> None:
    assert headers(outline()) == [
        "9-70 [Serializable] public class Shop<T> : Store<T>, IOpen where T : Priced | Sells goods.",
        "12-12 private const int Limit = 10",
        "13-13 protected Item best = new Item(Limit), worst",
        "13-13 protected Item best = new Item(Limit), worst",
        "14-14 public Item Newest { get; set; } = new Item(1)",
        "15-15 public event Action Sold",
        "16-16 public int Count => CountAll()",
        "18-22 public Shop(Item best) : base(best)",
        "25-55 public async Task<Item> Sell(string name, Func<int> restock, Item? gift) | Sells one.",
        "46-46 int Local(int n)",
        "57-57 int Sell(int times)",
        "59-59 private void Restock()",
        "61-61 public static Shop<T> operator +(Shop<T> a, Shop<T> b)",
        "63-67 interface IOpen : IDisposable",
        "65-65 void Welcome()",
        "66-66 void Greet()",
        "69-69 public enum State",
        "69-69 Open = 1",
        "69-69 Closed",
        "72-72 public record Price(int Amount, Item Item)",
        "72-72 int Amount",
        "72-72 Item Item",
        "74-74 internal struct Point : IShape",
        "74-74 public int X",
        "74-74 public delegate void Moved(Point to)",
        "77-77 namespace Acme.Other",
        "77-77 class Late",
        "77-77 void Run()",
    ]


def test_a_csharp_file_has_its_lines_comment_and_package() -> None:
    module = outline().symbols[0]
    assert (module.first_line, module.last_line, module.docstring) == (1, 77, "")
    assert outline().package == "Acme.Shop"


def test_csharp_imports_say_what_they_bring_in() -> None:
    assert imports(outline()) == [
        "module: System * as -",
        "module: Acme.Tools.Numbers * as -",
        "module: Acme.Stock Item as Goods",
        "module: Acme.Shared * as - exported",
    ]


def test_csharp_calls_say_what_their_receiver_is() -> None:
    assert up_to(40, mentions(outline(), "calls")) == [
        "13 Shop.best: Item name",
        "14 Shop.Newest: Item name",
        "16 Shop.Count: CountAll name",
        "18 Shop.Shop: Store name",
        "21 Shop.Shop: Restock self",
        "28 Shop.Sell: Item.Price type",
        "29 Shop.Sell: Item.Price type",
        "30 Shop.Sell: Item.Price type",
        "31 Shop.Sell: Item name",
        "31 Shop.Sell: Round name",
        "32 Shop.Sell: Item.Price type",
        "33 Shop.Sell: Find name",
        "34 Shop.Sell: Goods.Price type",
        "35 Shop.Sell: Item.Wrap type",
        "36 Shop.Sell: Sell super",
        "37 Shop.Sell: Numbers.Twice type",
        "38 Shop.Sell: Acme.Tools.Texts.Trim type",
        "39 Shop.Sell: Close unknown",
        "40 Shop.Sell: ForEach unknown",
        "40 Shop.Sell: Price unknown",
    ]


def test_csharp_calls_on_what_is_made_matched_or_unknown() -> None:
    assert after(40, mentions(outline(), "calls")) == [
        "41 Shop.Sell: Item.Price type",
        "41 Shop.Sell: Select unknown",
        "42 Shop.Sell: Price unknown",
        "43 Shop.Sell: Item.Price type",
        "44 Shop.Sell: Gift.Wrap type",
        "45 Shop.Sell: Item.Price type",
        "45 Shop.Sell: Try name",
        "46 Shop.Sell.Local: Local name",
        "47 Shop.Sell: Local name",
        "48 Shop.Sell: Create name",
        "48 Shop.Sell: Price unknown",
        "49 Shop.Sell: Gift.Wrap type",
        "51 Shop.Sell: Price unknown",
        "53 Shop.Sell: Price unknown",
        "54 Shop.Sell: Item name",
        "57 Shop.Sell: Sell name",
        "59 Shop.Restock: Action.Invoke type",
        "61 Shop.operator +: Shop.Merge type",
        "66 Shop.IOpen.Greet: Welcome name",
        "77 Acme.Other.Late.Run: Acme.Shop.Late name",
    ]


def test_csharp_bases_are_extended_or_implemented() -> None:
    assert mentions(outline(), "extends") == ["10 Shop: Store name", "63 Shop.IOpen: IDisposable name"]
    assert mentions(outline(), "implements") == ["10 Shop: IOpen name", "74 Point: IShape name"]


def test_csharp_refers_to_types_constants_and_fields() -> None:
    assert mentions(outline(), "references") == [
        "9 Shop: Serializable name",
        "9 Shop: SerializableAttribute name",
        "10 Shop: Priced name",
        "13 Shop.best: Item name",
        "13 Shop.best: Limit name",
        "13 Shop.worst: Item name",
        "14 Shop.Newest: Item name",
        "15 Shop.Sold: Action name",
        "18 Shop.Shop: Item name",
        "25 Shop.Sell: Func name",
        "25 Shop.Sell: Item name",
        "25 Shop.Sell: Task name",
        "28 Shop.Sell: best name",
        "30 Shop.Sell: Newest name",
        "33 Shop.Sell: Goods name",
        "37 Shop.Sell: Limit name",
        "44 Shop.Sell: Gift name",
        "54 Shop.Sell: Colour.Red type",
        "54 Shop.Sell: Sell name",
        "57 Shop.Sell: Limit name",
        "59 Shop.Restock: Sold name",
        "61 Shop.operator +: Shop name",
        "72 Price.Item: Item name",
        "74 Point.Moved: Point name",
    ]


def test_a_csharp_file_scoped_namespace_is_the_package() -> None:
    outline = read("csharp", "namespace Acme.Shop;\n\nclass A { }\n", "A.cs")
    assert (outline.package, symbols(outline)) == ("Acme.Shop", ["3 class A protected"])


def test_csharp_tests_are_marked() -> None:
    text = (
        "public class ShopTests {\n  [Fact] public void Sells() {}\n  [Inject] public void Helper() {}\n}\n"
    )
    outline = read("csharp", text, "Shop.Tests/ShopTests.cs")
    assert symbols(outline) == [
        "1 class ShopTests public",
        "2 method ShopTests.Sells public test",
        "3 method ShopTests.Helper public",
    ]
    assert outline.symbols[0].is_test


def test_broken_csharp_gives_what_is_sound() -> None:
    outline = read("csharp", "class A {\n  void Good() { Help(); }\n  void Bad() { int = ; }\n}\n", "A.cs")
    assert "2 method A.Good private" in symbols(outline)
    assert "2 A.Good: Help name" in mentions(outline, "calls")
