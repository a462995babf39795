"""Elixir: expected symbols and chunks, listed by hand."""

from codegraph.languages.listing import chunks, read, symbols

SOURCE = """
defmodule Shop.Store do
  use GenServer
  alias Shop.Item

  @limit 3

  @doc "Loads an item."
  @spec load(String.t()) :: term
  def load(key) when is_binary(key) do
    find(key)
  end

  # Without a key.
  def load(_), do: nil

  defp find(key), do: key

  defmacro trace(x) do
    x
  end

  defmodule Inner do
    def run, do: 1
  end
end

defprotocol Size do
  def size(x)
end

defimpl Size, for: Map do
  def size(map), do: map_size(map)
end
"""


def test_symbols_have_their_kind_path_and_visibility() -> None:
    assert symbols(read("elixir", SOURCE, "lib/store.ex")) == [
        "1 class Shop.Store public in module",
        "9 method Shop.Store.load public",
        "16 method Shop.Store.find private",
        "18 method Shop.Store.trace public",
        "22 class Shop.Store.Inner public",
        "23 method Shop.Store.Inner.run public",
        "27 interface Size public",
        "28 method Size.size public",
        "32 method Size.size public",
    ]


def test_each_definition_is_a_chunk_with_its_comment() -> None:
    assert chunks("lib/store.ex", SOURCE) == [
        "1-25 class Shop.Store",
        "27-29 interface Size",
        "31-33 impl Size",
    ]


def test_what_is_sound_of_a_broken_file_is_kept() -> None:
    broken = SOURCE + "\n)]} (( = class def fn { \x00 "
    names = {symbol.name for symbol in read("elixir", broken, "lib/store.ex").symbols}
    assert {symbol.name for symbol in read("elixir", SOURCE, "lib/store.ex").symbols} & names > {""}
