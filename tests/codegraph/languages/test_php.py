"""PHP: expected symbols, imports and mentions, listed by hand."""

from codegraph.languages.listing import headers, imports, mentions, read, symbols
from quintet.model.symbols import Outline

SOURCE = r"""
<?php

namespace Acme\Shop;

use Acme\Stock\Item;
use Acme\Stock\Gift as Present;
use function Acme\Tools\twice;
use const Acme\Tools\LOW;
use Acme\Stock\{Box, Bag as Sack, function pack};

require_once __DIR__ . '/helpers.php';
include 'config.php';
require $dynamic;

const LIMIT = 10;

/**
 * Sells items.
 */
#[Entity]
abstract class Shop extends Store implements Open, \Countable
{
    use Counts, Acme\Traits\Logs;

    const NAME = 'shop';
    private static ?Item $count = null;
    protected Item $best, $worst;

    public function __construct(private Box $box, $any)
    {
        parent::__construct($box);
        $this->best = new Item(LIMIT);
        $any->price();
    }

    /** Sells one. */
    public function sell(Item $item, ?Present $gift, callable $then): ?Item
    {
        $item->price();
        $gift?->wrap();
        $this->restock();
        $this->best->price();
        $this->box->open();
        self::make();
        static::make();
        Item::make();
        \Acme\Tools\trim('x');
        twice(LOW);
        helper(self::NAME);
        $fresh = new Sack(1);
        $fresh->close();
        $fresh = other();
        $then($item);
        $this->$then();
        $class::make();
        $each = fn (Item $one) => $one->price();
        $all = function ($two) use ($fresh) { $two->price(); };
        foreach ($list as $key => $each) { $each->price(); }
        try { pack(); } catch (SoldOut $sold) { $sold->report(); }
        (new Item(2))->price();
        $this->chain()->price();
        return Box::SMALL;
    }

    private static function make(): static { return new static(); }

    protected function count(int $n): int { return $n === 0 ? 0 : $this->count($n - 1); }
}

interface Open extends Closable { public function open(Item $item): void; }

trait Counts { public function counted() { return helper(1); } }

enum Colour: string implements Open { case Red = 'r'; const Best = self::Red; public function next() {} }

function helper($n) { return $n; }
"""


def outline() -> Outline:
    return read("php", SOURCE, "src/Shop.php")


def test_php_definitions_have_their_kind_owner_and_visibility() -> None:
    assert symbols(outline()) == [
        "15 variable LIMIT public",
        "20 class Shop public",
        "25 variable Shop.NAME public",
        "26 variable Shop.count private",
        "27 variable Shop.best protected",
        "27 variable Shop.worst protected",
        "29 method Shop.__construct public",
        "29 variable Shop.box private",
        "37 method Shop.sell public",
        "65 method Shop.make private",
        "67 method Shop.count protected",
        "70 interface Open public",
        "70 method Open.open public",
        "72 interface Counts public",
        "72 method Counts.counted public",
        "74 class Colour public",
        "74 variable Colour.Red public",
        "74 variable Colour.Best public",
        "74 method Colour.next public",
        "76 function helper public",
    ]


def test_php_definitions_have_their_lines_signature_and_comment() -> None:
    assert headers(outline()) == [
        "15-15 const LIMIT = 10",
        "20-68 #[Entity] abstract class Shop extends Store implements Open, \\Countable | Sells items.",
        "25-25 const NAME = 'shop'",
        "26-26 private static ?Item $count = null",
        "27-27 protected Item $best, $worst",
        "27-27 protected Item $best, $worst",
        "29-34 public function __construct(private Box $box, $any)",
        "29-29 private Box $box",
        "37-63 public function sell(Item $item, ?Present $gift, callable $then): ?Item | Sells one.",
        "65-65 private static function make(): static",
        "67-67 protected function count(int $n): int",
        "70-70 interface Open extends Closable",
        "70-70 public function open(Item $item): void",
        "72-72 trait Counts",
        "72-72 public function counted()",
        "74-74 enum Colour: string implements Open",
        "74-74 case Red = 'r'",
        "74-74 const Best = self::Red",
        "74-74 public function next()",
        "76-76 function helper($n)",
    ]


