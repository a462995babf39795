"""JavaScript, TypeScript and TSX: expected symbols, imports and mentions, listed by hand."""

from codegraph.languages.listing import imports, mentions, read, symbols
from quintet.model.symbols import Outline

CART = """
import fetcher, * as api from "./api";
import { Item as Thing, type Price } from "../item";
import type Config from "config";
import legacy = require("legacy");
import "./styles.css";

/**
 * A cart.
 *
 * @since 1
 */
@Injectable()
export abstract class Cart<T> extends api.Base<T> implements Seller, api.Closable {
  private readonly items: Thing[] = [];
  static #count = 0;
  price?: Price | null;
  owner = new Owner();

  /** Makes one. */
  constructor(private store: Store, protected config?: Config, plain?: Thing) {
    super(store);
    this.plain = plain;
  }

  @Input()
  get first(): Thing { return this.items.at(0); }

  abstract close(): void;

  add(item: string): void;
  add(item: Thing): void;
  add(item: any) {
    this.store.put(item);
    this.first.show();
    this.owner.pay(Cart.#count);
    this.price.round();
    super.add(item);
    this.close();
    [1, 2].forEach((n) => this.add(n));
    (function () { this.add(1); })();
  }

  onClick = async (event: Event) => { this.add(event); };
}

class Store { put(item: Thing) {} }
class Owner { pay(n: number) {} }

interface Seller extends api.Named, Iterable<Thing> {
  name: string;
  sell(item: Thing): void;
}

export enum Colour { Red = 1, Blue }
type Pair<K> = [K, Thing];

namespace Deep.Inner {
  export function open() { return hidden(); }
  function hidden() {}
}

function total(cart: Cart): number;
function total(cart: any) {
  const again = new Cart();
  let other = new Cart();
  other = cart;
  again.add(1); other.add(2); (cart as Cart).add(3); new Cart().add(4);
  return total(cart) + fetcher(Colour.Red);
}

export { total as sum, Thing };
export default total;
"""

WIDGET = """
import React from "react";
import { Button, type Props, format } from "./parts";
import * as Icons from "./icons";

const handle = (event) => format(event);

export const Widget: React.FC<Props> = ({ title, format: Button2 }) => {
  const [open, setOpen] = React.useState(false);
  return (
    <div onClick={handle}>
      <Button label={format(title)} {...title} />
      <Icons.Close onClick={() => setOpen(!open)}>{Button2()}</Icons.Close>
    </div>
  );
};

export default function Page<T>({ Button }: Props) {
  return <Button />;
}
"""


def typed(text: str) -> Outline:
    return read("typescript", text, "src/cart.ts")


def plain(text: str, path: str = "src/main.js") -> Outline:
    return read("javascript", text, path)


def test_classes_and_their_members_are_symbols() -> None:
    assert symbols(typed(CART)) == [
        "12 class Cart public",
        "14 variable Cart.items private",
        "15 variable Cart.#count private",
        "16 variable Cart.price public",
        "17 variable Cart.owner public",
        "20 method Cart.constructor public",
        "20 variable Cart.store private",
        "20 variable Cart.config protected",
        "25 method Cart.first public",
        "28 method Cart.close public",
        "30 method Cart.add public",
        "31 method Cart.add public",
        "32 method Cart.add public",
        "43 method Cart.onClick public",
        "46 class Store private",
        "46 method Store.put public",
        "47 class Owner private",
        "47 method Owner.pay public",
        "49 interface Seller private",
        "50 variable Seller.name public",
        "51 method Seller.sell public",
        "54 class Colour public",
        "54 variable Colour.Red public",
        "54 variable Colour.Blue public",
        "55 class Pair private",
        "57 module Deep private",
        "57 module Deep.Inner private",
        "58 function Deep.Inner.open public",
        "59 function Deep.Inner.hidden private",
        "62 function total public",
        "63 function total public",
    ]


