"""Kotlin: expected symbols and chunks, listed by hand."""

from codegraph.languages.listing import chunks, read, symbols

SOURCE = """
package shop.store

import kotlin.math.max

/** Keeps what it is given. */
@Serializable
data class Store(val path: String) : Keeping {
    private val limit = 3

    override fun keep(item: Int): Boolean {
        fun inner() = 1
        return inner() > limit
    }

    companion object {
        fun empty() = Store("")
    }
}

interface Keeping {
    fun keep(item: Int): Boolean
}

object Registry {
    internal fun find(name: String) = null
}

enum class Side {
    LEFT,
    RIGHT;

    fun flip() = LEFT
}

typealias Handler = (Int) -> Unit

fun Store.size(): Int = 1
"""


def test_symbols_have_their_kind_path_and_visibility() -> None:
    assert symbols(read("kotlin", SOURCE, "src/Store.kt")) == [
        "6 class Store public",
        "8 variable Store.limit private",
        "10 method Store.keep public",
        "16 method Store.empty public",
        "20 interface Keeping public",
        "21 method Keeping.keep public",
        "24 class Registry public",
        "25 method Registry.find protected",
        "28 class Side public",
        "29 variable Side.LEFT public",
        "30 variable Side.RIGHT public",
        "32 method Side.flip public",
        "35 class Handler public",
        "37 function size public",
    ]


def test_each_definition_is_a_chunk_with_its_comment() -> None:
    assert chunks("src/Store.kt", SOURCE) == [
        "1-1 module",
        "3-3 module",
        "5-18 class Store",
        "20-22 interface Keeping",
        "24-26 class Registry",
        "28-33 enum Side",
        "35-35 type Handler",
        "37-37 function size",
    ]


def test_what_is_sound_of_a_broken_file_is_kept() -> None:
    broken = SOURCE + "\n)]} (( = class def fn { \x00 "
    names = {symbol.name for symbol in read("kotlin", broken, "src/Store.kt").symbols}
    assert {symbol.name for symbol in read("kotlin", SOURCE, "src/Store.kt").symbols} & names > {""}
