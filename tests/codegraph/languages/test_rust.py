"""Rust: expected symbols, imports and mentions, listed by hand."""

from codegraph.languages.listing import imports, mentions, read, symbols

SHAPES = """
//! Shapes and their areas.

use std::collections::{self, hash_map::Entry as Slot};
use crate::units::*;
use super::draw::{Canvas, self as drawing};
pub use self::inner::Thing as Other;
extern crate serde;
pub mod point;
mod style;

/// How many sides at most.
pub const LIMIT: usize = 12;
static DEFAULT: Circle = Circle::unit();

impl Shape for Circle {
    fn area(&self) -> f64 {
        self.radius() * scale(LIMIT)
    }
}

/// A round shape.
#[derive(Debug, Clone)]
pub struct Circle {
    pub centre: Point,
    style: Box<Style>,
}

impl Circle {
    pub fn unit() -> Self {
        Self::new(1.0)
    }
    pub(crate) fn new(r: f64) -> Self {
        let point = Point::new(r);
        point.shift();
        Circle { centre: point, style: Box::default() }
    }
    fn radius(&self) -> f64 {
        self.style.width();
        self.centre.norm().sqrt()
    }
}

pub trait Shape: Named + drawing::Paint {
    const KIND: &'static str;
    fn area(&self) -> f64;
    fn twice(&self) -> f64 {
        self.area() + Self::helper()
    }
    fn helper() -> f64 { 0.0 }
}

pub enum Kind {
    Round(Circle),
    Empty { at: Point },
    None,
}

pub type Circles<T> = Vec<(T, Circle)>;

impl drawing::Paint for Canvas {
    fn paint(&self) { self.clear(); Self::flush() }
}
"""

BODIES = """
use crate::store::{open, Store, LIMIT};

fn depth(n: u32) -> u32 {
    if n == 0 { 0 } else { depth(n - 1) }
}

fn shadowed(open: fn() -> u32, store: &Store, any: impl Fn()) {
    open();
    any();
    store.save(LIMIT);
    let depth = 3;
    takes(depth);
}

fn generic<T: Default, S>(item: T, other: S) -> T {
    item.run();
    other.run();
    T::default()
}

fn closures(list: Vec<Store>) {
    let each = |one: &Store, two| { one.save(2); two.save(3); each_inner() };
    each(list[0]);
    for store in list.iter() { store.save(1); }
    if let Some(found) = list.first() { found.save(4); }
    match open() { Store { size, .. } if size.fits() => size.go(), other => other.go() }
    fn each_inner() { crate::store::open::<u8>(); depth(2); }
    outer::deep::call();
    Some(1).map(depth);
    println!("{}", depth(open().len()));
    assert_eq!(list.first().count(), Store::count(1));
    custom! { depth(7) }
    "text".parse::<Store>();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn helper() { depth(1); }

    #[test]
    fn counts_down() { helper(); }

    #[tokio::test]
    async fn waits() {}
}
"""


def test_rust_symbols_belong_to_their_type_even_above_it() -> None:
    outline = read("rust", SHAPES, "src/shapes.rs")
    assert symbols(outline) == [
        "12 variable LIMIT public",
        "13 variable DEFAULT private",
        "16 method Circle.area public",
        "23 class Circle public",
        "24 variable Circle.centre public",
        "25 variable Circle.style private",
        "29 method Circle.unit public",
        "32 method Circle.new protected",
        "37 method Circle.radius private",
        "43 interface Shape public",
        "44 variable Shape.KIND public",
        "45 method Shape.area public",
        "46 method Shape.twice public",
        "49 method Shape.helper public",
        "52 class Kind public",
        "53 variable Kind.Round public",
        "54 variable Kind.Empty public",
        "55 variable Kind.None public",
        "58 class Circles public",
        "61 method Canvas.paint public in module",
    ]


def test_rust_symbols_carry_their_signature_comment_and_lines() -> None:
    outline = read("rust", SHAPES, "src/shapes.rs")
    assert outline.symbols[0].docstring == "Shapes and their areas."
    circle = next(symbol for symbol in outline.symbols if symbol.path == ("Circle",))
    assert (circle.signature, circle.docstring) == ("pub struct Circle", "A round shape.")
    assert (circle.first_line, circle.last_line) == (23, 26)
    unit = next(symbol for symbol in outline.symbols if symbol.path == ("Circle", "unit"))
    assert unit.signature == "pub fn unit() -> Self"
    limit = next(symbol for symbol in outline.symbols if symbol.path == ("LIMIT",))
    assert limit.docstring == "How many sides at most."