def test_signatures_and_comments_above() -> None:
    found = {symbol.path: symbol for symbol in typed(CART).symbols}
    cart = found["Cart",]
    assert cart.signature == ("abstract class Cart<T> extends api.Base<T> implements Seller, api.Closable")
    assert (cart.docstring, cart.last_line) == ("A cart.", 44)
    assert found["Cart", "constructor"].docstring == "Makes one."
    assert found["Cart", "first"].signature == "get first(): Thing"
    assert found["Cart", "onClick"].signature == "onClick = async (event: Event)"
    assert found["Store",].docstring == ""


def test_imports_of_every_kind() -> None:
    outline = typed(CART)
    assert imports(outline) == [
        "module: ./api default as fetcher",
        "module: ./api - as api",
        "module: ../item Item as Thing",
        "module: ../item Price as Price",
        "module: config default as Config",
        "module: legacy - as legacy",
        "module: ./styles.css - as -",
    ]
    assert outline.exports == (
        ("Cart", "Cart"),
        ("Colour", "Colour"),
        ("sum", "total"),
        ("Thing", "Thing"),
        ("default", "total"),
    )


def test_what_is_called_and_on_what() -> None:
    assert mentions(typed(CART), "calls") == [
        "17 Cart: Owner name",
        "21 Cart.constructor: constructor super",
        "26 Cart.first: at unknown",
        "33 Cart.add: Store.put type",
        "34 Cart.add: Thing.show type",
        "35 Cart.add: Owner.pay type",
        "36 Cart.add: Price.round type",
        "37 Cart.add: add super",
        "38 Cart.add: close self",
        "39 Cart.add: add self",
        "40 Cart.add: add unknown",
        "43 Cart.onClick: add self",
        "58 Deep.Inner.open: hidden name",
        "64 total: Cart name",
        "65 total: Cart name",
        "67 total: Cart name",
        "67 total: Cart.add type",
        "67 total: Cart.add type",
        "67 total: Cart.add type",
        "67 total: add unknown",
        "68 total: fetcher name",
        "68 total: total name",
    ]


def test_what_is_extended_implemented_and_referred_to() -> None:
    outline = typed(CART)
    assert mentions(outline, "extends") == [
        "13 Cart: api.Base name",
        "49 Seller: Iterable name",
        "49 Seller: api.Named name",
    ]
    assert mentions(outline, "implements") == ["13 Cart: Seller name", "13 Cart: api.Closable name"]
    assert mentions(outline, "references") == [
        "14 Cart: Thing name",
        "16 Cart: Price name",
        "20 Cart.constructor: Config name",
        "20 Cart.constructor: Store name",
        "20 Cart.constructor: Thing name",
        "26 Cart.first: Thing name",
        "31 Cart.add: Thing name",
        "35 Cart.add: Cart.#count name",
        "46 Store.put: Thing name",
        "49 Seller: Thing name",
        "51 Seller.sell: Thing name",
        "55 Pair: Thing name",
        "62 total: Cart name",
        "67 total: Cart name",
        "68 total: Colour.Red name",
        "72 module: total name",
    ]


def test_components_are_called_where_they_are_shown() -> None:
    outline = read("tsx", WIDGET, "src/widget.tsx")
    assert symbols(outline) == [
        "5 function handle private",
        "7 function Widget public",
        "17 function Page public",
    ]
    assert mentions(outline, "calls") == [
        "5 handle: format name",
        "8 Widget: React.useState name",
        "11 Widget: Button name",
        "11 Widget: format name",
        "12 Widget: Icons.Close name",
    ]
    assert mentions(outline, "references") == [
        "7 module: Props name",
        "7 module: React.FC name",
        "10 Widget: handle name",
        "17 Page: Props name",
    ]
    assert outline.exports == (("Widget", "Widget"), ("default", "Page"))


def test_test_files_are_known_by_name_or_by_what_they_do() -> None:
    text = "describe('cart', () => { it('adds', () => { add(); }); });"
    assert plain(text).symbols[0].is_test
    assert not plain("describe('cart');").symbols[0].is_test
    for path in ("a/cart.test.ts", "cart.spec.jsx", "x/__tests__/cart.js"):
        assert plain("1;", path).symbols[0].is_test
    assert not plain("1;", "contest.js").symbols[0].is_test
