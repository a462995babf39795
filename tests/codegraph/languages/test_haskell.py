"""Haskell: expected symbols and chunks, listed by hand."""

from codegraph.languages.listing import chunks, read, symbols

SOURCE = """
module Shop.Store (load, Store (..)) where

import qualified Data.Map as Map

-- | Keeps what it is given.
data Store a = Store { items :: [a] } | Empty
  deriving (Show)

newtype Id = Id Int

type Name = String

-- | What can be kept.
class Keeping a where
  keep :: a -> Bool
  keep _ = True

instance Keeping Id where
  keep (Id x) = x > 0

-- | Loads an item.
load :: String -> Maybe Int
load "" = Nothing
-- The rest.
load key
  | key == "a" = Just 1
  | otherwise = find key
  where find _ = Nothing

x <+> y = x
"""


def test_symbols_have_their_kind_path_and_visibility() -> None:
    assert symbols(read("haskell", SOURCE, "src/Store.hs")) == [
        "6 class Store public",
        "6 variable Store.Store public",
        "6 variable Store.Empty public",
        "9 class Id public",
        "9 variable Id.Id public",
        "11 class Name public",
        "14 interface Keeping public",
        "15 method Keeping.keep public",
        "19 method Id.keep public",
        "22 function load public",
        "30 function <+> public",
    ]


def test_each_definition_is_a_chunk_with_its_comment() -> None:
    assert chunks("src/Store.hs", SOURCE) == [
        "1-1 module",
        "3-3 module",
        "5-7 type Store",
        "9-9 type Id",
        "11-11 type Name",
        "13-16 interface Keeping",
        "18-19 impl Id",
        "21-28 function load",
        "30-30 function <+>",
    ]


def test_what_is_sound_of_a_broken_file_is_kept() -> None:
    broken = SOURCE + "\n)]} (( = class def fn { \x00 "
    names = {symbol.name for symbol in read("haskell", broken, "src/Store.hs").symbols}
    assert {symbol.name for symbol in read("haskell", SOURCE, "src/Store.hs").symbols} & names > {""}