def test_rust_use_trees_are_taken_apart() -> None:
    assert imports(read("rust", SHAPES, "src/shapes.rs")) == [
        "module: std::collections - as collections",
        "module: std::collections::hash_map Entry as Slot",
        "module: crate::units * as -",
        "module: super::draw Canvas as Canvas",
        "module: super::draw - as drawing",
        "module: self::inner Thing as Other exported",
        "module: serde - as serde",
        "module: point - as point exported",
        "module: style - as style",
    ]


def test_rust_calls_know_self_types_and_fields() -> None:
    assert mentions(read("rust", SHAPES, "src/shapes.rs"), "calls") == [
        "13 DEFAULT: Circle.unit type",
        "17 Circle.area: radius self",
        "17 Circle.area: scale name",
        "30 Circle.unit: new self",
        "33 Circle.new: Point.new type",
        "34 Circle.new: Point.shift type",
        "35 Circle.new: Box.default type",
        "38 Circle.radius: Style.width type",
        "39 Circle.radius: Point.norm type",
        "39 Circle.radius: sqrt unknown",
        "47 Shape.twice: area self",
        "47 Shape.twice: helper self",
        "61 Canvas.paint: Canvas.clear type",
        "61 Canvas.paint: Canvas.flush type",
    ]


def test_rust_impls_supertraits_and_types_are_relations() -> None:
    outline = read("rust", SHAPES, "src/shapes.rs")
    assert mentions(outline, "implements") == ["15 Circle: Shape name"]
    assert mentions(outline, "extends") == ["43 Shape: Named name", "43 Shape: drawing.Paint name"]
    assert mentions(outline, "references") == [
        "13 DEFAULT: Circle name",
        "17 Circle.area: LIMIT name",
        "24 Circle.centre: Point name",
        "25 Circle.style: Style name",
        "35 Circle.new: Circle name",
        "53 Kind.Round: Circle name",
        "54 Kind.Empty: Point name",
        "58 Circles: Circle name",
        "60 module: drawing.Paint name",
    ]


def test_rust_calls_in_bodies() -> None:
    outline = read("rust", BODIES, "src/bodies.rs")
    assert mentions(outline, "calls") == [
        "4 depth: depth name",
        "10 shadowed: Store.save type",
        "16 generic: run unknown",
        "17 generic: run unknown",
        "18 generic: default unknown",
        "22 closures: Store.save type",
        "22 closures: each_inner name",
        "22 closures: save unknown",
        "24 closures: Vec.iter type",
        "24 closures: save unknown",
        "25 closures: Vec.first type",
        "25 closures: save unknown",
        "26 closures: fits unknown",
        "26 closures: go unknown",
        "26 closures: go unknown",
        "26 closures: open name",
        "27 closures.each_inner: crate.store.open name",
        "27 closures.each_inner: depth name",
        "28 closures: outer.deep.call name",
        "29 closures: map unknown",
        "30 closures: depth name",
        "30 closures: len unknown",
        "30 closures: open name",
        "31 closures: Store.count type",
        "31 closures: Vec.first type",
        "31 closures: count unknown",
        "33 closures: parse unknown",
        "40 tests.helper: depth name",
        "43 tests.counts_down: helper name",
    ]


def test_a_rust_function_named_by_value_is_a_reference() -> None:
    outline = read("rust", BODIES, "src/bodies.rs")
    assert "29 closures: depth name" in mentions(outline, "references")
    assert "10 shadowed: LIMIT name" in mentions(outline, "references")
    assert not any(line.startswith("12 ") for line in mentions(outline, "references"))


def test_rust_tests_are_marked() -> None:
    outline = read("rust", BODIES, "src/bodies.rs")
    assert [line for line in symbols(outline) if "tests" in line] == [
        "37 module tests private test",
        "40 function tests.helper private test",
        "43 function tests.counts_down private test",
        "46 function tests.waits private test",
    ]
    assert not outline.symbols[0].is_test
    assert read("rust", "", "tests/api.rs").symbols[0].is_test


def test_broken_rust_gives_what_is_sound() -> None:
    outline = read("rust", "fn good() { helper(); }\nfn bad( {{{ let = ;\nstruct\nfn helper() {}\n", "x.rs")
    assert "1 function good private" in symbols(outline)
    assert "1 good: helper name" in mentions(outline, "calls")
