"""What an implementation of a port must pass, and fakes that pass it.

A suite is a class of tests. Subclass it in a test module, say how to build the thing, and run pytest:

    class TestMyVectors(VectorIndexSuite):
        def build(self, rows):
            return MyVectorIndex(rows)
"""

from quintet.testing.embedder import EmbedderSuite, FixedEmbedder
from quintet.testing.text import TextIndexSuite, TextRow
from quintet.testing.vectors import MemoryVectorIndex, VectorIndexSuite, VectorRow

__all__ = [
    "EmbedderSuite",
    "FixedEmbedder",
    "MemoryVectorIndex",
    "TextIndexSuite",
    "TextRow",
    "VectorIndexSuite",
    "VectorRow",
]
