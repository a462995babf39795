"""Zig: expected symbols and chunks, listed by hand."""

from codegraph.languages.listing import chunks, read, symbols

SOURCE = """
const std = @import("std");

/// Keeps what it is given.
pub const Store = struct {
    limit: u32,

    pub fn load(self: *Store, key: []const u8) !u8 {
        return key[0];
    }

    const Side = enum { left, right };
};

pub const Failure = error{ Full, Closed };

/// A list of anything.
pub fn List(comptime T: type) type {
    return struct {
        items: []T,
        pub fn append(self: *@This(), item: T) void {}
    };
}

const limit = 3;

fn helper() void {}

test "a store is empty" {
    try std.testing.expect(true);
}
"""


def test_symbols_have_their_kind_path_and_visibility() -> None:
    assert symbols(read("zig", SOURCE, "src/store.zig")) == [
        "1 variable std private",
        "4 class Store public",
        "5 variable Store.limit public",
        "7 method Store.load public",
        "11 class Store.Side private",
        "11 variable Store.Side.left public",
        "11 variable Store.Side.right public",
        "14 class Failure public",
        "17 class List public",
        "19 variable List.items public",
        "20 method List.append public",
        "24 variable limit private",
        "26 function helper private",
        "28 function a store is empty public test",
    ]


def test_each_definition_is_a_chunk_with_its_comment() -> None:
    assert chunks("src/store.zig", SOURCE) == [
        "1-1 module",
        "3-12 struct Store",
        "14-14 enum Failure",
        "16-22 struct List",
        "24-26 function helper",
        "28-30 function a store is empty",
    ]


def test_what_is_sound_of_a_broken_file_is_kept() -> None:
    broken = SOURCE + "\n)]} (( = class def fn { \x00 "
    names = {symbol.name for symbol in read("zig", broken, "src/store.zig").symbols}
    assert {symbol.name for symbol in read("zig", SOURCE, "src/store.zig").symbols} & names > {""}
