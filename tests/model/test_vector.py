"""Canonical vectors: one form for every length, which stays as it is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintet.model.vector import SCALE, dots, nearest, quantise

ELEMENTS = st.integers(-32768, 32767)


@given(st.lists(st.floats(-1e30, 1e30) | st.sampled_from((0.0, 0.5, -0.5, 1.0)), min_size=1, max_size=40))
def test_a_canonical_vector_stays_bit_for_bit_as_it_is(numbers: list[float]) -> None:
    made = quantise(numbers)
    assert quantise(made).tolist() == made.tolist()
    assert quantise(made).dtype == np.int16


@pytest.mark.requirement("004-S9-SCALE")
@given(st.lists(ELEMENTS, min_size=1, max_size=40))
def test_int16_of_any_length_becomes_canonical_once(numbers: list[int]) -> None:
    made = quantise(np.array(numbers, np.int16))
    assert quantise(made).tolist() == made.tolist()
    length = np.sqrt(sum(int(one) ** 2 for one in made))
    assert not any(numbers) or abs(length - SCALE) <= np.sqrt(len(numbers)) / 2 + 1e-6
    assert all(abs(int(one)) <= SCALE for one in made)


@pytest.mark.parametrize("dimensions", (1, 4, 5, 384, 768, 65_536))
def test_equal_elements_are_canonical_though_rounding_moves_them_all_the_same_way(dimensions: int) -> None:
    """In four dimensions each is 16383.5 and rounds up: no canonical vector is longer."""
    made = quantise(np.ones(dimensions))
    assert len(set(made.tolist())) == 1 and quantise(made).tolist() == made.tolist()


def test_rows_of_a_matrix_are_looked_at_one_by_one() -> None:
    rows = np.array([[19660, 26214], [3, 4], [0, 0], [300, 400], [-32768, 0]], np.int16)
    expected = [[19660, 26214], [19660, 26214], [0, 0], [19660, 26214], [-SCALE, 0]]
    assert quantise(rows).tolist() == expected
    assert [quantise(row).tolist() for row in rows] == expected
    assert quantise(np.empty((0, 3), np.int16)).shape == (0, 3)


@given(st.lists(st.lists(st.integers(-3, 3), min_size=2, max_size=2), min_size=2, max_size=12), st.data())
def test_the_nearest_rows_are_those_of_the_largest_products_and_earlier_ones_win_ties(
    numbers: list[list[int]], data: st.DataObject
) -> None:
    rows = np.array(numbers, np.int16) * 10_000
    count = data.draw(st.integers(1, len(rows) - 1))
    for at, found in enumerate(nearest(rows, count).tolist()):
        others = [other for other in range(len(rows)) if other != at]
        best = sorted(others, key=lambda other: (-int(dots(rows[[other]], rows[at])[0]), other))
        assert found == sorted(best[:count])
