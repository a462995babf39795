"""Lua: expected symbols and chunks, listed by hand."""

from codegraph.languages.listing import chunks, read, symbols

SOURCE = """
local M = {}

-- Loads an item.
function M.load(key)
  local function inner() end
  return inner(key)
end

function M:save(item) end

local function helper(a) return a end

M.close = function() end

local handlers = {
  open = function(x) return x end,
  limit = 3,
}

function start() end

return M
"""


def test_symbols_have_their_kind_path_and_visibility() -> None:
    assert symbols(read("lua", SOURCE, "src/store.lua")) == [
        "1 variable M private",
        "4 method M.load public in module",
        "9 method M.save public in module",
        "11 function helper private",
        "13 method M.close public in module",
        "15 variable handlers private",
        "16 function handlers.open public",
        "20 function start public",
    ]


def test_each_definition_is_a_chunk_with_its_comment() -> None:
    assert chunks("src/store.lua", SOURCE) == [
        "1-1 module",
        "3-7 method M.load",
        "9-9 method M.save",
        "11-11 function helper",
        "13-13 method M.close",
        "15-16 function handlers.open",
        "17-22 function start",
    ]


def test_what_is_sound_of_a_broken_file_is_kept() -> None:
    broken = SOURCE + "\n)]} (( = class def fn { \x00 "
    names = {symbol.name for symbol in read("lua", broken, "src/store.lua").symbols}
    assert {symbol.name for symbol in read("lua", SOURCE, "src/store.lua").symbols} & names > {""}