def test_a_php_file_has_its_lines_comment_and_package() -> None:
    module = outline().symbols[0]
    assert (module.first_line, module.last_line, module.docstring) == (1, 76, "")
    assert outline().package == "Acme\\Shop"


def test_php_imports_say_what_they_bring_in() -> None:
    assert imports(outline()) == [
        "module: Acme\\Stock Item as Item",
        "module: Acme\\Stock Gift as Present",
        "module: Acme\\Tools twice as twice",
        "module: Acme\\Tools LOW as LOW",
        "module: Acme\\Stock Box as Box",
        "module: Acme\\Stock Bag as Sack",
        "module: Acme\\Stock pack as pack",
        "module: ./helpers.php * as - exported",
        "module: config.php * as - exported",
    ]


def test_php_calls_say_what_their_receiver_is() -> None:
    assert mentions(outline(), "calls") == [
        "31 Shop.__construct: __construct super",
        "32 Shop.__construct: Item name",
        "33 Shop.__construct: price unknown",
        "39 Shop.sell: Item.price type",
        "40 Shop.sell: Present.wrap type",
        "41 Shop.sell: restock self",
        "42 Shop.sell: Item.price type",
        "43 Shop.sell: Box.open type",
        "44 Shop.sell: make self",
        "45 Shop.sell: make self",
        "46 Shop.sell: Item.make type",
        "47 Shop.sell: Acme.Tools.trim name",
        "48 Shop.sell: twice name",
        "49 Shop.sell: helper name",
        "50 Shop.sell: Sack name",
        "51 Shop.sell: close unknown",
        "52 Shop.sell: other name",
        "55 Shop.sell: make unknown",
        "56 Shop.sell: Item.price type",
        "57 Shop.sell: price unknown",
        "58 Shop.sell: price unknown",
        "59 Shop.sell: SoldOut.report type",
        "59 Shop.sell: pack name",
        "60 Shop.sell: Item name",
        "60 Shop.sell: Item.price type",
        "61 Shop.sell: chain self",
        "61 Shop.sell: price unknown",
        "65 Shop.make: Shop name",
        "67 Shop.count: count self",
        "72 Counts.counted: helper name",
    ]


def test_php_bases_are_extended_or_implemented() -> None:
    assert mentions(outline(), "extends") == [
        "21 Shop: Store name",
        "23 Shop: Acme.Traits.Logs name",
        "23 Shop: Counts name",
        "70 Open: Closable name",
    ]
    assert mentions(outline(), "implements") == [
        "21 Shop: Countable name",
        "21 Shop: Open name",
        "74 Colour: Open name",
    ]


def test_php_refers_to_types_constants_and_fields() -> None:
    assert mentions(outline(), "references") == [
        "20 Shop: Entity name",
        "26 Shop.count: Item name",
        "27 Shop.best: Item name",
        "27 Shop.worst: Item name",
        "29 Shop.__construct: Box name",
        "32 Shop.__construct: LIMIT name",
        "37 Shop.sell: Item name",
        "37 Shop.sell: Present name",
        "48 Shop.sell: LOW name",
        "49 Shop.sell: NAME self",
        "59 Shop.sell: SoldOut name",
        "62 Shop.sell: Box.SMALL type",
        "70 Open.open: Item name",
        "74 Colour.Best: Red self",
    ]


def test_a_second_php_namespace_is_a_module_of_the_file() -> None:
    outline = read("php", "<?php\nnamespace A { class B {} }\nnamespace C\\D { class E {} }\n", "a.php")
    assert outline.package == "A"
    assert symbols(outline) == [
        "2 class B public",
        "3 module C.D public in module",
        "3 class C.D.E public",
    ]


def test_php_tests_are_marked() -> None:
    methods = "  function testSell() {}\n  /** @test */\n  function sells() {}\n  function up() {}\n"
    text = "<?php\nclass ShopTest {\n" + methods + "}\n"
    outline = read("php", text, "tests/ShopTest.php")
    assert [symbol.name for symbol in outline.symbols if symbol.is_test] == ["", "testSell", "sells"]


def test_broken_php_gives_what_is_sound() -> None:
    outline = read("php", "<?php\nfunction good() { helper(); }\nfunction bad( {{ $ = ;\n", "a.php")
    assert "2 function good public" in symbols(outline)
    assert "2 good: helper name" in mentions(outline, "calls")
