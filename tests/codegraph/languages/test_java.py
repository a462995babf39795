"""Java: expected symbols, imports and mentions, listed by hand."""

from codegraph.languages.listing import after, headers, imports, mentions, read, symbols, up_to
from quintet.model.symbols import Outline

SOURCE = """
package com.acme.shop;

import java.util.List;
import com.acme.stock.Item;
import com.acme.stock.Colour;
import com.acme.tools.*;
import static com.acme.tools.Numbers.round;
import static com.acme.tools.Texts.*;

/**
 * Sells items.
 *
 * @author somebody
 */
@Singleton
public class Shop<T extends Priced> extends Store<T> implements Open, Comparable<Shop<T>> {
    private static final int LIMIT = 10;
    protected Item best = new Item(LIMIT), worst;
    List<Item> all;

    public Shop(Item best) {
        super(best);
        this.best = best;
        this.restock();
    }

    /** Sells one. */
    public Item sell(String name, Runnable restock) throws SoldOut {
        restock();
        restock.run();
        best.price();
        this.worst.price();
        Item local = find(name);
        local.price();
        var fresh = new Item(round(1));
        fresh.price();
        Numbers.twice(2);
        com.acme.tools.Texts.trim(name);
        super.sell(name, null);
        inherited.close();
        all.forEach(each -> each.price());
        all.stream().map(Item::price).map(this::sell);
        for (Item item : all) { item.price(); }
        if (local instanceof Gift gift) { gift.wrap(); }
        try (Till till = open()) { till.count(); } catch (SoldOut sold) { sold.report(); }
        T generic = null;
        generic.price();
        Runnable task = new Runnable() {
            private Item kept;
            @Override public void run() { sell("x", null); this.run(); }
        };
        new Item(1).price();
        return Colour.RED.next() == null ? fresh : local;
    }

    int sell(int times) { return times == 0 ? LIMIT : sell(times - 1); }

    private void restock() { }

    interface Open extends AutoCloseable {
        int HOURS = 8;
        default void greet() { welcome(); }
        void welcome();
    }

    public enum State { OPEN(1), CLOSED; State() { } State(int n) { check(n); } static void check(int n) { } }

    record Price(int amount, Item item) {
        static Price of(Item item) { return new Price(LIMIT, item); }
    }
}
"""


def outline() -> Outline:
    return read("java", SOURCE, "src/main/java/com/acme/shop/Shop.java")


def test_java_definitions_have_their_kind_owner_and_visibility() -> None:
    assert symbols(outline()) == [
        "15 class Shop public",
        "17 variable Shop.LIMIT private",
        "18 variable Shop.best protected",
        "18 variable Shop.worst protected",
        "19 variable Shop.all protected",
        "21 method Shop.Shop public",
        "28 method Shop.sell public",
        "56 method Shop.sell protected",
        "58 method Shop.restock private",
        "60 interface Shop.Open protected",
        "61 variable Shop.Open.HOURS public",
        "62 method Shop.Open.greet public",
        "63 method Shop.Open.welcome public",
        "66 class Shop.State public",
        "66 variable Shop.State.OPEN public",
        "66 variable Shop.State.CLOSED public",
        "66 method Shop.State.State private",
        "66 method Shop.State.State private",
        "66 method Shop.State.check protected",
        "68 class Shop.Price protected",
        "68 variable Shop.Price.amount public",
        "68 variable Shop.Price.item public",
        "69 method Shop.Price.of protected",
    ]


def test_java_definitions_have_their_lines_signature_and_comment() -> None:
    assert headers(outline()) == [
        "15-71 @Singleton public class Shop<T extends Priced> extends Store<T> "
        "implements Open, Comparable<Shop<T>> | Sells items.",
        "17-17 private static final int LIMIT = 10",
        "18-18 protected Item best = new Item(LIMIT), worst",
        "18-18 protected Item best = new Item(LIMIT), worst",
        "19-19 List<Item> all",
        "21-25 public Shop(Item best)",
        "28-54 public Item sell(String name, Runnable restock) throws SoldOut | Sells one.",
        "56-56 int sell(int times)",
        "58-58 private void restock()",
        "60-64 interface Open extends AutoCloseable",
        "61-61 int HOURS = 8",
        "62-62 default void greet()",
        "63-63 void welcome()",
        "66-66 public enum State",
        "66-66 OPEN(1)",
        "66-66 CLOSED",
        "66-66 State()",
        "66-66 State(int n)",
        "66-66 static void check(int n)",
        "68-70 record Price(int amount, Item item)",
        "68-68 int amount",
        "68-68 Item item",
        "69-69 static Price of(Item item)",
    ]


