"""Scala: expected symbols and chunks, listed by hand."""

from codegraph.languages.listing import chunks, read, symbols

SOURCE = """
package shop.store

import scala.collection.mutable

/** Keeps what it is given. */
@tag
sealed abstract class Store[A](val path: String) extends Keeping {
  private val limit = 3

  def load(key: String): A = {
    def inner = 1
    inner
  }

  protected def close: Unit
}

object Store {
  def apply(path: String) = 1
  case class Entry(key: String)
}

trait Keeping { def keep(): Unit }

enum Side { case Left, Right }

type Handler = Int => Unit
"""


def test_symbols_have_their_kind_path_and_visibility() -> None:
    assert symbols(read("scala", SOURCE, "src/Store.scala")) == [
        "6 class Store public",
        "8 variable Store.limit private",
        "10 method Store.load public",
        "15 method Store.close protected",
        "18 class Store public",
        "19 method Store.apply public",
        "20 class Store.Entry public",
        "23 interface Keeping public",
        "23 method Keeping.keep public",
        "25 class Side public",
        "25 variable Side.Left public",
        "25 variable Side.Right public",
        "27 class Handler public",
    ]


def test_each_definition_is_a_chunk_with_its_comment() -> None:
    assert chunks("src/Store.scala", SOURCE) == [
        "1-1 module",
        "3-3 module",
        "5-16 class Store",
        "18-21 class Store",
        "23-23 trait Keeping",
        "25-25 enum Side",
        "27-27 type Handler",
    ]


def test_what_is_sound_of_a_broken_file_is_kept() -> None:
    broken = SOURCE + "\n)]} (( = class def fn { \x00 "
    names = {symbol.name for symbol in read("scala", broken, "src/Store.scala").symbols}
    assert {symbol.name for symbol in read("scala", SOURCE, "src/Store.scala").symbols} & names > {""}
