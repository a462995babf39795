"""How far a walk of spec 002 may go."""

import pytest

from contracts.conftest import Library
from quintet.errors import UsageError


@pytest.mark.parametrize("strategy", ("callers", "dependencies"))
@pytest.mark.parametrize("depth", (0, 11, -1, 1.0, None))
def test_a_depth_below_one_or_above_ten_is_refused(library: Library, strategy: str, depth: object) -> None:
    index = library({"a.txt": "ttl"})
    for allowed in (1, 10):
        index.search("ttl", "mcb", graph_expansion={strategy: {"depth": allowed}})
    with pytest.raises(UsageError, match=r"graph_expansion is .*from 1 to 10") as error:
        index.search("ttl", "mcb", graph_expansion={strategy: {"depth": depth}})
    assert error.value.details == {"parameter": "graph_expansion"}
