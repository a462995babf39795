"""Swift: expected symbols and chunks, listed by hand."""

from codegraph.languages.listing import chunks, read, symbols

SOURCE = """
import Foundation

/// Keeps what it is given.
@available(iOS 13, *)
public final class Store<Item>: Keeping {
    private let limit = 3
    // How many there are.
    var count: Int { items.count }

    init(path: String) {
        self.path = path
    }

    deinit { close() }

    subscript(key: String) -> Item? { return nil }

    private func load(_ key: String) throws -> Item {
        func inner() {}
        return inner()
    }
}

struct Point { var x: Int }

enum Side: String {
    case left, right
    func flip() -> Side { .left }
}

extension Store where Item: Hashable {
    func merge() {}
}

protocol Keeping: AnyObject {
    func keep()
}

func make(_ path: String) -> Store<Int> { Store(path: path) }

typealias Handler = (Int) -> Void
"""


def test_symbols_have_their_kind_path_and_visibility() -> None:
    assert symbols(read("swift", SOURCE, "src/Store.swift")) == [
        "4 class Store public",
        "6 variable Store.limit private",
        "8 variable Store.count public",
        "10 method Store.init public",
        "14 method Store.deinit public",
        "16 method Store.subscript public",
        "18 method Store.load private",
        "24 class Point public",
        "24 variable Point.x public",
        "26 class Side public",
        "27 variable Side.left public",
        "27 variable Side.right public",
        "28 method Side.flip public",
        "32 method Store.merge public",
        "35 interface Keeping public",
        "36 method Keeping.keep public",
        "39 function make public",
        "41 class Handler public",
    ]


def test_each_definition_is_a_chunk_with_its_comment() -> None:
    assert chunks("src/Store.swift", SOURCE) == [
        "1-1 module",
        "3-8 class Store",
        "10-12 method Store.init",
        "14-14 method Store.deinit",
        "16-16 method Store.subscript",
        "18-22 method Store.load",
        "24-24 struct Point",
        "26-29 enum Side",
        "31-33 impl Store",
        "35-37 interface Keeping",
        "39-39 function make",
        "41-41 type Handler",
    ]


def test_what_is_sound_of_a_broken_file_is_kept() -> None:
    broken = SOURCE + "\n)]} (( = class def fn { \x00 "
    names = {symbol.name for symbol in read("swift", broken, "src/Store.swift").symbols}
    assert {symbol.name for symbol in read("swift", SOURCE, "src/Store.swift").symbols} & names > {""}
