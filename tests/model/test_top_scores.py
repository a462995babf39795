"""The nth largest score, and a cheaper bound on it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quintet.model.vector import BLOCK, nth_largest, score_reached_by


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=40), st.data())
def test_the_nth_largest_is_that_of_the_sorted_scores(scores: list[int], data: st.DataObject) -> None:
    nth = data.draw(st.integers(1, len(scores)))
    assert nth_largest(np.array(scores), nth) == sorted(scores, reverse=True)[nth - 1]


@pytest.mark.parametrize("size", [3, BLOCK, 5 * BLOCK - 1, 5 * BLOCK, 40 * BLOCK + 7])
@pytest.mark.parametrize("many", [1, 3, 4, 5, 39, 40, 41])
def test_as_many_as_asked_reach_the_bound(size: int, many: int) -> None:
    scores = np.random.default_rng(size).standard_normal(size) + 10
    bound = score_reached_by(scores, many)
    if size < many:
        assert bound == 0.0
    else:
        assert np.count_nonzero(scores >= bound) >= many