def test_a_java_file_has_its_lines_comment_and_package() -> None:
    module = outline().symbols[0]
    assert (module.first_line, module.last_line, module.docstring) == (1, 71, "")
    assert outline().package == "com.acme.shop"


def test_java_imports_say_what_they_bring_in() -> None:
    assert imports(outline()) == [
        "module: java.util List as List",
        "module: com.acme.stock Item as Item",
        "module: com.acme.stock Colour as Colour",
        "module: com.acme.tools * as -",
        "module: com.acme.tools.Numbers round as round",
        "module: com.acme.tools.Texts * as -",
    ]


def test_java_calls_say_what_their_receiver_is() -> None:
    assert up_to(41, mentions(outline(), "calls")) == [
        "18 Shop.best: Item name",
        "22 Shop.Shop: Store name",
        "24 Shop.Shop: restock self",
        "29 Shop.sell: restock name",
        "30 Shop.sell: Runnable.run type",
        "31 Shop.sell: Item.price type",
        "32 Shop.sell: Item.price type",
        "33 Shop.sell: find name",
        "34 Shop.sell: Item.price type",
        "35 Shop.sell: Item name",
        "35 Shop.sell: round name",
        "36 Shop.sell: Item.price type",
        "37 Shop.sell: Numbers.twice type",
        "38 Shop.sell: com.acme.tools.Texts.trim type",
        "39 Shop.sell: sell super",
        "40 Shop.sell: close unknown",
        "41 Shop.sell: List.forEach type",
        "41 Shop.sell: price unknown",
    ]


def test_java_calls_on_what_is_made_matched_or_unknown() -> None:
    assert after(41, mentions(outline(), "calls")) == [
        "42 Shop.sell: List.stream type",
        "42 Shop.sell: map unknown",
        "42 Shop.sell: map unknown",
        "43 Shop.sell: Item.price type",
        "44 Shop.sell: Gift.wrap type",
        "45 Shop.sell: SoldOut.report type",
        "45 Shop.sell: Till.count type",
        "45 Shop.sell: open name",
        "47 Shop.sell: price unknown",
        "48 Shop.sell: Runnable name",
        "50 Shop.sell: run unknown",
        "50 Shop.sell: sell name",
        "52 Shop.sell: Item name",
        "52 Shop.sell: Item.price type",
        "53 Shop.sell: next unknown",
        "56 Shop.sell: sell name",
        "62 Shop.Open.greet: welcome name",
        "66 Shop.State.State: check name",
        "69 Shop.Price.of: Price name",
    ]


def test_java_bases_are_extended_or_implemented() -> None:
    assert mentions(outline(), "extends") == ["16 Shop: Store name", "60 Shop.Open: AutoCloseable name"]
    assert mentions(outline(), "implements") == ["16 Shop: Comparable name", "16 Shop: Open name"]


def test_java_refers_to_types_constants_and_fields() -> None:
    assert mentions(outline(), "references") == [
        "15 Shop: Singleton name",
        "16 Shop: Priced name",
        "16 Shop: Shop name",
        "18 Shop.best: Item name",
        "18 Shop.best: LIMIT name",
        "18 Shop.worst: Item name",
        "19 Shop.all: Item name",
        "19 Shop.all: List name",
        "21 Shop.Shop: Item name",
        "28 Shop.sell: Item name",
        "28 Shop.sell: Runnable name",
        "28 Shop.sell: SoldOut name",
        "28 Shop.sell: String name",
        "31 Shop.sell: best name",
        "41 Shop.sell: all name",
        "42 Shop.sell: Item.price type",
        "42 Shop.sell: sell self",
        "44 Shop.sell: Gift name",
        "45 Shop.sell: Till name",
        "50 Shop.sell: Override name",
        "53 Shop.sell: Colour.RED type",
        "56 Shop.sell: LIMIT name",
        "68 Shop.Price.item: Item name",
        "69 Shop.Price.of: Item name",
        "69 Shop.Price.of: LIMIT name",
        "69 Shop.Price.of: Price name",
    ]


def test_java_tests_are_marked() -> None:
    text = "class ShopTest {\n  @Test\n  void sells() { new Shop(); }\n  void helper() {}\n}\n"
    outline = read("java", text, "src/test/java/ShopTest.java")
    assert symbols(outline) == [
        "1 class ShopTest protected",
        "2 method ShopTest.sells protected test",
        "4 method ShopTest.helper protected",
    ]
    assert outline.symbols[0].is_test


def test_broken_java_gives_what_is_sound() -> None:
    outline = read("java", "class A {\n  void good() { helper(); }\n  void bad( { int = ;\n", "A.java")
    assert "2 method A.good protected" in symbols(outline)
    assert "2 A.good: helper name" in mentions(outline, "calls")
